"""Demands on confidential columns through `protect`: what is released keeps them, or they are refused beforehand."""

import numpy as np
import pandas as pd
from hypothesis import strategies as st

import microagg as ma
from microagg.errors import InputError, InvalidParameter
from tests.lengths import given_few
from tests.reference import counted_units
from tests.reference import diversity as oracle

MASKED = ["a", "b", "c"]
WAYS = ["merge", "candidates", "swap", "closeness"]
TREE = {"p": "u", "q": "u", "r": "v", "s": "v"}  # of column d
KEYWORDS = {"l": "l", "entropy": "entropy_l", "recursive": "recursive_l", "t": "t"}


@st.composite
def files(draw):
    """Columns to mask with ties, categories and missing values, and confidential ones with or without an order."""
    n = draw(st.integers(16, 48))

    def column(values):
        return draw(st.lists(values, min_size=n, max_size=n))

    few = st.sampled_from(["p", "p", "q", "r", "s"])
    frame = pd.DataFrame(
        {
            "a": column(st.integers(0, 4)),
            "b": pd.Series(column(st.one_of(st.none(), st.floats(0, 3).map(lambda x: round(x, 1)))), dtype=float),
            "c": column(st.sampled_from(["x", "y", None])),
            "part": column(st.sampled_from(["N", "S"])),
            "unit": column(st.integers(0, 30)),
            "w": column(st.sampled_from([1.0, 1.5, 2.0])),
            "d": column(st.one_of(few, few, st.none()) if draw(st.booleans()) else few),
            "e": pd.Series(
                column(st.one_of(st.integers(0, 5), st.none()) if draw(st.booleans()) else st.integers(0, 5)),
                dtype=float,
            ),
        }
    )
    return frame.astype({"c": object, "d": object})


@st.composite
def demands(draw):
    """What is demanded, alone or together, and of which columns."""
    each = {
        "l": st.integers(2, 4),
        "entropy": st.sampled_from([1.2, 1.5, 2.0, 2.5]),
        "recursive": st.tuples(st.sampled_from([1.0, 2.0, 4.0, 9.0]), st.integers(2, 3)),
        "t": st.sampled_from([0.1, 0.2, 0.3, 0.5]),
    }
    limits = {name: draw(each[name]) for name in draw(st.lists(st.sampled_from(sorted(each)), min_size=1, max_size=2))}
    columns = draw(st.sampled_from([["d"], ["e"], ["d", "e"], ["e", "d"]]))
    of = {"l_columns": (), "t_columns": ()}
    if len(columns) == 2:
        if limits.keys() - {"t"}:
            of["l_columns"] = draw(st.sampled_from([(), ("d",), ("e",)]))
        if "t" in limits:
            of["t_columns"] = draw(st.sampled_from([(), ("d",), ("e",)]))
    return limits, columns, of


@st.composite
def settings_of(draw):
    """Whatever else may be chosen beside a demand."""
    k = draw(st.integers(2, 4))
    chosen = {
        "k": k,
        "method": draw(st.sampled_from(["mdav", "vmdav", "cbfs", "iamat"])),
        "missing": draw(st.sampled_from(["pattern", "pattern", "state", "drop"])),
        "diversity": draw(st.sampled_from([*["auto"] * 6, *WAYS])),
        "strata": draw(st.sampled_from([[], [], ["part"]])),
        "refine": draw(st.sampled_from([None, None, "fast"])),
        "weight_release": draw(st.sampled_from([None, "as it is", "group"])),
        "unit": draw(st.sampled_from([None, None, "unit"])),
        "taxonomy": draw(st.sampled_from([None, {"d": {one: (TREE[one], "all") for one in TREE}}])),
    }
    if draw(st.booleans()):
        chosen |= {"blocks": draw(st.sampled_from(["median", "orthants"])), "max_block": 4 * k}
    if chosen["weight_release"]:
        chosen["weight"] = "w"
    if chosen["unit"]:
        chosen["unit_share"] = draw(st.sampled_from(["limited", "any"]))
    return {name: value for name, value in chosen.items() if value}


def numbered(cells):
    """Number values by their order; None where one is missing."""
    values = sorted({cell for cell in cells if not pd.isna(cell)})
    return [None if pd.isna(cell) else values.index(cell) for cell in cells]


