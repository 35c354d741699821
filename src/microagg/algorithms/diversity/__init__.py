"""Groups whose sensitive values are diverse, and close to those of all records."""
