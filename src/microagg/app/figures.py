"""Figures that are kept, and how long it takes to get them."""

from collections import OrderedDict
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from microagg.recipe import Recipe

MOST = 200
_USUAL = {"mdav": 1e-6}  # seconds for each masked cell, until this file has been masked by the method once
_SLOW = 1e-5
Value = TypeVar("Value")


class Cache(OrderedDict[str, Value]):
    """The last things, at most so many, by what they are of."""

    def __init__(self, most: int = MOST) -> None:
        super().__init__()
        self._most = most

    def store(self, key: str, value: Value) -> None:
        """Keep something, and forget what was stored longest ago."""
        self[key] = value
        self.move_to_end(key)
        while len(self) > self._most:
            self.popitem(last=False)


class Times:
    """How long masking took, by what decides that."""

    def __init__(self) -> None:
        self._rates: dict[str, float] = {}

    def store(self, recipe: "Recipe", cells: int, seconds: float) -> None:
        """Remember how long so many cells took; no more than usual the first time, when kernels are loaded as well."""
        way, rate = _way(recipe), seconds / max(1, cells)
        self._rates[way] = rate if way in self._rates else min(rate, _guess(recipe))

    def estimate(self, recipe: "Recipe", cells: int) -> float:
        """Say how many seconds so many cells would take: as the last time, or a guess."""
        return cells * self._rates.get(_way(recipe), _guess(recipe))

    def knows(self, recipe: "Recipe") -> bool:
        """Return whether the estimate is no guess."""
        return _way(recipe) in self._rates


def _way(recipe: "Recipe") -> str:
    return repr((recipe.method.name, recipe.refine.effort, recipe.blocks.by, recipe.blocks.max_block))


def _guess(recipe: "Recipe") -> float:
    return _USUAL.get(str(recipe.method.name), _SLOW) * (1 if recipe.refine.effort is None else 10)
