"""The analysis `population`."""
