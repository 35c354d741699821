"""Compiled kernels on plain arrays: private, and knowing nothing of dataframes or classes."""
