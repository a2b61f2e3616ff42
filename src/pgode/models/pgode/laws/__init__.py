"""Prototypes that are force laws: radial laws between kinds of objects, integrated in fine steps."""
