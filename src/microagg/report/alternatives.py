"""Other releases of the file, by risk and loss: the map and the table of a comparison."""

from collections.abc import Mapping
from dataclasses import replace

from microagg.base.frozen import frozen
from microagg.judge.comparison import Candidate, Comparison
from microagg.judge.parts import finite
from microagg.judge.text import count, shown
from microagg.measures.criterion import Criterion


@frozen()
class MapRow:
    """One of the releases that were compared."""

    method: str
    k: int
    score: float | None
    best: bool
    mark: str
    figures: Mapping[str, float | None]  # every measure by its name
    l_reached: int | None = None  # of confidential columns; None where nothing is demanded of them
    t_reached: float | None = None
    way: str = ""


@frozen()
class MapSection:
    """The releases that were compared, by risk and loss."""

    candidates: tuple[MapRow, ...]
    frontier: tuple[tuple[float, float], ...]
    text: str
    compared: tuple[tuple[str, str], ...]  # the figures that the table has: name and unit
    axis: Criterion  # the figure of loss that is drawn
    head: str  # what is said before the best one is named
    least_k: int | None = None  # that the best and the efficient ones must reach


def section(found: Comparison) -> MapSection:
    """Return the releases that were compared, with the best one marked, and what the score is."""
    efficient = list(found.frontier)
    best = found.best if found.eligible else None  # while others are still to come
    rank = replace(found.ranking.rank, name=shown(found.ranking.rank.name))
    words = f"Score = {found.x:g} · {found.by} + {1 - found.x:g} · G_DR; lower is better."
    words += f" {shown(found.ranked)}" if found.ranked else ""
    if found.sampled is not None:
        words += (
            f" Linkage was estimated on {count(found.sampled)} records; standard error up to "
            f"{found.standard_error:.2f} percentage points."
        )

    def row(one: Candidate) -> MapRow:
        return MapRow(
            method=shown(one.line),
            k=int(one.k),
            score=finite(one.score),
            best=one is best,
            mark=", ".join([rank.mark] * (one is best) + ["efficient"] * (one in efficient)),
            figures={shown(name): finite(value) for name, value in one.figures.items()},
            l_reached=one.l_reached,
            t_reached=one.t_reached,
            way=one.way,
        )

    places = [(finite(found.across(one)), finite(one.g_dr)) for one in efficient]
    return MapSection(
        candidates=tuple(map(row, found.candidates)),
        frontier=tuple((loss, risk) for loss, risk in places if loss is not None and risk is not None),
        text=words,
        compared=tuple((shown(one.name), one.unit) for one in found.compared),
        axis=replace(found.axis, name=shown(found.axis.name)),
        head=rank.head,
        least_k=found.ranking.least_k,
    )
