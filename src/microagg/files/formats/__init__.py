"""File formats and databases, one file each."""
