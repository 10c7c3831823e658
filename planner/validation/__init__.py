"""Predictions against measurements: reads measured rows, maps each to a request, compares, and says how far off."""
