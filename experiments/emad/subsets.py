"""Tables 1 and 4 to 8 of the paper on dependence trees: files, all subsets of columns, and the choices of the trees."""

import itertools
import math
import re
from dataclasses import replace
from functools import cache

import numpy as np

import microagg as ma
from experiments._table import DIFFERS, NOT_HAD, SKIPPED, WITHIN, Expected, Row, of_made_data, read_expected
from experiments.emad.losses import (
    MADE,
    K,
    Subset,
    fit,
    loss_as_printed,
    named,
    printed_loss,
    printed_losses,
    scores,
    summarise,
    table,
    true_losses,
)

MEASURES = {"Table 5": "emim", "Table 6": "emim", "Table 7": "chi2", "Table 8": "normal"}
NAMES = {"EMIM": "emim", "chi-squared": "chi2", "normal": "normal"}
BESIDE = "Table 4 by CBFS on all columns named"
NOT_OURS = "the paper's file is not available, and its columns mean nothing in another"
QUICK = "skipped: left out of a quick run"


def needed(row: Row) -> Row:
    """Drop a reason where nothing differs."""
    return row if row.verdict in (DIFFERS, NOT_HAD, SKIPPED) else replace(row, reason="")


def as_width(text: str | None) -> int | None:
    """Read a width, as "50 000"."""
    return int(text.replace(" ", "")) if text else None


# --- table 1 ---------------------------------------------------------------------------------------------------------


def table_1(e: Expected, quick: bool) -> list[Row]:  # noqa: ARG001
    """Compare the size of a file."""
    file, what = e.what.split(": ")
    shape = dict(zip(("records", "columns"), scores(file).shape, strict=True))
    row = Row(e.where, e.page, e.what, e.expected, shape[what])
    return [of_made_data(replace(row, reason="made so")) if file in MADE else row]


# --- table 4 ---------------------------------------------------------------------------------------------------------


@cache
def other_readings(file: str, size: int) -> str:
    """Say what the mean loss over subsets of one or two columns is by every other reading tried."""
    Z = scores(file)
    means = {
        method: np.mean(list(ma.best_subset(table(file), size, K, method).losses.values()))
        for method in ("cbfs", "mdav", "iamat", "maximum-distance")
    }
    rng = np.random.default_rng(0)
    noisy = []
    for subset in itertools.combinations(range(Z.shape[1]), size):
        stray = rng.standard_normal((Z.shape[0], 3 - size))  # as if three columns were always read
        labels = ma.CBFS(K).fit_predict(np.column_stack([Z[:, list(subset)], stray]))
        noisy.append(ma.information_loss(Z, labels).percent)
    means[f"cbfs with {3 - size} more of noise"] = np.mean(noisy)
    return "; ".join(f"{name} {mean:.2f}" for name, mean in means.items())


def narrow_reason(file: str, size: int) -> str:
    """Say why figures on one or two columns differ, as far as computing can tell."""
    reason = f"no reading gives it; mean loss by others: {other_readings(file, size)}"
    if size == 1:
        bounds = [f"{100 * 2 / 3 * (d - 1) / d:.2f}" for d in (8, 16, 22)]
        reason += (
            "; the paper's own means on Sim_1 to Sim_3 (58.69, 62.73, 63.73) exceed what groups of three equal values "
            f"lose on average when all other columns are independent ({', '.join(bounds)}), so its one-column groups "
            "were not of nearest values"
        )
    return reason


@cache
def other_files(size: int) -> dict[str, list[float]]:
    """Return what table 4 would say of ten files made as Sim_1 is."""
    found: dict[str, list[float]] = {}
    for seed in range(10):
        data = ma.datasets.dependence_tree("eight", 5000, seed=seed)
        losses = dict(ma.best_subset(data, min(size, 3), K, "cbfs").losses)
        every = {s: losses[s[:3]] for s in itertools.combinations(data.column_names, size)}
        for what, value in summarise(every).items():
            if not isinstance(value, str):
                found.setdefault(what, []).append(value)
    return found


