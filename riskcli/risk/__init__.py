"""The risk measures: pure functions on arrays, each formula in one place."""
