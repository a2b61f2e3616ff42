"""The report of a run: what it shows of which systems, and the page itself."""

from pgode.runs.report.page import write_run_report

__all__ = ["write_run_report"]
