"""Variable selection by dependence trees (EMAD)."""
