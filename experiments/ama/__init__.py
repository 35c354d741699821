"""Approximate microaggregation (AMA)."""
