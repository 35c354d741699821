"""Classes in place of values, before anything is grouped."""
