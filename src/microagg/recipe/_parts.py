"""The parts of a recipe: every choice of a run, declared once."""

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any

from microagg.algorithms.blockings import BLOCKINGS, FUSIONS, INTERVALS
from microagg.algorithms.dependence import MEASURES
from microagg.algorithms.methods import BY_TREE, METHODS
from microagg.algorithms.refine import EFFORTS, MOST_MOVES
from microagg.algorithms.selection import CHOICES, RULES, Selection
from microagg.base.frozen import frozen
from microagg.checks import check_option
from microagg.columns.embedding import SCALES
from microagg.columns.kinds import NOMINAL_RULES, SPIKE_TOTALS
from microagg.columns.roles import Role, Schema
from microagg.errors import InvalidParameter, a_type
from microagg.files.formats.kinds import SUFFIXES
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
from microagg.recipe._columns import MOST_WEIGHT, as_power_of_ten

SPIKE = 4.0
"""How much being the spike weighs unless something else is said: 1.0 in the definition of the embedding."""

AGGREGATES = ("mean", "median")
MOMENTS = ("none", "variance", "covariance")


def full_name(thing: Any) -> str:
    """Name the class of somebody's own object."""
    return f"{type(thing).__module__}.{type(thing).__qualname__}"


def plain_settings(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Keep plain settings alone: a parameter may hold data of the file (initial centres, say)."""
    plain = (str, int, float, bool, type(None))
    return {name: value if isinstance(value, plain) else type(value).__name__ for name, value in parameters.items()}


def method_names() -> tuple[str, ...]:
    """Return every method by name."""
    return (*METHODS, *BY_TREE)


@frozen()
class Roles(Part):
    """Which column is what; `quasi` may be None: every column that has no other role is masked."""

    quasi: tuple[Any, ...] | None = choose(None, NAMES, "masked: columns that together could identify a person")
    identifiers: tuple[Any, ...] = choose((), NAMES, "dropped: columns that identify a person by themselves")
    confidential: tuple[Any, ...] = choose(
        (),
        NAMES,
        "released unchanged: sensitive columns that an intruder does not know; only l and t limit what a group gives "
        "away",
    )
    strata: tuple[Any, ...] = choose((), NAMES, "released unchanged; every group lies within one stratum")
    keep: tuple[Any, ...] = choose((), NAMES, "released unchanged: harmless columns")
    drop: tuple[Any, ...] = choose((), NAMES, "dropped: other columns that you do not release")
    weight: Any = choose(
        None,
        NAME_OR_NAMES,
        "a sampling weight, or several: the first one weights the means; none is used to form groups",
    )
    unit: Any = choose(
        None,
        NAME,
        "the person, household or firm that a row belongs to: every group holds k different ones",
    )
    rest: str | None = choose(None, WORD, "what is done with columns that have no role", words=("keep", "drop"))

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


@frozen()
class MethodChoices(Part):
    """How groups are formed: the method's name, or an object with `fit_predict`, and its own options."""

    name: Any = choose(
        "mdav",
        WORD,
        "how groups are formed",
        words=method_names,
        keyword="method",
        or_object="an object with fit_predict",
        more='Options of a method may be added as keywords: ``method="vmdav", gamma=1.1``. "emad" is short '
        'for ``method="mdav", select="emad"``, and "ama" for ``method="mdav", tail="2k", select="ama"``.',
    )
    options: Mapping[str, Any] = field(default_factory=dict)


@frozen()
class Masking(Part):
    """What is done with the values."""

    scale: str = choose("standard", WORD, "how columns are made comparable", words=SCALES)
    aggregate: str = choose("mean", WORD, "the value that a group releases", words=AGGREGATES)
    rounding: Any = choose(
        "auto",
        WORD_OR_BY_COLUMN,
        "the step to which released means are rounded",
        words=("auto", "none"),
        element=as_power_of_ten,
        more='"auto" takes the largest power of ten that divides every value of a column, so that whole numbers stay '
        "whole; otherwise six significant digits of the standard deviation. A table sets powers of ten for some "
        'columns: ``{"income": 100}``.',
    )
    nominal: str = choose(
        "mode",
        WORD,
        "the category that a group releases",
        words=NOMINAL_RULES,
        more='"mode" is the most frequent one; "balanced" keeps the shares of the categories over the whole file, but '
        'changes more cells; "draw" takes one at random, each with the share that it has among the members.',
    )
    nominal_seed: int | None = choose(
        None,
        WHOLE,
        "the seed of nominal = draw, a secret: somebody who knows it can work out more about a group than it releases",
        least=0,
        most=2**62,
        more="By default it is drawn at random. It is in the recipe of the release, which is internal.",
    )
    spike: float = choose(
        SPIKE,
        NUMBER,
        "how much it counts whether a value of a semi-continuous column is the spike, compared with the value itself",
        more="With 1 both count the same.",
    )
    spike_totals: str = choose(
        "safe",
        WORD,
        "when a group releases the spike",
        words=SPIKE_TOTALS,
        more='"safe": if fewer than three members (or k) have another value, so that no single amount is disclosed; '
        '"exact": only if all members have it, which keeps totals.',
    )
    moments: str = choose(
        "none",
        WORD,
        "which part of the variation of the original numbers is kept",
        words=MOMENTS,
        more='"variance": the variance of each column; "covariance": all covariances too. Means of groups vary less '
        "than the records do. This spreads them again, by one map for each stratum, so that k and the means of strata "
        "stay the same. Only plain numbers are spread: no dates, levels, categories or columns with a spike. Some "
        "values then lie outside the original range. After rounding, the variances are exact up to the rounding step.",
    )
    moments_clip: bool = choose(
        False,
        FLAG,
        "whether values that moments would move outside the original range of a column are cut back",
        more="They are cut to the mean of its three lowest, or three highest, values: a single value may belong to one "
        "person. Variances are then a little too small.",
    )
    missing: str = choose(
        "pattern",
        WORD,
        "what is done with missing values",
        words=("pattern", "state", "error", "drop"),
        more='"pattern": records in which the same columns are missing are grouped together, so that nothing is filled '
        'in; "state": a missing value counts as one more value; "error": missing values are refused; "drop": records '
        "with a missing value are left out.",
    )
    per_column: bool = choose(
        False,
        FLAG,
        "whether k holds only for each column by itself, as with univariate and ranking",
        more="Set it to true to use such a method on several columns. Whole records may then be unique.",
    )

    def _check(self) -> None:
        if not self.rounding:
            object.__setattr__(self, "rounding", "auto")  # a table that names no column
        if not 0 <= self.spike <= MOST_WEIGHT:
            raise InvalidParameter(f"spike={self.spike} must be a number from 0 to {MOST_WEIGHT:g}.", parameter="spike")
        if self.nominal != "draw":
            object.__setattr__(self, "nominal_seed", None)  # nothing is drawn: recipes that do the same are the same


@frozen()
class WeightChoices(Part):
    """What a sampling weight does, if one is named, and how it is released."""

    weighted: bool | None = choose(
        None,
        FLAG,
        "whether the values that a group releases are weighted; by default they are, if a weight is named",
        more="Weighted means keep weighted totals of the file, of strata and of groups, exactly before rounding; "
        "unweighted means keep the sums of the records. Distances never depend on weights. If means are weighted, k "
        "records of every group, or units, have a weight above 0.",
    )
    release: str = choose(
        "as it is",
        WORD,
        "how weights are released",
        words=("as it is", "group"),
        keyword="weight_release",
        more='"as it is": unchanged; "group": every record gets the mean weight of its group, rounded, so that the '
        "weight singles nobody out, and k holds for it too. The sum of the weights and the weighted totals of masked "
        "columns are exact before rounding; weighted totals of other columns change.",
    )
    cap: bool = choose(
        False,
        FLAG,
        "whether a weight above 0.8 of the total weight of its group is cut to that share; otherwise it is refused",
        keyword="weight_cap",
        more="The mean of such a group is almost the value of one member. If a unit is named, its records in a group "
        "count together. Weighted totals then change, and the report says by how much.",
    )
    calibrate: tuple[Any, ...] = choose(
        (),
        NAMES,
        "masked columns of categories whose weighted totals are kept, by adjusting the weights of groups",
        more='It works only with weight_release="group". Weighted totals of masked numbers then change a little.',
    )


@frozen()
class Select(Part):
    """Which masked columns form the groups; all, unless something is chosen here."""

    by: Any = choose(
        None,
        WORD,
        "how the columns that form the groups are chosen",
        words=tuple(BY_TREE),
        keyword="select",
        or_object="a list of names or a function",
        more='"emad" takes the `count` columns with the most edges in the dependence tree, "ama" the fewest columns '
        "whose edges add up to the number of columns. A function gets a frame of the masked columns and returns names. "
        "All columns are masked and judged in any case.",
    )
    columns: tuple[Any, ...] | None = choose(None, NAMES, "the columns that form the groups", keyword="select")
    count: int | None = choose(None, WHOLE, "how many columns are taken; by default 3", least=1)
    measure: str | None = choose(None, WORD, "the measure of dependence", words=MEASURES)
    width: Any = choose(None, NUMBERS, "the width of the categories that columns are cut into")
    bins: int | None = choose(None, WHOLE, "the number of categories that columns are cut into", least=2)
    rule: str | None = choose(
        None,
        WORD,
        "which columns of the dependence tree are taken; by default degree for emad, cover for ama",
        words=RULES,
        more='"degree": the `count` columns with the most edges; "cover": the fewest columns whose edges add up to the '
        'number of columns; "every": groups are formed on every set of `count` columns, whatever the tree, and the set '
        "that loses least is taken.",
    )
    choose: str | None = choose(
        None,
        WORD,
        "which one is taken where several choices of columns tie; by default the first",
        words=CHOICES,
        more='"first": the one of the first columns; "lowest-loss": groups are formed on each, and the one that loses '
        "least is taken, which takes as many times as long as there are choices.",
    )

    def _check(self) -> None:
        if isinstance(self.by, Iterable) and not isinstance(self.by, (str, Selection)):
            object.__setattr__(self, "columns", tuple(self.by))
            object.__setattr__(self, "by", None)
        elif self.by is not None and not isinstance(self.by, (str, Selection)) and not callable(self.by):
            raise InvalidParameter(
                f"select is {a_type(self.by)}. Pass 'emad', 'ama', names or a function.", parameter="select"
            )
        elif isinstance(self.by, str) and self.columns is None:
            check_option("select", self.by, tuple(BY_TREE))


@frozen()
class BlockChoices(Part):
    """How a large file is cut into blocks, each of which is grouped by itself."""

    by: Any = choose(
        "auto",
        WORD,
        "how a large file is cut into blocks",
        words=("auto", "none", *BLOCKINGS),
        keyword="blocks",
        or_object="an object with fit_predict",
        more="Time then grows with the number of records and not with its square, and some information is lost. "
        '"auto" cuts a file of more than 200 000 records, by "median".',
    )
    max_block: int | None = choose(None, WHOLE, "the largest number of records in a block; by default 50000", least=4)
    columns: tuple[Any, ...] | None = choose(
        None,
        NAMES,
        "the masked columns by which blocks are cut; by default all, with univariate the first that has an order",
        keyword="block_columns",
    )
    intervals: str | None = choose(
        None,
        WORD,
        "how univariate cuts its column: into intervals of equal width, or of equal count; by default width",
        words=INTERVALS,
        keyword="block_intervals",
    )
    fusion: str | None = choose(
        None,
        WORD,
        "which block takes in one of fewer than k records, with orthants; by default nearest",
        words=FUSIONS,
        keyword="block_fusion",
        more='"nearest": the one with the nearest centroid, which may then have more than max_block records; '
        '"limited": the nearest one that has room for them; where none has, the small block takes records from the '
        "nearest.",
    )
    options: Mapping[str, Any] = field(default_factory=dict)  # of somebody's own object, for the record

    @property
    def settings(self) -> dict[str, Any]:
        """What is set of the way to cut, as its function takes it."""
        said = {"by": self.intervals, "fusion": self.fusion}
        return {name: value for name, value in said.items() if value is not None}

    @property
    def settled(self) -> "BlockChoices":
        """The choice as a recipe records it: of somebody's own object the name and plain settings."""
        if isinstance(self.by, str):
            return self
        own = dict(self.by.get_params()) if hasattr(self.by, "get_params") else {}
        own.pop("k", None)
        return BlockChoices(full_name(self.by), options=plain_settings(own))

    @property
    def facts(self) -> dict[str, Any]:
        """What is said of choices that do not go together."""
        return {"named": len(self.columns or ())}


@frozen()
class Refine(Part):
    """Whether the groups are refined: records moved between neighbouring ones, to lose less."""

    effort: Any = choose(
        None,
        WORD_OR_WHOLE,
        "how much effort, or how many moves, to lose less by moving records between groups",
        words=tuple(EFFORTS),
        least=1,
        most=MOST_MOVES,
        keyword="refine",
    )
    seed: int = choose(0, WHOLE, "the seed of the moves", least=0, most=2**62)

    def _check(self) -> None:
        if self.effort is None:
            object.__setattr__(self, "seed", 0)  # nothing is drawn: recipes that do the same are the same


@frozen()
class Reading(Part):
    """How a text file is written, and which sheet of an Excel file is read; what is left out is found out."""

    delimiter: str | None = choose(None, TEXT, "the character between two fields of a row, such as a comma")
    encoding: str | None = choose(None, TEXT, "how characters are stored, such as utf-8 or cp1252")
    decimal: str | None = choose(None, TEXT, "the decimal mark of numbers, a point or a comma")
    thousands: str | None = choose(None, TEXT, "the character between thousands in numbers; empty if there is none")
    header: bool | None = choose(
        None,
        FLAG,
        "whether the first row holds the names of the columns",
        more="A file whose first row may be a record is refused until you set this.",
    )
    sheet: str | None = choose(None, TEXT, "the sheet of an Excel file; the first where this is left out")


@frozen()
class Join(Part):
    """A second file, with one row for each household, that is joined for masking and then written separately again."""

    households: str | None = choose(
        None,
        TEXT,
        "the file of households, with one row for each; the file to mask is then that of their persons",
        more='Both are joined, masked as whole households (``unit_release="pseudonym"``) and written as two files.',
    )
    on: Any = choose(
        None,
        NAME,
        "the column, in both files, by which they are joined; by default the unit",
    )


@frozen()
class RiskChoices(Part):
    """How risk is measured."""

    keys: tuple[Any, ...] | None = choose(
        None, NAMES, "the masked columns that an intruder knows, in addition to the strata; by default all"
    )
    sample: int | None = choose(
        None,
        WHOLE,
        "how many records linkage is measured on; by default enough for a standard error of 0.25 percentage points",
        least=2,
    )
    seed: int = choose(0, WHOLE, "the seed of the sample", least=0, keyword="sample_seed")


@frozen()
class OutputChoices(Part):
    """How the release is written."""

    same_order: bool = choose(
        False, FLAG, "whether rows are written in the order of the source; otherwise sorted by their released values"
    )
    excel_safe: bool = choose(False, FLAG, "whether text that a spreadsheet would run as a formula is made harmless")
    public: bool = choose(
        False, FLAG, "whether a public report is written too, without anything that helps an intruder"
    )
    kind: str | None = choose(
        None,
        WORD,
        "the kind of the masked file; by default that of the source",
        words=tuple(SUFFIXES),
        keyword="file_kind",
    )


@frozen()
class Compare(Part):
    """What is compared on one file."""

    methods: tuple[str, ...] | None = choose(None, WORDS, "the methods to compare", words=method_names)
    ks: tuple[int, ...] | None = choose(None, WHOLES, "the levels of k to compare", least=2)
    ls: tuple[int, ...] | None = choose(None, WHOLES, "the levels of l to compare; 1 sets no limit", least=1)
    ts: tuple[float, ...] | None = choose(None, NUMBERS, "the levels of t to compare; 1 sets no limit")
    x: float = choose(0.5, NUMBER, "the weight of the loss in the score, from 0 to 1")
    rank: str = choose(
        "score",
        TEXT,
        "what decides which release is best: score, a measure such as IL, within or pMSE, or the name of an analysis",
    )
    map_axis: str | None = choose(
        None, TEXT, "the loss on the map's axis: a measure of loss, or the name of an analysis"
    )
    least_k: int | None = choose(
        None, WHOLE, "the k that the best release must reach; by default that of the recipe", least=2
    )

    def _check(self) -> None:
        if not 0 <= self.x <= 1:
            raise InvalidParameter(f"x={self.x} must be a number from 0 to 1.", parameter="x")
        for t in (self.ts,) if isinstance(self.ts, (int, float)) else self.ts or ():
            if not 0 < t <= 1:
                raise InvalidParameter(f"ts has {t:g}, and t must be above 0 and at most 1.", parameter="ts")
