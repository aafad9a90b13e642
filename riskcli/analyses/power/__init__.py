"""What a test of so many topics can see, before the run: `riskeval power`."""
