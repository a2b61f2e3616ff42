"""What observed frames say about objects, strengths and walls, given the laws."""
