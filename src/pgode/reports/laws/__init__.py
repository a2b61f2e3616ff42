"""Force laws: pictures, a section of the report, a table in the terminal, a CSV file."""
