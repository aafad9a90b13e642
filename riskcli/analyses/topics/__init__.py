"""The analysis `topics`."""
