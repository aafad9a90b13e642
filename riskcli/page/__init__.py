"""The page: a leaderboard in one HTML file that computes in the reader's browser, offline."""
