"""The parts of a recipe: every choice of a run, declared once."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from microagg.aggregate import AGGREGATES
from microagg.blocking import BLOCKINGS
from microagg.errors import InvalidParameter, setting
from microagg.io._kinds import SUFFIXES
from microagg.kinds import NOMINAL_RULES, SPIKE_TOTALS
from microagg.moment_matching import MOMENTS
from microagg.partition import METHODS
from microagg.partition.refine import EFFORTS, MOST_MOVES
from microagg.prepare.dependence import MEASURES
from microagg.prepare.embedding import SCALES
from microagg.prepare.selection import Selection
from microagg.recipe._by_column import MOST_WEIGHT, as_power_of_ten
from microagg.recipe._choice import (
    FLAG,
    NAME,
    NAME_OR_NAMES,
    NAMES,
    NUMBER,
    NUMBERS,
    TEXT,
    WHOLE,
    WHOLES,
    WORD,
    WORD_OR_BY_COLUMN,
    WORD_OR_WHOLE,
    WORDS,
    Part,
    choices_of,
    choose,
)
from microagg.schema import Role, Schema

SPIKE = 4.0
"""How much being the spike weighs unless something else is said: 1.0 in the definition of the embedding."""


def full_name(thing: Any) -> str:
    """Name the class of somebody's own object."""
    return f"{type(thing).__module__}.{type(thing).__qualname__}"


