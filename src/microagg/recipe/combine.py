"""What goes with what: one table of the choices that cannot be combined, which is asked before any work.

A part of a recipe asks for the rules among its own choices when it is made, under the name of its class. All others are
asked where the method, the engine or the file is known, under the name of that place.
"""

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any

from microagg.algorithms.blockings import BLOCKINGS
from microagg.algorithms.methods import BY_TREE, METHODS, groups_each_column
from microagg.algorithms.selection import COUNTED
from microagg.base.frozen import frozen
from microagg.columns.roles import Role
from microagg.errors import InvalidParameter, setting
from microagg.recipe._choice import Part, choices_of
from microagg.recipe._recipe import Recipe
from microagg.recipe._tables import OF_PROTECT, PARTS, choices


@frozen(kw_only=True)
class Combination:
    """The choices of a run, and what is known of it where they are combined.

    `method` and `options` are settled, `masked` are names of columns. `database` says that a source or target is in
    one; `keyword` is a choice that is made beside several masked files. Known from the data alone: how many columns are
    masked `once` for each unit, and whether units have rows in several strata (`crossing`).
    """

    recipe: Recipe = field(default_factory=lambda: Recipe(2))
    method: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    masked: Any = ()
    engine: str = "memory"
    scheduler: str | None = None
    scratch: str | None = None
    database: bool = False
    keyword: str = ""
    once: int = 0
    crossing: bool = False

    @property
    def each_alone(self) -> bool:
        """Whether several columns are masked, and each is grouped by itself."""
        return groups_each_column(self.method) and len(self.masked) > 1

    @property
    def demand(self) -> str:
        """The keyword of the first demand on confidential columns; empty where there is none."""
        said = self.recipe.diversity
        known = {"l": said.l, "entropy_l": said.entropy, "recursive_l": said.recursive, "t": said.t}
        return next((name for name, value in known.items() if value is not None), "")

    @property
    def facts(self) -> dict[str, Any]:
        """What sentences of the table name."""
        recipe, by = self.recipe, self.recipe.blocks.by
        return {
            "method": self.method,
            "columns": len(self.masked),
            "alone": " or ".join(name for name in METHODS if groups_each_column(name)),
            "demand": self.demand,
            "once": self.once,
            "moments": setting("moments", recipe.masking.moments),
            "or_variance": "" if self.crossing else f", choose {setting('moments', 'variance')}",
            "blocks": by if isinstance(by, str) else type(by).__name__,
            "on": recipe.join.on,
            "unit": recipe.roles.unit,
            "same_unit": setting("unit", recipe.join.on),
            "engine": setting("engine", self.engine),
            "keyword": self.keyword,
            "choice": setting(self.keyword),
        }


@frozen()
class Refusal:
    """A choice, what it cannot be combined with, and what is then said.

    A choice is a keyword, as "moments", or one with a value: "moments=variance". The `other` is a choice too, or, where
    `when` says whether it is the case, some words for the documentation. `when` is asked of a `Combination`, or of the
    part of a recipe that has both choices. In the sentence (the value, the limit, the remedy) {0} is the choice, {1}
    the other, and names in braces are `facts`. `blamed` is the parameter of the error, if it is not the choice.
    """

    choice: str
    other: str
    sentence: str
    when: Callable[[Any], Any] | None = None
    blamed: str = ""

    @property
    def said(self) -> tuple[str, str]:
        """The choice and the other, with a mark for each choice."""
        return _mark(self.choice), _mark(self.other) if self.when is None else self.other

    def applies(self, to: "Combination | Part") -> bool:
        """Return whether both choices are made."""
        return _made(to, self.choice) and bool(_made(to, self.other) if self.when is None else self.when(to))

    def error(self, facts: Mapping[str, Any]) -> InvalidParameter:
        """Return what is raised."""
        blamed = (self.blamed or self.choice.partition("=")[0]).format_map(facts)
        return InvalidParameter(self.sentence.format(*self.said, **facts), parameter=blamed)


def refuse(place: str, combined: Combination | Part) -> None:
    """Raise the first refusal of a place that applies."""
    for one in REFUSED.get(place, ()):
        if one.applies(combined):
            raise one.error(combined.facts)


