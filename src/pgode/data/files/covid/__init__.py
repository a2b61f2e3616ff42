"""COVID-19 in the 50 states of the US, from the daily reports of Johns Hopkins University."""

from pgode.data.files.covid.dataset import CovidSettings, Graph, build
from pgode.data.files.covid.days import FEATURES, Days
from pgode.data.files.covid.download import ADDRESS, download
from pgode.data.files.covid.reports import read_source

__all__ = [
    "ADDRESS",
    "FEATURES",
    "CovidSettings",
    "Days",
    "Graph",
    "build",
    "download",
    "read_source",
]
