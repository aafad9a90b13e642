"""The analysis `matrix`."""