def _mark(choice: str) -> str:
    keyword, _, value = choice.partition("=")
    return setting(keyword, {"True": True, "False": False, "": None}.get(value, value))


def _made(combined: Combination | Part, choice: str) -> bool:
    """Return whether a choice is made; of what is no choice of a recipe, as an engine, `when` alone decides."""
    keyword, _, value = choice.partition("=")
    if isinstance(combined, Part):
        part: Any = combined
    elif keyword in choices():
        part = getattr(combined.recipe, PARTS[choices()[keyword][0]][0])
    else:
        return True
    known = [
        (getattr(part, name), one.default) for name, one in choices_of(type(part)).items() if one.keyword == keyword
    ]
    if value:
        return any(str(own) == value for own, _ in known)
    nothing = ("", ()) if isinstance(combined, Part) else ()
    return any(own != usual and own not in nothing for own, usual in known)


_ONCE = "{once} masked column(s) have one value for all rows of a unit and are masked once a unit"
_MASKED_ONCE = "columns that have one value for all rows of a unit and are masked once a unit"
_OR_ROW = f"Or choose {_mark('unit_constant=row')}."
_PATTERN_OR_STATE = f"{_mark('missing=pattern')} or {_mark('missing=state')}"
_LARGER, _ALL_FORM = "files larger than memory", "all masked columns form the groups"

OBEYED = {
    *(role.value for role in Role),
    *("unit_share", "unit_constant", "rest", "kinds", "importance", "taxonomy", "missing", "missing_codes", "method"),
    *("aggregate", "rounding", "nominal", "nominal_seed", "spike", "spike_totals", "blocks", "max_block", "refine"),
    *("seed", "weighted", "weight_release", "weight_cap", "calibrate", "same_order", "analyses", "public"),
}
"""The choices of masking and writing that files beyond memory have; whatever else is chosen is refused."""

_WHY = {
    "households": "one file is masked at a time",
    "unit_release": "whole units are not brought together",
    **dict.fromkeys(("l", "entropy_l", "recursive_l", "t"), "confidential columns are copied without being examined"),
    "recode": "columns are masked as they are stored",
    "scale": "columns are standardised",
    "per_column": "whole records are grouped",
    **dict.fromkeys(("select", "choose"), _ALL_FORM),
    "block_columns": "blocks are cut by all masked columns",
    **dict.fromkeys(("block_intervals", "block_fusion"), "blocks are cut by median"),
    "moments": "strata are not brought together",
    "relations": "groups release their own values, whatever relations there are between columns",
    "excel_safe": "text is written as it was read",
    "file_kind": "the masked file is of the source's kind",
}


def _counted(select: Any) -> bool:
    """Return whether the columns that form groups are chosen by their number."""
    return isinstance(select.by, str) and (select.rule or BY_TREE[select.by].rule) in COUNTED


def _beyond(it: Combination) -> bool:
    return it.engine != "memory"


def _whole_units(it: Combination) -> bool:
    return it.recipe.units.release == "pseudonym"


def _chosen(keyword: str, way: str, when: Callable[[Any], Any]) -> Refusal:
    """A choice that works only with columns that are chosen in a way."""
    sentence = f"{keyword} works only with columns chosen {way}. Leave it out, or choose columns in that way."
    return Refusal(keyword, f"columns that are not chosen {way}", sentence, when)


def _cut(keyword: str, needed: str, when: Callable[[Any], Any]) -> Refusal:
    """A choice that works only with some blocks."""
    sentence = f"{keyword} works only with {needed}. Leave it out, or choose how the file is cut."
    return Refusal(keyword, f"other than {needed}", sentence, when)


