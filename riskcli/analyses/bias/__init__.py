"""The analysis `bias`."""
