"""COVID-19 in the 50 states of the US, from the daily reports of Johns Hopkins University."""

from pgode.data.files.covid.dataset import FEATURES, CovidSettings, Graph, build
from pgode.data.files.covid.download import ADDRESS, download
from pgode.data.files.covid.reports import read_source

__all__ = ["ADDRESS", "FEATURES", "CovidSettings", "Graph", "build", "download", "read_source"]
