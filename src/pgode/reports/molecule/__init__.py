"""What a report shows of a molecule."""
