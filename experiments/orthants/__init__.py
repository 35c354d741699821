"""The 2^d-tree paper, run again."""
