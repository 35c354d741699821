"""What is done to columns before groups are formed."""
