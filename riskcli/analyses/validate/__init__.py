"""The analysis `validate`."""