def among_made_files(file: str, size: int, what: str, quick: bool) -> str:
    """Say how far files made the same way differ from each other."""
    if quick or file != "Sim_1":
        return ""
    values = other_files(size)[what]
    return f"ten such files give {min(values):.2f} to {max(values):.2f}"


@cache
def in_other_orders(file: str, size: int) -> tuple[float, float]:
    """Return the lowest and highest mean loss of all subsets when the rows, and so the ties, come in other orders."""
    triples: list[dict[Subset, float]] = []
    for seed in range(5):
        Z = scores(file)[np.random.default_rng(seed).permutation(scores(file).shape[0])]
        triples.append({s: loss_as_printed(Z, s) for s in itertools.combinations(range(1, Z.shape[1] + 1), 3)})
    means = [np.mean([t[s[:3]] for s in itertools.combinations(range(1, Z.shape[1] + 1), size)]) for t in triples]
    return float(min(means)), float(max(means))


def table_4(e: Expected, quick: bool) -> list[Row]:
    """Compare one cell of table 4; of three and more columns on the real files, beside the true losses."""
    file, size_text, what = re.fullmatch(r"(\w+), (\d) columns?: (.+)", e.what).groups()
    size = int(size_text)
    if file in MADE:
        return table_4_made(e, file, size, what, quick)
    ours = summarise(printed_losses(file, size))[what]
    reason = narrow_reason(file, size) if size < 3 and what != "subsets" else ""
    tolerance = "2 %" if isinstance(ours, float) else ""
    row = needed(Row(e.where, e.page, e.what, e.expected, ours, tolerance, reason))
    if row.verdict == WITHIN and size >= 3 and not quick:
        low, high = in_other_orders(file, size)
        row = replace(row, reason=f"ties: five other orders of the rows give {low:.4f} to {high:.4f}")
    return [row, beside(e, file, size, what)] if size >= 3 and what != "subsets" else [row]


def table_4_made(e: Expected, file: str, size: int, what: str, quick: bool) -> list[Row]:
    """Answer a cell on a simulated file: the number of subsets is judged; a loss is told of a made file only."""
    if what == "subsets":
        d = scores(file).shape[1]
        return [Row(e.where, e.page, e.what, e.expected, f"{math.comb(d, size)} subsets")]
    if what.startswith("columns"):
        return [Row(e.where, e.page, e.what, e.expected, None, "", NOT_OURS)]
    if quick and (file != "Sim_1" or size > 3):
        return [Row(e.where, e.page, e.what, e.expected, None, "", QUICK)]
    d = scores(file).shape[1]
    base = {s: true_losses(file, min(size, 3))[s[:3]] for s in itertools.combinations(range(1, d + 1), size)}
    said = among_made_files(file, size, what, quick)
    row = of_made_data(Row(e.where, e.page, e.what, e.expected, summarise(base)[what], "", said))
    return [row, beside(e, file, size, what)] if size > 3 else [row]


def beside(e: Expected, file: str, size: int, what: str) -> Row:
    """Return what groups on all columns of each subset lose, all groups counted."""
    ours = summarise(true_losses(file, size))[what]
    row = Row(BESIDE, e.page, e.what, e.expected, ours)
    if file in MADE:
        return of_made_data(row)
    reason = "" if size == 3 else f"the paper's figure is that of the first three columns of each subset of {size}"
    return needed(replace(row, tolerance="2 %" if isinstance(ours, float) else "", reason=reason))


# --- tables 5 to 8 ---------------------------------------------------------------------------------------------------


def choices(file: str, measure: str, width: int | None, count: int) -> list[Subset]:
    """Return every choice of so many columns that the tree leaves open, each in file order."""
    found = ma.select_variables(fit(file, measure, width), count).alternatives
    return sorted(tuple(sorted(map(int, way))) for way in found)


