"""What commands share: groups of options, settings files, notes and progress."""
