"""What tries to break microagg before somebody else does: `python -m adversary NAME`."""
