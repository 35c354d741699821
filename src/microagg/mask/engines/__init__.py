"""The stages on files that need not fit into memory, by one process or by many."""
