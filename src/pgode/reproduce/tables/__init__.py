"""Which tables and figures there are, and the numbers that the paper prints in them."""