def counted(n: int) -> str:
    """Write a number of choices, so that it is compared as text: a count is right or wrong."""
    return "1 choice" if n == 1 else f"{n} choices"


def table_5_to_8(e: Expected, quick: bool) -> list[Row]:  # noqa: ARG001
    """Compare one line of the tables of chosen columns."""
    file, width_text, what = re.fullmatch(r"(\w+)(?:, width ([\d ]+))?: (.+)", e.what).groups()
    width = as_width(width_text)
    count = 4 if e.where == "Table 6" else 3
    if file in MADE:
        return [Row(e.where, e.page, e.what, e.expected, None, "", NOT_OURS)]
    if what in ("possibilities", "choices"):
        found = choices(file, MEASURES[e.where], width, count)
        ours = counted(len(found)) if what == "possibilities" else "; ".join(map(named, found))
        return [Row(e.where, e.page, e.what, e.expected, ours)]
    subset = tuple(sorted(map(int, what.split("-"))))
    ours = printed_loss(file, subset[:3])
    reason = misprint(e, file, subset, ours)
    rows = [Row(e.where, e.page, e.what, e.expected, ours, "", reason)]
    whole = true_losses(file, count)[subset]
    why = f"the paper's figure is that of columns {named(subset[:3])} alone" if count == 4 else ""
    rows.append(needed(Row(f"{e.where} by CBFS on all columns named", e.page, e.what, e.expected, whole, "2 %", why)))
    return rows


def misprint(e: Expected, file: str, subset: Subset, ours: float) -> str:
    """Say, where a line differs, which columns do give its figure, if any."""
    if abs(ours - float(e.expected)) < 1.5e-4:
        return ""
    every = itertools.combinations(range(1, 14), 3)
    same = [named(other) for other in every if abs(printed_loss(file, other) - float(e.expected)) < 1.5e-4]
    if same:
        return f"the figure printed is that of columns {', '.join(same)}"
    twice = [
        x for x in read_expected("emad") if x.what.endswith(": " + "-".join(map(str, subset))) or _same(x, file, subset)
    ]
    others = sorted({f"{x.where} {x.expected}" for x in twice if x.expected != e.expected})
    said = f"; the paper prints these columns also as {', '.join(others)}" if others else ""
    return f"no three columns give the figure printed{said}"


def _same(other: Expected, file: str, subset: Subset) -> bool:
    """Return whether a line of tables 5 to 8 is about the same file and first three columns."""
    digits = other.what.rsplit(": ", 1)[-1]
    if not (other.where in MEASURES and other.what.startswith(file) and re.fullmatch(r"\d+(-\d+)+", digits)):
        return False
    return tuple(sorted(map(int, digits.split("-"))))[:3] == subset[:3]


# --- figures in the text ---------------------------------------------------------------------------------------------


def in_the_text(e: Expected, quick: bool) -> list[Row]:  # noqa: ARG001
    """Compare a loss that the text repeats: of all subsets of a size, or the lowest of a tree's choices."""
    file, rest = e.what.split(", ", 1)
    if file in MADE:
        said = "the paper's file is not available; of one made in its place table 4 and the claims tell"
        return [Row(e.where, e.page, e.what, e.expected, None, "", said)]
    whole = re.fullmatch(r"(\d) columns: (lowest IL|mean IL)", rest)
    if whole:
        ours = summarise(printed_losses(file, int(whole[1])))[whole[2]]
    else:
        measure, width, count = re.fullmatch(
            r"([\w-]+)(?:, width ([\d ]+))?, (\d) columns: lowest IL of the choices", rest
        ).groups()
        found = choices(file, NAMES[measure], as_width(width), int(count))
        ours = min(printed_loss(file, way[:3]) for way in found)
    return [Row(e.where, e.page, e.what, e.expected, ours, "", "the losses as printed, see the notes")]