REFUSED: dict[str, tuple[Refusal, ...]] = {
    "Roles": (
        Refusal(
            "rest",
            "roles without quasi",
            "rest works only with quasi: without quasi every other column is masked. Name the columns to mask.",
            lambda it: it.quasi is None,
        ),
    ),
    "UnitChoices": (
        *(
            Refusal(
                keyword,
                "unit_release=drop",
                f"{keyword} works only with {_mark('unit_release=pseudonym')}. Leave it out, or choose that.",
            )
            for keyword in ("household", "wave", "unit_order")
        ),
        Refusal("unit_order", "wave", "the rows of a unit are sorted by its wave already. Leave one of the two out."),
    ),
    "DiversityChoices": (
        Refusal(
            "l_columns",
            "no l, entropy_l or recursive_l",
            f"{{0}} names columns, but {_mark('l')} is not set. Set l, or leave the names out.",
            lambda it: not it.limits.counts_values,
        ),
        Refusal(
            "t_columns",
            "no t",
            f"{{0}} names columns, but {_mark('t')} is not set. Set t, or leave the names out.",
            lambda it: not it.t,
        ),
        Refusal(
            "diversity",
            "neither l nor t",
            f"{{way}} works only with {_mark('l')} or {_mark('t')}. Set one of them, or leave it out.",
            lambda it: not it.demanded,
        ),
    ),
    "Select": (
        Refusal(
            "select",
            "columns that are named there too",
            "the columns are named, so that there is nothing to choose. Leave one of the two out.",
            lambda it: it.columns is not None and it.by is not None,
        ),
        _chosen("count", "by their number (emad, rule degree or every)", lambda it: not _counted(it)),
        *(
            _chosen(keyword, "by a dependence tree (emad or ama)", lambda it: not isinstance(it.by, str))
            for keyword in ("measure", "width", "bins", "rule", "choose")
        ),
        Refusal(
            "choose=first",
            "rule=every",
            f"{{1}} takes the set of columns that loses least. Leave out {_mark('choose')}.",
        ),
    ),
    "Blocks": (
        *(
            Refusal(
                keyword,
                "blocks that are an object",
                f"{keyword} works only with blocks that are chosen by name. Set it on the object.",
                lambda it: not isinstance(it.by, str),
            )
            for keyword in ("max_block", "block_columns", "block_intervals", "block_fusion")
        ),
        _cut("max_block", "blocks", lambda it: it.by == "none"),
        _cut("block_columns", "blocks that are cut", lambda it: it.by in ("auto", "none")),
        _cut("block_intervals", "univariate blocks", lambda it: it.by != "univariate"),
        _cut("block_fusion", "blocks of the 2^d-tree, orthants", lambda it: it.by != "orthants"),
        Refusal(
            "block_columns",
            f"{_mark('blocks=univariate')}, where it names several",
            "block_columns names {named} columns, and univariate blocks are cut by one. Name one, or choose "
            f"{_mark('blocks=orthants')}.",
            lambda it: it.by == "univariate" and len(it.columns) > 1,
        ),
    ),
    "Join": (
        Refusal(
            "on",
            "no file of households",
            f"on works only with a file of households. Leave it out, or name the file: {_mark('households')}.",
            lambda it: it.households is None,
        ),
    ),
    "key": (
        Refusal(
            "on",
            f"another column as the {_mark('unit')}",
            "files are joined by {on!r} and the unit is {unit!r}, but whole households are masked, so that both must "
            "be the same column. Choose one for both: {same_unit}.",
            lambda it: it.recipe.roles.unit not in (None, it.recipe.join.on),
        ),
    ),
    "join": (
        Refusal(
            "households",
            "unit_release=drop",
            f"{{0}} works only with {_mark('unit_release=pseudonym')}: without pseudonyms nothing shows which rows of "
            "the two files belong together. Choose it, so that k whole households are identical, or join the files "
            "yourself and mask one file.",
        ),
    ),
    "weights": (
        *(
            Refusal(
                choice,
                "no weight",
                f"{choice.partition('=')[0]} works only with a weight, and no column is named as the weight. Name it: "
                f"{_mark('weight')}.",
                lambda it: not it.recipe.roles.of(Role.WEIGHT.value),
            )
            for choice in ("weight_release", "weight_cap", "calibrate", "weighted=True")
        ),
        Refusal(
            "weight_cap=True",
            "weighted=False",
            "{0} works only with weighted means. Leave it out, or leave out {1}.",
        ),
        Refusal(
            "calibrate",
            "weight_release=as it is",
            f"calibrate adjusts the weights of groups. Choose {_mark('weight_release=group')}, or leave it out.",
        ),
        Refusal(
            "weight_release=group",
            "per_column=True",
            "{0} works only with groups of whole records, and with per_column a record has one group for each column. "
            "Leave one of the two out.",
        ),
    ),
    "method": (
        Refusal(
            "select",
            "a method that groups single columns",
            "select cannot be combined with method {method!r}, which groups single columns. Leave it out.",
            lambda it: groups_each_column(it.method) or it.options.get("axis", "pca") not in ("pca", "zscores"),
        ),
        Refusal(
            "method",
            f"several columns, without {_mark('per_column=True')}",
            "method {method!r} groups each of {columns} columns by itself, so that whole records may stay unique. "
            f"Choose another method, or accept k for each column only: {_mark('per_column=True')}.",
            lambda it: it.each_alone and not it.recipe.masking.per_column,
        ),
        Refusal(
            "per_column=True",
            "a method that groups whole records, or a single column",
            "{0} works only with {alone} on several columns, not with {method!r} on {columns}. Leave it out: "
            f"{_mark('per_column=False')}.",
            lambda it: not it.each_alone,
        ),
        Refusal(
            "refine",
            "a method that groups each column by itself",
            "refine works only with groups of whole records. Leave out refine or per_column.",
            lambda it: it.each_alone,
        ),
    ),
    "unit": (
        Refusal(
            "unit_release=pseudonym",
            "no unit",
            f"{{0}} works only with a unit. Name its column: {_mark('unit')}.",
            lambda it: it.recipe.roles.unit is None,
            blamed="unit",
        ),
    ),
    "whole units": (
        Refusal(
            "moments=covariance",
            "unit_release=pseudonym",
            "{0} cannot be combined with {1}: values that all rows of a unit share would differ from row to row. "
            f"Choose {_mark('moments=variance')}.",
        ),
        Refusal(
            "missing=drop",
            "unit_release=pseudonym",
            "{0} would leave out single rows of a unit, so that it cannot be combined with {1}. Choose "
            f"{_PATTERN_OR_STATE}.",
        ),
        *(
            Refusal(
                keyword,
                _mark("unit_release=pseudonym"),
                "{0} cannot be combined with {1}, which groups whole units by all masked columns. Leave it out.",
                when,
            )
            for keyword, when in (
                ("select", _whole_units),
                ("method", lambda it: _whole_units(it) and groups_each_column(it.method)),
                ("block_columns", lambda it: _whole_units(it) and it.recipe.blocks.columns),
                ("unit_share", _whole_units),
            )
        ),
    ),
    "confidential": tuple(
        Refusal(
            keyword,
            "no confidential columns",
            f"{keyword} applies to confidential columns, and none is named. Name them: {_mark('confidential')}.",
            lambda it: not it.recipe.roles.confidential,
        )
        for keyword in ("l", "entropy_l", "recursive_l", "t")
    ),
    "demand": tuple(
        Refusal(
            choice,
            "l or t",
            "{0} cannot be combined with {demand}, which needs groups of whole records. Leave one of the two out.",
            lambda it: it.demand,
        )
        for choice in ("per_column=True", "unit_release=pseudonym")
    ),
    "moments": (
        Refusal(
            "moments_clip",
            "moments=none",
            f"moments_clip goes with {_mark('moments=variance')} or {_mark('moments=covariance')}. Choose one, or "
            "leave it out.",
        ),
        Refusal(
            "moments=covariance",
            "per_column=True",
            "{0} goes with groups of whole records, and with per_column a record has one group for each column. "
            f"Choose {_mark('moments=variance')}.",
        ),
    ),
    "blocks of units": (
        Refusal(
            "block_fusion=limited",
            "unit",
            "{0} cannot be combined with a unit: blocks that hold fewer than k units are joined, whatever their size. "
            f"Choose {_mark('block_fusion=nearest')}.",
        ),
    ),
    "blocks": (
        Refusal(
            "blocks",
            "a method that groups each column by itself",
            "blocks cannot be combined with {1}. Pass 'none'.",
            lambda it: it.recipe.blocks.by in tuple(BLOCKINGS) and groups_each_column(it.method),
        ),
    ),
    "once": (
        Refusal(
            "method",
            _MASKED_ONCE,
            f"{_ONCE}, but method {{method!r}} groups by single columns. Choose another method. {_OR_ROW}",
            lambda it: it.once and (groups_each_column(it.method) or it.options.get("axis") in it.masked),
            blamed="unit_constant",
        ),
        Refusal(
            "block_columns",
            _MASKED_ONCE,
            f"{_ONCE}, so that blocks of units cannot be cut by single columns. Leave out {{0}}. {_OR_ROW}",
            lambda it: it.once and it.recipe.blocks.columns,
        ),
        Refusal(
            "moments",
            f"{_MASKED_ONCE}; but {_mark('moments=variance')} can, if each unit has its rows in one stratum",
            f"{_ONCE}, but {{moments}} would give rows of one unit different values. Leave it out{{or_variance}}. "
            f"{_OR_ROW}",
            lambda it: it.once and (it.crossing or it.recipe.masking.moments == "covariance"),
            blamed="unit_constant",
        ),
    ),
    "engine": (
        Refusal(
            "scheduler",
            f"another engine than {_mark('engine=dask')}",
            f"{{0}} works only with {_mark('engine=dask')}. Leave it out, or add the engine.",
            lambda it: it.scheduler is not None and it.engine != "dask",
        ),
        Refusal(
            "scratch",
            _mark("engine=memory"),
            f"{{0}} works only with {_mark('engine=disk')} or {_mark('engine=dask')}. Leave it out.",
            lambda it: it.scratch is not None and it.engine == "memory",
        ),
    ),
    "beyond memory": (
        Refusal(
            "households",
            _LARGER,
            "{0} joins two files in memory, and cannot be combined with {engine}. Leave one of the two out.",
            _beyond,
        ),
        Refusal(
            "engine",
            "a file without a recipe",
            "for a file larger than memory you need a recipe, since the file is not read to guess one ({engine}). "
            "Inspect a part of it first.",
            lambda it: _beyond(it) and it.recipe.roles.quasi is None and it.recipe.origin is None,
            blamed="recipe",
        ),
        Refusal(
            "engine",
            "tables of databases",
            "{engine} works on files, not on tables of databases. Leave it out.",
            lambda it: _beyond(it) and it.database,
        ),
        Refusal(
            "same_order=False",
            _LARGER,
            "a file larger than memory is not sorted: its rows are written in the order of the source, which helps "
            "anybody who has a list in that order ({engine}). If nobody has one, accept that order: "
            f"{_mark('same_order=True')}.",
            _beyond,
        ),
    ),
    "file": (
        *(
            Refusal(
                f"method={name}",
                _LARGER,
                f"method {name!r} cannot be combined with {{1}}, where {_ALL_FORM}. Choose another method, or mask in "
                "memory.",
                _beyond,
            )
            for name in BY_TREE
        ),
        *(
            Refusal(
                keyword,
                _LARGER,
                "{0} cannot be combined with {1}"
                + (f", where {_WHY[keyword]}" if keyword in _WHY else "")
                + ". Leave it out, or mask in memory.",
                _beyond,
            )
            for keyword in choices("join", *OF_PROTECT, "output")
            if keyword not in OBEYED
        ),
        Refusal(
            "unit_constant=once",
            _LARGER,
            "{0} cannot be combined with {1}, where rows of a unit are not brought together. Choose "
            f"{_mark('unit_constant=row')}, or mask in memory.",
            _beyond,
        ),
        Refusal(
            "missing=drop",
            _LARGER,
            f"{{0}} cannot be combined with {{1}}, of which all records are released. Choose {_PATTERN_OR_STATE}, or "
            "mask in memory.",
            _beyond,
        ),
        Refusal(
            "blocks",
            _LARGER,
            f"blocks={{blocks!r}} cannot be combined with {{1}}, which are cut by median. Choose "
            f"{_mark('blocks=median')}, or leave it out.",
            lambda it: _beyond(it) and it.recipe.blocks.by != "median",
        ),
        Refusal(
            "method",
            _LARGER,
            "method {method!r} groups each column by itself. Mask in memory for that.",
            lambda it: _beyond(it) and groups_each_column(it.method),
        ),
    ),
    "several files": (
        Refusal(
            "{keyword}",
            "several masked files, which are judged together: nor can any choice but how a text file is read",
            "{choice} cannot be combined with several masked files, which are judged together by their groups. Leave "
            "it out, or judge each file by itself.",
            lambda it: it.keyword not in choices("read"),
        ),
    ),
}
"""By place, in the order in which they are asked: the first that applies is raised."""
