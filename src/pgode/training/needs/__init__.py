"""How much memory a training needs, known before it starts."""
