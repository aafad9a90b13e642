"""Score matrices: from runs and judgements, from files of scores, from what is in memory."""
