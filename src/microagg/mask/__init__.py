"""The stages from a table to what is released."""