class Judge:
    """What the demand is, column by column, and how badly some records break it."""

    def __init__(self, frame, demanded, taxonomy):
        limits, columns, of = demanded
        self.files = {name: numbered(frame[name]) for name in columns}
        self.limits = {}
        for name in columns:
            counts = not of["l_columns"] or name in of["l_columns"]
            close = not of["t_columns"] or name in of["t_columns"]
            own = {key: value for key, value in limits.items() if (close if key == "t" else counts)}
            if own:
                self.limits[name] = own
        if taxonomy and "d" in columns:
            known = sorted({cell for cell in frame["d"] if not pd.isna(cell)})
            up = {own: TREE[value] for own, value in enumerate(known)}
            self.levels = {"d": [{own: own for own in up}, up]}
        else:
            self.levels = {}

    def breach(self, rows, name, limits=None):
        file = self.files[name]
        own = [file[row] for row in rows]
        wanted = self.limits[name] if limits is None else limits
        return oracle.breach(own, file, name == "e", wanted, self.levels.get(name))

    def broken(self, classes):
        return any(self.breach(rows, name) > 0 for name in self.limits for rows in classes)

    def impossible(self, strata, keyword):
        """Whether a stratum as a whole breaks what a keyword asks, or a column's values nearly all differ."""
        inner = next(key for key, own in KEYWORDS.items() if own == keyword)
        for name, limits in self.limits.items():
            if inner not in limits:
                continue
            present = [value for value in self.files[name] if value is not None]
            alone = sum(present.count(value) == 1 for value in set(present))
            if name == "e" and inner != "t" and 2 * alone > len(present):
                return True
            if any(self.breach(rows, name, {inner: limits[inner]}) > 0 for rows in strata):
                return True
        return False

    def fits(self, way, units):
        if way == "merge" or units:
            return way == "merge"
        asked = {(name, "t" if key == "t" else "l") for name, limits in self.limits.items() for key in limits}
        wanted = {"candidates": {("d", "l"), ("e", "l")}, "swap": {("d", "t"), ("e", "t")}, "closeness": {("e", "t")}}
        return bool(asked & wanted[way])


def classes_of(frame, names):
    """List the rows of each combination of values, a missing one being equal to a missing one."""
    found = {}
    for row, cells in enumerate(frame[names].itertuples(index=False)):
        found.setdefault(tuple(None if pd.isna(cell) else cell for cell in cells), []).append(row)
    return list(found.values())


def keywords_of(demanded, chosen):
    limits, columns, of = demanded
    said = {KEYWORDS[name]: list(value) if name == "recursive" else value for name, value in limits.items()}
    said |= {name: list(value) for name, value in of.items() if value}
    return {**chosen, **said, "quasi": MASKED, "confidential": columns, "rest": "drop"}


def released_or_refused(frame, said):
    """Give a release, or the error by which it was refused."""
    try:
        return ma.protect(frame, n_jobs=1, **said), None
    except InputError as error:
        return None, error


@given_few(10, 1000, files(), demands(), settings_of())
def test_what_is_demanded_holds_on_what_is_released_or_is_refused_beforehand(frame, demanded, chosen):
    kept = frame.dropna(subset=MASKED, ignore_index=True) if chosen["missing"] == "drop" else frame
    judge = Judge(kept, demanded, chosen.get("taxonomy"))
    strata = classes_of(kept, chosen["strata"]) if "strata" in chosen else [list(range(len(kept)))]
    said = keywords_of(demanded, chosen)
    release, error = released_or_refused(frame, said)
    if isinstance(error, InvalidParameter):
        if error.parameter == "diversity":
            assert not judge.fits(chosen["diversity"], "unit" in chosen)
        else:
            assert judge.impossible(strata, error.parameter)
        return
    if error is not None:  # what is refused without a demand too
        plain = {name: value for name, value in chosen.items() if name not in ("diversity", "taxonomy")}
        assert type(released_or_refused(frame, {**plain, "quasi": MASKED, "rest": "drop"})[1]) is type(error)
        return
    names = [*MASKED, *chosen.get("strata", []), *(["w"] if chosen.get("weight_release") == "group" else [])]
    classes = classes_of(release.data, names)
    if "unit" in chosen:
        rows = np.empty(len(kept), dtype=int)
        for number, own in enumerate(classes):
            rows[own] = number
        fewest = counted_units.fewest_units(rows, kept["unit"], chosen["unit_share"] == "limited")
    else:
        fewest = min(map(len, classes))
    assert fewest >= chosen["k"]
    assert not judge.broken(classes)
    assert release.diversity.way == release.recipe.diversity.way != "auto"
    assert chosen["diversity"] in ("auto", release.diversity.way)

    also = ma.protect(frame, n_jobs=2, **said)
    again = ma.protect(frame, recipe=release.recipe)
    for other in (also, again):
        assert other.data.equals(release.data)
        assert np.array_equal(other.groups, release.groups)
        assert other.recipe == release.recipe
