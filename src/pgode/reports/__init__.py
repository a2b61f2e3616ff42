"""What a training run reached, as one HTML file and as a table in the terminal."""

from pgode.reports.data import Example, ReportData
from pgode.reports.html import render, write_report
from pgode.reports.tables import error_table

__all__ = ["Example", "ReportData", "error_table", "render", "write_report"]
