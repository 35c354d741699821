"""What goes with what: one table of the choices that cannot be combined, which is asked before any work.

A part of a recipe asks for the rules among its own choices when it is made, under the name of its class (`OF_PARTS`).
All others are asked where the method, the engine or the file is known, under the name of that place.
"""

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from microagg.algorithms.blockings import BLOCKINGS
from microagg.algorithms.methods import BY_TREE, METHODS, groups_each_column
from microagg.base.frozen import frozen
from microagg.columns.roles import Role
from microagg.errors import setting
from microagg.recipe._choice import Part
from microagg.recipe._recipe import Recipe
from microagg.recipe._tables import OF_PROTECT, PARTS, choices
from microagg.recipe.refusals import OF_PARTS, Refusal, mark, refuse_by


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

    def made(self, choice: str) -> bool:
        """Return whether a choice is made; of what is no choice of a recipe, as an engine, `when` alone decides."""
        keyword, _, value = choice.partition("=")
        if keyword not in choices():
            return True
        part: Part = getattr(self.recipe, PARTS[choices()[keyword][0]][0])
        return part.says(keyword, value) if value else part.differs(keyword)

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


_ONCE = "{once} masked column(s) have one value for all rows of a unit and are masked once a unit"
_MASKED_ONCE = "columns that have one value for all rows of a unit and are masked once a unit"
_OR_ROW = f"Or choose {mark('unit_constant=row')}."
_PATTERN_OR_STATE = f"{mark('missing=pattern')} or {mark('missing=state')}"
_EACH_ALONE, _SINGLE = "a method that groups each column by itself", "a method that groups single columns"
_LARGER, _ALL_FORM = "files larger than memory", "all masked columns form the groups"

OBEYED = {
    *(role.value for role in Role),
    *("unit_share", "unit_constant", "rest", "kinds", "importance", "taxonomy", "missing", "missing_codes", "method"),
    *("aggregate", "rounding", "nominal", "nominal_seed", "spike", "spike_totals", "blocks", "max_block", "refine"),
    *("block_columns", "block_intervals", "block_fusion"),
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
    "moments": "strata are not brought together",
    "relations": "groups release their own values, whatever relations there are between columns",
    "excel_safe": "text is written as it was read",
    "file_kind": "the masked file is of the source's kind",
}


def _beyond(it: Combination) -> bool:
    return it.engine != "memory"


def _whole_units(it: Combination) -> bool:
    return it.recipe.units.release == "pseudonym"


