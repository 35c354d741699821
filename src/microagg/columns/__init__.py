"""Columns: what kind each is, how its values are coded and placed, and what part it plays."""
