"""How far the rankings themselves moved from the baseline's."""
