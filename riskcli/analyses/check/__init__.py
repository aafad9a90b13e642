"""The gate: rules that a candidate must keep against a baseline, and the verdict."""
