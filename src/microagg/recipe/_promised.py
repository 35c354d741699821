"""The parts of a recipe that say what is promised beside k: of units, and of confidential columns."""

from typing import Any

from microagg.algorithms.diversity.demand import Limits
from microagg.algorithms.diversity.ways import WAYS
from microagg.base.frozen import frozen
from microagg.errors import setting
from microagg.recipe._choice import NAME, NAMES, NUMBER, NUMBERS, WHOLE, WORD, Part, choose


@frozen()
class UnitChoices(Part):
    """What is promised of units, and what is released of them, if one is named."""

    share: str = choose(
        "limited",
        WORD,
        "the share of a group that one unit may have",
        words=("limited", "any"),
        keyword="unit_share",
        more='"limited": at most 1/k of the rows of the group, so that it holds k different units; "any": k different '
        "units, one of which may have most of the rows.",
    )
    release: str = choose(
        "drop",
        WORD,
        "whether users can see which rows belong to the same unit",
        words=("drop", "pseudonym"),
        keyword="unit_release",
        more='"pseudonym": units get numbers that follow from what is released, and k units have identical rows, all '
        'of them; that costs several times the loss of "drop".',
    )
    constant: str = choose(
        "auto",
        WORD,
        "how masked columns are masked that have one value for all rows of a unit",
        words=("auto", "row", "once"),
        keyword="unit_constant",
        more='"once": units are grouped by these columns first, and all rows of a unit release the same; "row": each '
        "row with its own group, so that a unit with many rows is in many groups, whose means can disclose its value. "
        '"auto": "once" if units have more than three rows on average and a number or date is constant in them, and '
        'always with ``unit_release="pseudonym"``.',
    )
    household: tuple[Any, ...] = choose(
        (),
        NAMES,
        "masked columns with one value for all rows of a unit, such as a household's income; others are detected",
    )
    wave: Any = choose(None, NAME, "the column that numbers the rows of a unit, such as the year of a panel")
    order: tuple[Any, ...] = choose(
        (),
        NAMES,
        "the masked columns by which the rows of a unit are sorted, the largest first",
        keyword="unit_order",
        more="By default the first column of numbers that is not the household's, then the others.",
    )
    small: str = choose(
        "suppress",
        WORD,
        "what is done with units if fewer than k of them have the same number of rows, or the same waves",
        words=("suppress", "error"),
        keyword="small_units",
    )


@frozen()
class DiversityChoices(Part):
    """What records that look the same may together disclose of confidential columns."""

    l: int | None = choose(  # noqa: E741 (its name in the literature)
        None,
        WHOLE,
        "how many different values each confidential column must have among records that look the same, at least",
        least=2,
        more="Distinct l-diversity, or p-sensitivity.",
    )
    entropy: float | None = choose(
        None,
        NUMBER,
        "as l, but it also counts how often each value occurs: exp(entropy) of the values is at least this",
        keyword="entropy_l",
        more="Entropy l-diversity.",
    )
    recursive: tuple[float, int] | None = choose(
        None,
        NUMBERS,
        "two numbers c and l, such as 3,2: the most frequent value has fewer records than c times all records from the "
        "l-th most frequent value on",
        keyword="recursive_l",
        more="Recursive (c, l)-diversity.",
    )
    l_columns: tuple[Any, ...] = choose(
        (), NAMES, "the confidential columns that l, entropy_l and recursive_l apply to; by default all"
    )
    t: float | None = choose(
        None,
        NUMBER,
        "how far the values of records that look the same may at most be from those of the whole file: above 0, below "
        "1",
        more="t-closeness: by the earth mover's distance if values have an order, or a taxonomy; otherwise by half the "
        "sum of absolute differences.",
    )
    t_columns: tuple[Any, ...] = choose((), NAMES, "the confidential columns that t applies to; by default all")
    way: str = choose(
        "auto",
        WORD,
        "how groups are made to keep l and t",
        words=("auto", *WAYS),
        keyword="diversity",
        more="; ".join(f'"{way}": {said}' for way, said in WAYS.items())
        + '. "auto" tries those that fit and takes the one with the lowest loss.',
    )

    @property
    def limits(self) -> Limits:
        """What is demanded of a column to which all of it applies."""
        return Limits(self.l, self.entropy, self.recursive, self.t)

    @property
    def demanded(self) -> bool:
        """Whether anything is demanded."""
        return self.limits != Limits()

    def _check(self) -> None:
        self.limits.check()
        if self.recursive is not None:
            c, rank = self.recursive
            object.__setattr__(self, "recursive", (c, int(rank)))  # as a command line writes it, both are fractions

    @property
    def facts(self) -> dict[str, Any]:
        """What is said of choices that do not go together."""
        return {"way": setting("diversity", self.way)}
