"""The analysis `significance`."""
