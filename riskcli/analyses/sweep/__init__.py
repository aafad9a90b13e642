"""The analysis `sweep`."""