def plain_settings(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Keep plain settings alone: a parameter may hold data of the file (initial centres, say)."""
    plain = (str, int, float, bool, type(None))
    return {name: value if isinstance(value, plain) else type(value).__name__ for name, value in parameters.items()}


def method_names() -> tuple[str, ...]:
    """Return every method by name; "ama" is one of them with choices of its own."""
    return (*METHODS, "ama")


@dataclass(frozen=True)
class Roles(Part):
    """Which column is what; `quasi` may be None: every column that has no other role is masked."""

    quasi: tuple[Any, ...] | None = choose(None, NAMES, "masked: columns that together could identify a person")
    identifiers: tuple[Any, ...] = choose((), NAMES, "dropped: they identify a person by themselves")
    confidential: tuple[Any, ...] = choose((), NAMES, "released as they are: sensitive, and not known to an intruder")
    strata: tuple[Any, ...] = choose((), NAMES, "released as they are; groups stay within their values")
    keep: tuple[Any, ...] = choose((), NAMES, "released as they are: harmless")
    drop: tuple[Any, ...] = choose((), NAMES, "dropped: other columns that are not to be released")
    weight: Any = choose(
        None, NAME_OR_NAMES, "a sampling weight, or several: the first weights means; never used to form groups"
    )
    unit: Any = choose(
        None,
        NAME,
        "the person, household or firm of a row: every group holds k different ones",
    )
    rest: str | None = choose(None, WORD, "what becomes of columns that no role names", words=("keep", "drop"))

    def _check(self) -> None:
        if self.rest is not None and self.quasi is None:
            raise InvalidParameter(
                "rest goes with quasi: without it every other column is masked. Name the columns to mask.",
                parameter="rest",
            )

    def of(self, role: str) -> tuple[Any, ...]:
        """Return the names of a role's columns."""
        named = getattr(self, role)
        return named if isinstance(named, tuple) else () if named is None else (named,)

    @property
    def lists(self) -> dict[str, Any]:
        """The columns of each role as lists, and the rest, as `Schema.assign` takes them."""
        listed: dict[str, Any] = {role: list(self.of(role)) for role in choices_of(Roles) if role != "rest"}
        return listed | {"quasi": None if self.quasi is None else listed["quasi"], "rest": self.rest}

    def settled(self, schema: Schema) -> "Roles":
        """The roles of a file's columns, every one of them named; weights stay in the order in which they were."""
        named: dict[str, Any] = {role.value: tuple(schema.names(role)) for role in Role}
        named[Role.UNIT.value] = next(iter(named[Role.UNIT.value]), None)
        return Roles(**named | {Role.WEIGHT.value: self.weight})

    @property
    def named(self) -> list[tuple[str, Any]]:
        """Each role with each of its columns."""
        return [(role, name) for role in self.said if role != "rest" for name in self.of(role)]


@dataclass(frozen=True)
class Method(Part):
    """How groups are formed: the method's name, or an object with `fit_predict`, and its own options."""

    name: Any = choose(
        "mdav",
        WORD,
        "how groups are formed",
        words=method_names,
        keyword="method",
        or_object="an object with fit_predict",
        more='A name\'s options may be added as keywords: ``method="vmdav", gamma=1.1``. "ama" is approximate '
        'microaggregation whole: ``method="mdav", tail="2k", select="ama"``.',
    )
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Masking(Part):
    """What is done with the values."""

    scale: str = choose("standard", WORD, "how columns are made comparable", words=SCALES)
    aggregate: str = choose("mean", WORD, "what a group releases", words=AGGREGATES)
    rounding: Any = choose(
        "auto",
        WORD_OR_BY_COLUMN,
        "to which step released means are rounded",
        words=("auto", "none"),
        element=as_power_of_ten,
        more='"auto" takes the largest power of ten that divides every value of a column, so that whole numbers stay '
        "whole; else six significant digits of the standard deviation. A table names powers of ten for some columns: "
        '``{"income": 100}``.',
    )
    nominal: str = choose(
        "mode",
        WORD,
        "which category a group releases",
        words=NOMINAL_RULES,
        more='"mode" is the commonest; "balanced" keeps the shares of the categories over the whole file, at more '
        'mismatches; "draw" takes one by chance, each with its share of the members.',
    )
    nominal_seed: int | None = choose(
        None,
        WHOLE,
        "the seed of nominal = draw, a secret: who knows it can work out more of a group than it releases",
        least=0,
        most=2**62,
        more="It is drawn where this is left out, and stands in the recipe of the release, which is internal.",
    )
    spike: float = choose(
        SPIKE,
        NUMBER,
        "how much being the spike of a semi-continuous column weighs, beside its value",
        more="1 gives both the same weight.",
    )
    spike_totals: str = choose(
        "safe",
        WORD,
        "when a group releases the spike",
        words=SPIKE_TOTALS,
        more='"safe": where fewer than three members (or k) are off it, so that no single amount shows; "exact": only '
        "where all members have it, which keeps totals.",
    )
    moments: str = choose(
        "none",
        WORD,
        "what of the original numbers is kept of how they vary",
        words=MOMENTS,
        more='"variance": the variance of each column; "covariance": all covariances too. Means of groups vary less '
        "than the records do; this spreads them again, by one map for each stratum, so that k and the means of strata "
        "stay. Plain numbers alone are mapped: no dates, levels, categories or columns with a spike. Some values "
        "leave the range of the original. Rounding ends exactness, to its step.",
    )
    moments_clip: bool = choose(
        False,
        FLAG,
        "whether values that moments would take beyond the lowest and highest values of a column are cut back",
        more="They are cut to the mean of its three lowest, or highest, values: a single one may be one person's. "
        "Variances are then a little too small.",
    )
    missing: str = choose(
        "pattern",
        WORD,
        "what becomes of missing values",
        words=("pattern", "state", "error", "drop"),
        more='"pattern": records that lack the same columns are grouped among themselves, so that nothing is filled '
        'in; "state": a missing value is one more value; "error": they are refused; "drop": records that lack a value '
        "are left out.",
    )
    per_column: bool = choose(
        False,
        FLAG,
        "whether k holds for each column only, as with univariate and ranking",
        more="It must be true to use such a method on several columns: whole records may then be unique.",
    )

    def _check(self) -> None:
        if not self.rounding:
            object.__setattr__(self, "rounding", "auto")  # a table that names no column
        if not 0 <= self.spike <= MOST_WEIGHT:
            raise InvalidParameter(f"spike={self.spike} must be a number from 0 to {MOST_WEIGHT:g}.", parameter="spike")
        if self.nominal != "draw":
            object.__setattr__(self, "nominal_seed", None)  # nothing is drawn: recipes that do the same are the same


@dataclass(frozen=True)
class WeightChoices(Part):
    """What a sampling weight does, where one is named, and how it is released."""

    weighted: bool | None = choose(
        None,
        FLAG,
        "whether what a group releases is weighted; it is, where a weight is named and this is left out",
        more="Weighted means keep weighted totals, of the file, of strata and of groups; unweighted ones keep the sums "
        "of the records. Distances and k never depend on weights.",
    )
    release: str = choose(
        "as it is",
        WORD,
        "how weights are released",
        words=("as it is", "group"),
        keyword="weight_release",
        more='"group": every record gets the mean weight of its group, so that the weight tells nobody apart; k then '
        "holds for it too. The sum of the weights and weighted totals of masked columns stay; weighted totals of other "
        "columns move.",
    )
    cap: bool = choose(
        False,
        FLAG,
        "whether a weight that is more than 0.8 of its group's is cut to that share; else it is refused",
        keyword="weight_cap",
        more="The mean of such a group is all but one member's value. Where a unit is named, its records in a group "
        "count together. Weighted totals then move, and it is told by how much.",
    )
    calibrate: tuple[Any, ...] = choose(
        (),
        NAMES,
        "masked categories whose weighted totals are kept, by adjusting the weights of groups",
        more='It goes with weight_release="group". Weighted totals of masked numbers then move a little.',
    )


@dataclass(frozen=True)
class Select(Part):
    """Which masked columns form the groups; all, unless something is chosen here."""

    by: Any = choose(
        None,
        WORD,
        "how the columns that form the groups are chosen",
        words=("emad", "ama"),
        keyword="select",
        or_object="a list of names or a function",
        more='"emad" takes the `count` columns with most edges in the dependence tree, "ama" the fewest whose edges '
        "add up to the number of columns. A function gets a frame of the masked columns and returns names. All columns "
        "are masked and judged either way.",
    )
    columns: tuple[Any, ...] | None = choose(None, NAMES, "the columns that form the groups", keyword="select")
    count: int | None = choose(None, WHOLE, "how many columns emad takes; 3 where this is left out", least=1)
    measure: str | None = choose(None, WORD, "the measure of dependence", words=MEASURES)
    width: Any = choose(None, NUMBERS, "the width of the categories that columns are cut into")
    bins: int | None = choose(None, WHOLE, "how many categories columns are cut into", least=2)

    def _check(self) -> None:
        if isinstance(self.by, Iterable) and not isinstance(self.by, (str, Selection)):
            object.__setattr__(self, "columns", tuple(self.by))
            object.__setattr__(self, "by", None)
        elif self.by is not None and not isinstance(self.by, (str, Selection)) and not callable(self.by):
            raise InvalidParameter(
                f"select is a {type(self.by).__name__}. Pass 'emad', 'ama', names or a function.", parameter="select"
            )
        if self.columns is not None and self.by is not None:
            raise InvalidParameter(
                "columns that are named leave nothing to choose. Leave one of both out.", parameter="select"
            )
        by_tree = isinstance(self.by, str)
        for name in ("count", "measure", "width", "bins"):
            if getattr(self, name) is not None and not (by_tree and (name != "count" or self.by == "emad")):
                way = "by the tree's degrees (emad)" if name == "count" else "by a dependence tree (emad or ama)"
                raise InvalidParameter(
                    f"{name} goes with columns chosen {way}. Leave it out, or choose so.", parameter=name
                )


@dataclass(frozen=True)
class Blocks(Part):
    """How a large file is cut into blocks that are grouped each by itself."""

    by: Any = choose(
        "auto",
        WORD,
        "how a large file is cut",
        words=("auto", "none", *BLOCKINGS),
        keyword="blocks",
        or_object="an object with fit_predict",
        more="Time then grows with the number of records and not with its square, and some information is lost. "
        '"auto" cuts beyond 200 000 records, by "median".',
    )
    max_block: int | None = choose(None, WHOLE, "the most records of a block; 50000 where this is left out", least=4)
    options: Mapping[str, Any] = field(default_factory=dict)  # of somebody's own object, for the record

    @property
    def settled(self) -> "Blocks":
        """The choice as a recipe records it: of somebody's own object the name and plain settings."""
        if isinstance(self.by, str):
            return self
        own = dict(self.by.get_params()) if hasattr(self.by, "get_params") else {}
        own.pop("k", None)
        return Blocks(full_name(self.by), options=plain_settings(own))

    def _check(self) -> None:
        if self.max_block is None:
            return
        if self.by == "none":
            raise InvalidParameter(
                "max_block goes with blocks. Leave it out, or choose a way of cutting.", parameter="max_block"
            )
        if not isinstance(self.by, str):
            raise InvalidParameter(
                "max_block goes with a way of cutting by name. Set it on the object.", parameter="max_block"
            )


@dataclass(frozen=True)
class Refine(Part):
    """Whether the groups are refined: records moved between neighbouring ones, to lose less."""

    effort: Any = choose(
        None,
        WORD_OR_WHOLE,
        "how hard to try, or how many moves, to lose less by moving records between groups",
        words=tuple(EFFORTS),
        least=1,
        most=MOST_MOVES,
        keyword="refine",
    )
    seed: int = choose(0, WHOLE, "the seed of the moves", least=0, most=2**62)

    def _check(self) -> None:
        if self.effort is None:
            object.__setattr__(self, "seed", 0)  # nothing is drawn: recipes that do the same are the same


@dataclass(frozen=True)
class Reading(Part):
    """How a text file is written, and which sheet of an Excel file is read; what is left out is found out."""

    delimiter: str | None = choose(None, TEXT, "the character between two fields of a row, such as a comma")
    encoding: str | None = choose(None, TEXT, "how characters are stored, such as utf-8 or cp1252")
    decimal: str | None = choose(None, TEXT, "the decimal mark of numbers, a point or a comma")
    thousands: str | None = choose(None, TEXT, "the character between thousands in numbers; empty where there is none")
    header: bool | None = choose(
        None,
        FLAG,
        "whether the first row holds the names of the columns",
        more="A first row that may be a record is refused until this is said.",
    )
    sheet: str | None = choose(None, TEXT, "the sheet of an Excel file; the first where this is left out")


@dataclass(frozen=True)
class Join(Part):
    """A second file, with one row for each household, that is joined for masking and written apart again."""

    households: str | None = choose(
        None,
        TEXT,
        "the file of households, one row each; the masked file then is that of their persons",
        more='Both are joined, masked as whole households (``unit_release="pseudonym"``) and written apart again.',
    )
    on: Any = choose(
        None,
        NAME,
        "the column that both files have, by which they are joined; the unit where this is left out",
    )

    def _check(self) -> None:
        if self.on is not None and self.households is None:
            raise InvalidParameter(
                f"on goes with a file of households. Leave it out, or name the file: {setting('households')}.",
                parameter="on",
            )


@dataclass(frozen=True)
class Risk(Part):
    """By what risk is measured."""

    keys: tuple[Any, ...] | None = choose(
        None, NAMES, "the masked columns that an intruder knows, beside the strata; all where this is left out"
    )
    sample: int | None = choose(
        None, WHOLE, "records that linkage is estimated on; 20000 of more than 200000 where this is left out", least=2
    )
    seed: int = choose(0, WHOLE, "the seed of the sample", least=0, keyword="sample_seed")


@dataclass(frozen=True)
class Output(Part):
    """How the release is written."""

    same_order: bool = choose(
        False, FLAG, "whether rows are written in the order of the source; else sorted by what is released"
    )
    excel_safe: bool = choose(False, FLAG, "whether text is kept from acting as a spreadsheet's formula")
    public: bool = choose(False, FLAG, "whether a report for everybody is written too, without what helps an intruder")
    kind: str | None = choose(
        None, WORD, "the kind of the masked file; else that of the source", words=tuple(SUFFIXES), keyword="file_kind"
    )


@dataclass(frozen=True)
class Compare(Part):
    """What is compared on one file."""

    methods: tuple[str, ...] | None = choose(None, WORDS, "the methods to compare", words=method_names)
    ks: tuple[int, ...] | None = choose(None, WHOLES, "the levels of k to compare", least=2)
    ls: tuple[int, ...] | None = choose(None, WHOLES, "the levels of l to compare; 1 demands nothing", least=1)
    ts: tuple[float, ...] | None = choose(None, NUMBERS, "the levels of t to compare; 1 demands nothing")
    x: float = choose(0.5, NUMBER, "the weight of the loss in the score, from 0 to 1")
    rank: str = choose(
        "score",
        TEXT,
        "by what the best is found: score, a measure such as IL, within or pMSE, or the name of an analysis",
    )
    map_axis: str | None = choose(
        None, TEXT, "the loss on the map's axis: a measure of loss, or the name of an analysis"
    )
    least_k: int | None = choose(
        None, WHOLE, "the k that the best must reach; that of the recipe where this is left out", least=2
    )

    def _check(self) -> None:
        if not 0 <= self.x <= 1:
            raise InvalidParameter(f"x={self.x} must be a number from 0 to 1.", parameter="x")
        for t in (self.ts,) if isinstance(self.ts, (int, float)) else self.ts or ():
            if not 0 < t <= 1:
                raise InvalidParameter(f"ts has {t:g}, and t must be above 0 and at most 1.", parameter="ts")
