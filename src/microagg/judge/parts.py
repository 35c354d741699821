"""The parts of a judgement: numbers, names as they may be displayed, and tuples of them."""

import math
from collections.abc import Mapping
from dataclasses import field

from microagg.base.frozen import ReadOnly, frozen
from microagg.measures.anonymity import RebuiltUnits as RebuiltUnits
from microagg.measures.columns import ColumnChange as ColumnChange
from microagg.measures.diversity import Goal as Goal
from microagg.measures.weights import Telling as Telling


def finite(value: float) -> float | None:
    """Return a plain float that JSON can hold, or None."""
    return float(value) if math.isfinite(value) else None


@frozen()
class SizeCount:
    """How many groups are of some size, or of a range of sizes."""

    least: int
    most: int
    groups: int
    share: float  # of all records, in percent


@frozen()
class UnitFacts:
    """The persons, households or firms that rows belong to, by whom k is counted."""

    named: str | None  # the column; None in public
    different: int | None  # the fewest that share their masked values; None in public
    share: float | None  # most of the rows of one combination that one of them has, in percent; None in public
    in_part: bool  # whether none may have more than 1/k of them
    whole: bool  # whether units are released by numbers, with all their rows the same
    merged: tuple[int, float] | None = None  # rows of one group that is most of its stratum, and its percentage
    once: tuple[str, ...] = ()  # columns that are masked once for each unit
    loss_by_row: float | None = None  # in percent, if they were not; None in public
    loss_once: float | None = None
    rebuilt: RebuiltUnits | None = None  # by columns released unchanged; None in public, and where that is not counted
    joined: int = 0  # spellings that were taken for the same unit as another; 0 in public


@frozen()
class JudgedGroups:
    """k promised and reached, and the groups behind it."""

    promised: int
    reached: int
    counted: int | None  # counted now in the released file, whole records; None in public for per_column
    unique: int | None  # records whose combination no other record has; None in public
    per_column: bool
    records: int
    groups: int
    smallest: int
    largest: int | None  # None in public
    sizes: tuple[SizeCount, ...]  # empty in public, and where each column has its own groups
    units: UnitFacts | None = None  # where a unit is named


@frozen()
class JudgedSample:
    """The records that are judged where a file does not fit into memory: those of whole groups."""

    records: int
    of_records: int
    groups: int
    of_groups: int
    error: float  # the standard error of a share of records, at most, in percent


@frozen()
class LeftOut:
    """Records that are not in the release."""

    records: int | None  # None in public, unless there are none
    read: int | None  # None in public
    percent: float | None  # in public a whole number, and None where they are few
    below: int | None = None  # in public, where they are few: that there are fewer than so many


@frozen()
class Strata:
    """The strata that groups do not cross."""

    count: int
    smallest: int | None  # None in public
    largest: int | None  # None in public
    small: int | None  # how many hold fewer than ten times k records; None in public


@frozen()
class Alone(ReadOnly):
    """Records with unique values, in the columns that are released unchanged. Empty in public."""

    by_column: Mapping[str, int] = field(default_factory=dict)  # without those that hold lists or mixed types
    together: int = 0  # by all of those columns and the strata at once
    by_all: int = 0  # by everything that is released: masked columns, strata, and those columns
    few_units: Mapping[str, int] = field(default_factory=dict)  # columns of units: groups with fewer than k
    amounts: Mapping[str, int] = field(default_factory=dict)  # columns with a spike: groups with one amount off it
    rare: Mapping[str, int] = field(default_factory=dict)  # masked columns: released categories of fewer than k
    medians: Mapping[str, int] = field(default_factory=dict)  # columns: cells that are the record's own by them


@frozen()
class WeightFound(ReadOnly):
    """What one weight discloses where it is released unchanged."""

    weight: str
    distinct: int  # different weights
    rare: int  # records whose weight fewer than k share
    telling: Mapping[str, Telling]  # of each masked column of categories


@frozen()
class JudgedWeights(ReadOnly):
    """What weights did, and what they disclose. None in public."""

    found: tuple[WeightFound, ...]  # empty where they are released by group
    percent: float | None  # the loss by weight; None where the weight is no number
    dominated: int  # groups in which a weight was cut
    moved: tuple[tuple[str, float], ...]  # columns whose weighted totals moved by that, in percent, most first
    factors: tuple[float, float] | None  # from the least to the most, by which calibration multiplied weights
    missed: float  # of the totals that it is to keep, at most, in percent of all
    steps: tuple[tuple[str, float], ...]  # weights that are released by group, and what they are multiples of
    rounding_moved: float  # of a weighted total by that, at most, in percent
    revealing: tuple[tuple[str, int], ...]  # such weights, and the groups whose weight shows categories of the design
    groups: int  # in which those were counted
    population: float | None  # the sum of the weights; of whole units, where these are linked
    expected_links: float | None  # of the records, or whole units, by who cannot know who is in the sample


