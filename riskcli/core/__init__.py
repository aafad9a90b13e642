"""What everything else speaks of: errors, notes, the order of names, threads."""
