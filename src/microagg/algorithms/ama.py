"""AMA: approximate microaggregation. Groups are formed on the key attributes of a dependence tree.

X. Sun, H. Wang, J. Li, Y. Zhang: An approximate microaggregation approach for microdata protection. Expert Systems with
Applications 39(2), 2012. The tree joins the columns that depend on each other most, by the variation of information
(section 3); the key attributes are the fewest whose edges add up to the number of columns (theorem 2); MDAV's loop
forms two groups a turn while 2k records remain (section 4).
"""

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms import mdav
from microagg.algorithms.method import ByTree


def key_attributes(degrees: NDArray[np.int64], silent: NDArray[np.bool_]) -> int:
    """Count the columns of highest degree whose degrees add up to the number of columns that vary (theorem 2)."""
    spoken = int(np.count_nonzero(~silent))
    if spoken <= 2:
        return max(1, spoken)
    falling = np.sort(np.where(silent, 0, degrees))[::-1]
    return int(np.argmax(np.cumsum(falling) >= spoken)) + 1


METHOD = ByTree(
    "ama",
    mdav.METHOD,
    "approximate microaggregation: groups by mdav on the fewest columns whose edges in the dependence tree add up to "
    "the number of columns",
    settings={"tail": "2k"},
    measure="vi",
    rule="cover",
)