@frozen()
class JudgedMoments(ReadOnly):
    """How far variances or covariances are those of the original, and what that did to values. None in public."""

    columns: tuple[str, ...]  # whose moments are kept
    variance_error: float  # at most, in percent
    covariance_error: float  # at most, of standard scores
    outside: Mapping[str, int]  # cells that are written beyond the range of the original
    clipped: Mapping[str, int]  # cells that were cut back
    left: int  # strata, or parts of them, that are not spread


@frozen()
class ResultLine:
    """One estimate of an analysis, before and after."""

    analysis: str
    part: str  # which figure of the analysis; empty where it has one
    what: str  # both in words
    sentence: str  # what became of it
    before: float | None  # None: there is none
    after: float | None
    low: float | None  # of the interval before; None: there is none to judge by
    high: float | None
    written: tuple[str, str, str, str]  # those four with the digits that matter
    unit: str  # "%" or ""
    difference: float | None  # in percent of the size of `before`
    overlap: float | None  # of the intervals before and after, from 0 to 1
    within: bool  # whether `after` lies in the interval before
    changed: str  # what of a conclusion changed: "sign", "significance", or nothing


@frozen()
class ToldApart:
    """How well a model distinguishes masked records from original ones, by the masked columns."""

    value: float  # pMSE: 0 where it cannot, 0.25 where it always can
    percent: float  # of the worst
    reading: str  # in words
    records: int  # of each file
    seed: int | None  # by which these were drawn; None: they are all
    terms: int  # what the model looks at
    left_out: int  # what more it would look at without a limit


@frozen()
class RelationFound:
    """How many records break a declared relation between columns."""

    relation: str
    before: int
    after: int
    fresh: int  # by masking alone
    known: int  # masked records that have a value in all of its columns
    known_before: int  # original ones
    reading: str  # in words


@frozen()
class JudgedResults:
    """What researchers would find: the same analyses before and after masking. None in public."""

    declared: bool  # whether the recipe names the analyses; else they were guessed
    level: float  # of the intervals, in percent
    analyses: int  # that were done
    sentences: tuple[str, ...]  # what became of each, of the first ones
    estimates: int  # that have an interval to judge by
    within: int  # of these
    overlap: float | None  # of their intervals before and after, on average
    n_changed: int  # conclusions: their sign or significance
    changed: tuple[str, ...]  # what became of those, the worst first
    farthest: tuple[str, ...]  # of each analysis what moved most, if it is lost or its intervals are apart
    lines: tuple[ResultLine, ...]  # analysis by analysis, in each the worst first
    others: int  # estimates that are not among the lines
    told_apart: ToldApart | None  # None: no masked column varies, or too many columns for the records
    relations: tuple[RelationFound, ...]
    undone: tuple[str, ...]  # analyses that could not be done, and why
    remarks: tuple[str, ...]  # what else must be known, as of records left out


@frozen()
class MissingValues:
    """What became of missing values in the masked columns. In public only whether any are released."""

    cells: int | None = None  # missing in the release; None in public
    any_released: bool = False
    patterns: int | None = None  # different sets of missing columns; None in public, and where they did not matter
    moved: int | None = None  # records of a pattern rarer than k, which joined another; None in public
    filled: int | None = None  # None in public
    blanked: int | None = None  # None in public


@frozen()
class RecodedColumn:
    """A released column that was recoded before anything was masked."""

    column: str
    rule: str  # in words, as the recipe says it
    changed: int | None  # cells that have another value; None in public


@frozen()
class MissingCodes:
    """A released column in which the file distinguishes several kinds of missing values. None in public."""

    column: str
    package: str  # "spss", which declares values missing, "stata" or "sas", which have .a to .z
    lost: int  # cells whose kind was lost: they are plain missing values
    kept: int  # cells that still have theirs, if the kind of file that is written can hold it


@frozen()
class ColumnLoss:
    """What one masked column lost. In public the word alone, or that it is not shown."""

    column: str
    word: str
    kind: str = "number"
    percent: float | None = None
    mean: float | None = None  # change, in original standard deviations
    deviation: float | None = None
    quantile: float | None = None  # the largest change of one, in the same units
    quantile_at: float | None = None  # and of which, in percent
    change: ColumnChange | None = None  # in the column's own terms; None in public
    step: float | None = None  # to multiples of which it was rounded; None in public, and where it was not
    rounding_moved: float | None = None  # how far its total moved by that, in percent; None in public


@frozen()
class Bound:
    """How little any grouping at k could lose, in percent, beside what this one loses in the same terms."""

    percent: float | None  # None where it was not found
    reached: float | None
    of: str  # "information loss", or "squared distances" of records as points
    text: str  # both in a sentence, or why it was not found; empty where nobody needs to read it


@frozen()
class Loss:
    """What masking cost."""

    word: str
    percent: float | None  # None in public
    columns: tuple[ColumnLoss, ...]
    told: int  # of how many columns the loss is shown; in public maybe not of all
    bound: Bound | None = None  # None in public


@frozen()
class Bar:
    """How many records, in percent, have one value, or one of some."""

    of: str  # "category", "spike", "missing" or "others"
    label: str  # a category as it may be displayed, or the spike; how many others there are
    before: float | None  # None in public
    after: float


