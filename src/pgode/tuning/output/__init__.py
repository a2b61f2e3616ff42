"""What a search leaves behind: the best run, tables, a picture and a page."""
