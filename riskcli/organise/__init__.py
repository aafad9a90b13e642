"""What a track's organiser publishes and sends: all of it from one folder of submissions."""