REFUSED: dict[str, tuple[Refusal, ...]] = {
    **OF_PARTS,
    "key": (
        Refusal(
            "on",
            f"another column as the {mark('unit')}",
            "files are joined by {on!r} and the unit is {unit!r}, but whole households are masked, so that both must "
            "be the same column. Choose one for both: {same_unit}.",
            lambda it: it.recipe.roles.unit not in (None, it.recipe.join.on),
        ),
    ),
    "join": (
        Refusal(
            "households",
            "unit_release=drop",
            f"{{0}} works only with {mark('unit_release=pseudonym')}: without pseudonyms nothing shows which rows of "
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
                f"{mark('weight')}.",
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
            f"calibrate adjusts the weights of groups. Choose {mark('weight_release=group')}, or leave it out.",
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
            _SINGLE,
            "select cannot be combined with method {method!r}, which groups single columns. Leave it out.",
            lambda it: groups_each_column(it.method) or it.options.get("axis", "pca") not in ("pca", "zscores"),
        ),
        Refusal(
            "method",
            f"several columns, without {mark('per_column=True')}",
            "method {method!r} groups each of {columns} columns by itself, so that whole records may stay unique. "
            f"Choose another method, or accept k for each column only: {mark('per_column=True')}.",
            lambda it: it.each_alone and not it.recipe.masking.per_column,
            named=_EACH_ALONE,
        ),
        Refusal(
            "per_column=True",
            "a method that groups whole records, or a single column",
            "{0} works only with {alone} on several columns, not with {method!r} on {columns}. Leave it out: "
            f"{mark('per_column=False')}.",
            lambda it: not it.each_alone,
        ),
        Refusal(
            "refine",
            _EACH_ALONE,
            "refine works only with groups of whole records. Leave out refine or per_column.",
            lambda it: it.each_alone,
        ),
    ),
    "unit": (
        Refusal(
            "unit_release=pseudonym",
            "no unit",
            f"{{0}} works only with a unit. Name its column: {mark('unit')}.",
            lambda it: it.recipe.roles.unit is None,
            blamed="unit",
        ),
    ),
    "whole units": (
        Refusal(
            "moments=covariance",
            "unit_release=pseudonym",
            "{0} cannot be combined with {1}: values that all rows of a unit share would differ from row to row. "
            f"Choose {mark('moments=variance')}.",
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
                mark("unit_release=pseudonym"),
                "{0} cannot be combined with {1}, which groups whole units by all masked columns. Leave it out.",
                when,
                named=named,
            )
            for keyword, named, when in (
                ("select", "", _whole_units),
                ("method", _EACH_ALONE, lambda it: _whole_units(it) and groups_each_column(it.method)),
                ("block_columns", "", lambda it: _whole_units(it) and it.recipe.blocks.columns),
                ("unit_share", "", _whole_units),
            )
        ),
    ),
    "confidential": tuple(
        Refusal(
            keyword,
            "no confidential columns",
            f"{keyword} applies to confidential columns, and none is named. Name them: {mark('confidential')}.",
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
            f"moments_clip goes with {mark('moments=variance')} or {mark('moments=covariance')}. Choose one, or "
            "leave it out.",
        ),
        Refusal(
            "moments=covariance",
            "per_column=True",
            "{0} goes with groups of whole records, and with per_column a record has one group for each column. "
            f"Choose {mark('moments=variance')}.",
        ),
    ),
    "blocks of units": (
        Refusal(
            "block_fusion=limited",
            "unit",
            "{0} cannot be combined with a unit: blocks that hold fewer than k units are joined, whatever their size. "
            f"Choose {mark('block_fusion=nearest')}.",
        ),
    ),
    "blocks": (
        Refusal(
            "blocks",
            _EACH_ALONE,
            "blocks cannot be combined with {1}. Pass 'none'.",
            lambda it: it.recipe.blocks.by in tuple(BLOCKINGS) and groups_each_column(it.method),
            named="blocks that are cut",
        ),
    ),
    "once": (
        Refusal(
            "method",
            _MASKED_ONCE,
            f"{_ONCE}, but method {{method!r}} groups by single columns. Choose another method. {_OR_ROW}",
            lambda it: it.once and (groups_each_column(it.method) or it.options.get("axis") in it.masked),
            blamed="unit_constant",
            named=_SINGLE,
        ),
        Refusal(
            "block_columns",
            _MASKED_ONCE,
            f"{_ONCE}, so that blocks of units cannot be cut by single columns. Leave out {{0}}. {_OR_ROW}",
            lambda it: it.once and it.recipe.blocks.columns,
        ),
        Refusal(
            "moments",
            f"{_MASKED_ONCE}; but {mark('moments=variance')} can, if each unit has its rows in one stratum",
            f"{_ONCE}, but {{moments}} would give rows of one unit different values. Leave it out{{or_variance}}. "
            f"{_OR_ROW}",
            lambda it: it.once and (it.crossing or it.recipe.masking.moments == "covariance"),
            blamed="unit_constant",
        ),
    ),
    "engine": (
        Refusal(
            "scheduler",
            f"another engine than {mark('engine=dask')}",
            f"{{0}} works only with {mark('engine=dask')}. Leave it out, or add the engine.",
            lambda it: it.scheduler is not None and it.engine != "dask",
        ),
        Refusal(
            "scratch",
            mark("engine=memory"),
            f"{{0}} works only with {mark('engine=disk')} or {mark('engine=dask')}. Leave it out.",
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
            named=_LARGER,
            blamed="recipe",
        ),
        Refusal(
            "engine",
            "tables of databases",
            "{engine} works on files, not on tables of databases. Leave it out.",
            lambda it: _beyond(it) and it.database,
            named=_LARGER,
        ),
        Refusal(
            "same_order=False",
            _LARGER,
            "a file larger than memory is not sorted: its rows are written in the order of the source, which helps "
            "anybody who has a list in that order ({engine}). If nobody has one, accept that order: "
            f"{mark('same_order=True')}.",
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
            f"{mark('unit_constant=row')}, or mask in memory.",
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
            f"blocks={{blocks!r}} cannot be combined with {{1}}, which are cut into blocks in a way that has a name: "
            f"{', '.join(BLOCKINGS)}. Choose {mark('blocks=median')}, or leave it out.",
            lambda it: _beyond(it) and it.recipe.blocks.by not in tuple(BLOCKINGS),
            named=f"{mark('blocks=none')}, or blocks that are an object",
        ),
        Refusal(
            "method",
            _LARGER,
            "method {method!r} groups each column by itself. Mask in memory for that.",
            lambda it: _beyond(it) and groups_each_column(it.method),
            named=_EACH_ALONE,
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


def refuse(place: str, combined: Combination) -> None:
    """Raise the first refusal of a place that applies."""
    refuse_by(REFUSED[place], combined)
