"""What TREC tools write: runs, qrels and score files, and where to find them."""
