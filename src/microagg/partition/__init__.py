"""Partitioners: plain functions from a matrix to group labels, one file each."""

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from microagg.checks import check_option
from microagg.errors import InvalidParameter
from microagg.partition._run import choose_search as choose_search
from microagg.partition.cbfs import cbfs
from microagg.partition.iamat import iamat
from microagg.partition.maximum_distance import maximum_distance
from microagg.partition.mdav import mdav
from microagg.partition.univariate import projection, univariate
from microagg.partition.vmdav import vmdav

PARTITIONERS: dict[str, Callable[..., Any]] = {
    "mdav": mdav,
    "cbfs": cbfs,
    "vmdav": vmdav,
    "iamat": iamat,
    "maximum-distance": maximum_distance,
    "projection": projection,
    "univariate": partial(univariate, method="optimal"),
    "ranking": partial(univariate, method="ranking"),
}
"""Each partitioner by the name that `protect` and recipes use."""

PER_COLUMN = ("univariate", "ranking")
"""Those that group each column on its own, so that k holds for each column but not for whole records."""


def with_options(name: str, options: Mapping[str, Any]) -> tuple[dict[str, Any], Callable[..., Any]]:
    """Give a partitioner's options with every default, and the partitioner bound to them."""
    check_option("method", name, PARTITIONERS)
    function = PARTITIONERS[name]
    fixed = getattr(function, "keywords", {})
    chosen = {
        option: parameter.default
        for option, parameter in inspect.signature(function).parameters.items()
        if parameter.kind is parameter.KEYWORD_ONLY and option != "progress" and option not in fixed
    }
    for option in options:
        if option not in chosen:
            takes = f"It takes {', '.join(chosen)}." if chosen else "It takes none."
            raise InvalidParameter(f"{option!r} is not an option of method {name!r}. {takes}")
    chosen.update(options)
    return chosen, partial(function, **chosen)
