"""Naive oracles in plain Python: slow, to be read against the papers, importing nothing of microagg.

Records are lists of floats, groups are lists of row numbers, and every search walks the rows in
ascending order with a strict comparison, so that the lowest row wins a tie.
"""
