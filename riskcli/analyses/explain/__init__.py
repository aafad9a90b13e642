"""The analysis `explain`."""
