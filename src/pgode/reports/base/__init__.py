"""What every page is made of: SVG, charts, numbers."""
