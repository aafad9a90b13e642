"""The analysis `agree`."""
