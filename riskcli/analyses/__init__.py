"""A room an analysis: its computation, its table for people and its command in one folder."""