@frozen()
class Distribution:
    """One column in bins: the share of records in each, in percent.

    The first and the last bin are open: they hold everything below the second edge and above the last but one.
    """

    column: str
    edges: tuple[float, ...]  # one more than there are bins; in public the outer two are drawn, not data
    before: tuple[float, ...]  # empty in public
    after: tuple[float, ...]
    beyond: float | None  # percent of the original records outside the edges; None in public
    undrawn: str = ""  # why there are no bins: "constant", "nearly constant", "few"
    lost_percent: float | None = None  # None in public
    marks: tuple[str, ...] = ()  # what the borders are called, where they are dates; empty where nobody may know
    bars: tuple[Bar, ...] = ()  # categories, or what stands apart from the bins: the spike, and what is missing
    kind: str = "number"


@frozen()
class JudgedMove:
    """How far a correlation moved on average: less than some step, or more than the last of them."""

    than: float
    less: bool


@frozen()
class Correlations:
    """Masked minus original correlations."""

    columns: tuple[str, ...]
    change: tuple[tuple[float, ...], ...]  # empty where there are too many to draw
    largest: tuple[tuple[str, str, float], ...]
    mean: float


@frozen()
class ColumnRisk:
    """What one column adds to the risk."""

    column: str
    driver: float | None  # percentage points of linkage
    dominated: int | None  # groups that fail the p % rule; None where it means nothing


@frozen()
class RecordRisk:
    """How the chance of being linked is spread over the records, in percent."""

    edges: tuple[float, ...]
    shares: tuple[float, ...]  # of records
    chances: tuple[tuple[float, float], ...]  # up to which a share of the records, in percent, has its chance
    bound: float | None  # 100 / k; None where k holds for single columns only


@frozen()
class JudgedLinkage:
    """By what, and on what, records were linked."""

    sets: int  # of keys that were tried
    of_sets: int  # that there are
    sets_error: float  # the standard error of trying only some


@frozen()
class ConstantsFound:
    """How many units have a value that means of groups disclose, in columns that are constant in units."""

    columns: tuple[str, ...]
    units: int
    solved: int | None  # None: there are too many to compute it


@frozen()
class JudgedRisk:
    """What an intruder could still do."""

    keys: tuple[str, ...]  # the columns that the intruder is assumed to know
    restricted: bool  # whether those are not all masked columns
    units: int | None  # how many whole units there are, where these are linked by all their rows; None: records are
    sampled: int | None  # how many records, or whole units, linkage was estimated on; None: all
    seed: int | None  # what they were drawn with
    standard_error: float  # of linkage, in percent
    full_error: float  # of linkage by all keys
    linkage: JudgedLinkage
    records: RecordRisk
    columns: tuple[ColumnRisk, ...]
    dominance_percent: float
    n_groups: int
    constants: ConstantsFound | None = None  # None: no unit, or no masked column that is constant in units


@frozen()
class GivenAway:
    """How varied a confidential column is among records with the same masked values."""

    column: str
    distinct: int
    entropy: float
    t: float
    t_ordered: float | None
    uniform_groups: int  # with one value throughout, which discloses it
    uniform_records: int  # in those
    by_taxonomy: bool = False  # whether t is the distance in a taxonomy


@frozen()
class WorstGroup:
    """The group of records that is farthest from the whole file in a confidential column, or holds least of it."""

    records: int
    alike: int  # how many records are in groups as bad
    bars: tuple[Bar, ...]  # shares in percent: `before` of the whole file, `after` of the group


@frozen()
class Demanded:
    """What is demanded of a confidential column, and reached in what is released."""

    column: str
    goals: tuple[Goal, ...]
    measured: str  # t: by "values", by their "order", or by a "taxonomy"
    uniform_before: int | None  # groups that gave one value away before; None in public
    groups_before: int | None  # of so many; None in public
    worst: WorstGroup | None  # None in public


@frozen()
class JudgedDemands:
    """What is demanded of confidential columns, how groups came to keep it, and what that cost."""

    columns: tuple[Demanded, ...]
    holds: bool  # counted again in the released file
    way: str
    said: str  # what that way does
    loss_before: (
        float | None
    )  # of groups that need not keep it, in percent, before refining and rounding; None in public
    loss_after: float | None  # of those that do


@frozen()
class JudgedTree:
    """The dependence tree by which the columns that form groups were chosen."""

    measure: str
    names: tuple[str, ...]
    edges: tuple[tuple[int, int, float | None], ...]  # the strongest first; None: infinite
    chosen: tuple[int, ...]
    text: str  # the rule in words
    ties: int = 1  # choices as good by the tree
    tried: tuple[tuple[tuple[str, ...], float | None], ...] = ()  # the choices, and what each loses, in percent
    used: bool = True  # whether groups were formed on the chosen columns

    @property
    def degrees(self) -> list[tuple[str, int]]:
        """How many edges end at each column, the most first."""
        ends = [end for first, second, _ in self.edges for end in (first, second)]
        return sorted(((name, ends.count(j)) for j, name in enumerate(self.names)), key=lambda one: -one[1])
