"""Data in and out."""
