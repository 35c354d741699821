"""One figure that judges a release, with what it takes to read it."""

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np


class ReadOnly:
    """What a frozen result inherits, so that its mappings and arrays cannot be changed either, stored ones included."""

    def __post_init__(self) -> None:
        self.__setstate__(dict(self.__dict__))

    def __getstate__(self) -> dict[str, Any]:  # a read-only mapping does not pickle by itself
        return {n: dict(value) if isinstance(value, MappingProxyType) else value for n, value in self.__dict__.items()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
            object.__setattr__(self, name, MappingProxyType(dict(value)) if isinstance(value, Mapping) else value)


@dataclass(frozen=True)
class Measure:
    """A figure with its name, its direction, its bounds and its meaning in a sentence.

    Attributes
    ----------
    name : str
    value : float
    better : str
        "lower" or "higher".
    bounds : tuple of two floats
        The least and the most it can be.
    meaning : str
    unit : str
        "%" or "".

    Examples
    --------
    >>> import microagg as ma
    >>> ma.Measure("G_DR", 12.5, "lower", (0.0, 100.0), "The mean of two risks.", "%")
    G_DR: 12.5 % (lower is better, 0 to 100). The mean of two risks.
    """

    name: str
    value: float
    better: str
    bounds: tuple[float, float]
    meaning: str
    unit: str = ""

    def __repr__(self) -> str:
        unit = f" {self.unit}" if self.unit else ""
        return (
            f"{self.name}: {self.value:.4g}{unit} ({self.better} is better, {self.bounds[0]:.4g} to "
            f"{self.bounds[1]:.4g}). {self.meaning}"
        )


def as_text(title: str, measures: Sequence[Measure]) -> str:
    """Lay measures out for a terminal."""
    widest = max(len(measure.name) for measure in measures)
    lines = [f"  {m.name:<{widest}}  {_shown(m):>10}  {m.meaning}" for m in measures]
    return "\n".join([title, *lines])


def as_html(title: str, measures: Sequence[Measure]) -> str:
    """Lay measures out for a notebook."""
    rows = "".join(
        f"<tr><th style='text-align:left'>{html.escape(m.name)}</th><td style='text-align:right'>"
        f"{html.escape(_shown(m))}</td><td style='text-align:left'>{html.escape(m.meaning)}</td></tr>"
        for m in measures
    )
    return f"<table><caption style='text-align:left'>{html.escape(title)}</caption><tbody>{rows}</tbody></table>"


def _shown(measure: Measure) -> str:
    return f"{measure.value:.4g}{' ' + measure.unit if measure.unit else ''}"
