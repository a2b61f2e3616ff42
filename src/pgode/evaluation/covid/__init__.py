"""The protocol of the COVID-19 table: windows, totals of deaths, scores, and baselines."""
