"""Records that nobody can tell apart, counted one by one."""

import math
from collections import Counter


def plain(value):
    """Give one zero for both, and None for whatever is missing."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    return 0.0 if isinstance(value, float) and value == 0.0 else value


def fewest_alike(columns):
    """Give the fewest records that share one combination of values; `columns` are lists."""
    records = [tuple(map(plain, record)) for record in zip(*columns, strict=True)]
    return min(Counter(records).values(), default=0)
