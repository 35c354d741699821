"""Figures that judge a release: what a measure is, and its value with what it takes to read it."""

import html
import math
from collections.abc import Callable, Sequence
from typing import Any, Literal

from microagg.base.frozen import frozen
from microagg.checks import Columns
from microagg.errors import InvalidParameter

Words = str | Callable[..., str]
"""A text, or what makes one of the results that a measure is of."""


HIGHER = "Higher is better."
"""What is said of a measure of loss or risk that goes the other way than its neighbours."""


@frozen()
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
    title : str
        What it is in a few words, for the report; the name, where it has none.
    explained : str
        What the report says of it; mostly the meaning.
    of : str
        What it judges: "loss", "risk", or "both" together.

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
    title: str = ""
    explained: str = ""
    of: str = ""

    def __repr__(self) -> str:
        unit = f" {self.unit}" if self.unit else ""
        return (
            f"{self.name}: {self.value:.4g}{unit} ({self.better} is better, {self.bounds[0]:.4g} to "
            f"{self.bounds[1]:.4g}). {self.meaning}"
        )


@frozen()
class Definition:
    """A measure of loss or risk: one definition, by which it is computed and shown wherever figures are.

    Enter it in `microagg.measures.definitions.DEFINITIONS` under its name, and it is among the `measures` of every
    `LossMeasures` or `DisclosureRisk` that is computed from then on, in the report, in `compare` and in `assess`.

    Attributes
    ----------
    name : str
        Its symbol, by which it is found.
    of : {"loss", "risk", "both"}
        What it judges, and so which table lists it.
    title, meaning : str or callable
        What it is in a few words, and what it says in a sentence. A callable gets the results that `value` gets.
    value : callable, optional
        Returns the figure from the `LossMeasures`, from the `DisclosureRisk`, or from both in that order.
    from_columns : callable, optional
        In place of `value`, where the results do not hold it: called as from_columns(original, masked, names) with the
        masked columns of both files, arrays of shape (d, n), and their names.
    better : {"lower", "higher"}
    bounds : tuple of two floats
        The least and the most it can be.
    unit : str
        "%" or "".
    explained : str or callable, optional
        What the report says of it, where that is not the meaning.
    compared : bool
        Whether it has a column in the table of `compare`. A candidate has its figure either way.

    Examples
    --------
    >>> import numpy as np, microagg as ma
    >>> from microagg.measures.definitions import DEFINITIONS
    >>> from microagg.measures.measure import Definition
    >>> DEFINITIONS["largest"] = Definition(
    ...     "largest", "loss", "largest change", "The largest change of a cell.",
    ...     from_columns=lambda original, masked, names: float(np.abs(original - masked).max()),
    ... )
    >>> found = ma.loss_measures(np.array([[1.0], [2.0]]), np.array([[1.5], [1.5]]))
    >>> found.measures[-1]
    largest: 0.5 (lower is better, 0 to inf). The largest change of a cell.
    >>> del DEFINITIONS["largest"]
    """

    name: str
    of: Literal["loss", "risk", "both"]
    title: Words
    meaning: Words
    value: Callable[..., float | None] | None = None
    from_columns: Callable[[Columns, Columns, Sequence[Any]], float] | None = None
    better: Literal["lower", "higher"] = "lower"
    bounds: tuple[float, float] = (0.0, math.inf)
    unit: str = ""
    explained: Words | None = None
    compared: bool = True

    def __post_init__(self) -> None:
        if (self.value is None) == (self.from_columns is None) or (self.of == "both" and self.value is None):
            raise InvalidParameter(
                f"the measure {self.name!r} must be computed in one way. Pass value, or from_columns for loss or risk."
            )

    def measured(self, *results: Any) -> Measure | None:
        """Return the figure of these results, with its words; None where it was defined after they were computed."""
        value = results[0].others.get(self.name) if self.value is None else self.value(*results)
        if value is None:
            return None
        meaning = _said(self.meaning, results)
        return Measure(
            name=self.name,
            value=float(value),
            better=self.better,
            bounds=self.bounds,
            meaning=meaning,
            unit=self.unit,
            title=_said(self.title, results),
            explained=meaning if self.explained is None else _said(self.explained, results),
            of=self.of,
        )


def _said(words: Words, results: tuple[Any, ...]) -> str:
    return words if isinstance(words, str) else words(*results)


def as_text(title: str, measures: Sequence[Measure]) -> str:
    """Return measures as text for a terminal."""
    widest = max(len(measure.name) for measure in measures)
    lines = [f"  {m.name:<{widest}}  {_shown(m):>10}  {_meaning(m)}" for m in measures]
    return "\n".join([title, *lines])


def as_html(title: str, measures: Sequence[Measure]) -> str:
    """Return measures as HTML for a notebook."""
    rows = "".join(
        f"<tr><th style='text-align:left'>{html.escape(m.name)}</th><td style='text-align:right'>"
        f"{html.escape(_shown(m))}</td><td style='text-align:left'>{html.escape(_meaning(m))}</td></tr>"
        for m in measures
    )
    return f"<table><caption style='text-align:left'>{html.escape(title)}</caption><tbody>{rows}</tbody></table>"


def _meaning(measure: Measure) -> str:
    """Return the meaning of a measure, and that higher is better where its neighbours go the other way."""
    return f"{measure.meaning} {HIGHER}" if measure.of and measure.better == "higher" else measure.meaning


def _shown(measure: Measure) -> str:
    return f"{measure.value:.4g}{' ' + measure.unit if measure.unit else ''}"
