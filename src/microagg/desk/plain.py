"""Values as JSON holds them."""

import math
from collections.abc import Mapping
from typing import Any


def plain(value: Any) -> Any:
    """Give what JSON can hold for what it cannot: it has no infinite numbers, so they become null."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    return [plain(one) for one in value] if isinstance(value, (list, tuple, set)) else str(value)
