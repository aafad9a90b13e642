"""What a store of scores holds, whether it is whole, and what of it can go."""
