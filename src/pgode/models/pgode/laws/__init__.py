"""Prototypes that are force laws: radial, between kinds of objects, integrated in fine steps."""
