"""The two IAMAT papers, run again."""
