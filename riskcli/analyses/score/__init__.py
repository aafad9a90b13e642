"""The analysis `score`."""
