"""The papers' tables and figures, run again: `python -m experiments [--quick] [names...]`."""
