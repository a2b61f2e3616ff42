"""The systems of a report: pictures, panels of their objects, and the player."""
