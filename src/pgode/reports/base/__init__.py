"""Parts of every page: the shell, tables, charts, SVG, numbers, comparisons of errors."""
