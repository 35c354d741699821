"""The papers' algorithms and what goes beyond them, one file each: plain functions of arrays."""
