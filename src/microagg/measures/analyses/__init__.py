"""Analyses that users of a file would do, and whether their results survive masking. One file a kind."""
