"""The report of one run: a file for each section, and the page that lists them."""
