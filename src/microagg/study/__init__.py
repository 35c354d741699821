"""Many runs on one file: which columns form the best groups, and which release is better.

Everything is imported when it is first used.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from microagg.study.comparison import compare as compare
    from microagg.study.subsets import SubsetLosses as SubsetLosses
    from microagg.study.subsets import best_subset as best_subset
    from microagg.study.subsets import select_variables as select_variables

_HOME = {
    "SubsetLosses": "subsets",
    "best_subset": "subsets",
    "compare": "comparison",
    "select_variables": "subsets",
}

__all__ = [*_HOME]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'microagg.study' has no attribute {name!r}")
    return getattr(importlib.import_module(f"microagg.study.{_HOME[name]}"), name)
