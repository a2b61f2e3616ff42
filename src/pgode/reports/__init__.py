"""The results of a training run as one HTML file and as a table in the terminal."""

from pgode.reports.base.example import Example
from pgode.reports.run.data import ReportData
from pgode.reports.run.page import render, write_report
from pgode.reports.terminal import error_table

__all__ = ["Example", "ReportData", "error_table", "render", "write_report"]
