"""Forecasts and data in the forms that other tools use: tables, plain arrays, graphs of PyG."""
