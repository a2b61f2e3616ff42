"""Text for people: consoles that show any name as text, whatever is in it."""
