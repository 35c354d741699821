"""The parts of a recipe that say what is promised beside k: of units, and of confidential columns."""

from dataclasses import dataclass
from typing import Any

from microagg.diversity import Limits
from microagg.errors import InvalidParameter, setting
from microagg.partition.diverse import WAYS
from microagg.recipe._choice import NAME, NAMES, NUMBER, NUMBERS, WHOLE, WORD, Part, choose


@dataclass(frozen=True)
class UnitChoices(Part):
    """What is promised of units, and what is released of them, where one is named."""

    share: str = choose(
        "limited",
        WORD,
        "how much of a group one unit may hold",
        words=("limited", "any"),
        keyword="unit_share",
        more='"limited": no more than 1/k of its rows, hence k different units; "any": k different units, of which one '
        "may have most of the rows.",
    )
    release: str = choose(
        "drop",
        WORD,
        "whether the rows of a unit can be told to belong together",
        words=("drop", "pseudonym"),
        keyword="unit_release",
        more='"pseudonym": units get numbers that follow from what is released, and k of them have the same rows, all '
        'of them alike; that costs several times the loss of "drop".',
    )
    household: tuple[Any, ...] = choose(
        (),
        NAMES,
        "masked columns that all rows of a unit share, as a household's income; others are found by themselves",
    )
    wave: Any = choose(None, NAME, "the column that numbers the rows of a unit, such as the year of a panel")
    order: tuple[Any, ...] = choose(
        (),
        NAMES,
        "the masked columns that put the rows of a unit in order, falling",
        keyword="unit_order",
        more="The first number that is not the household's, then the others, where this is left out.",
    )
    small: str = choose(
        "suppress",
        WORD,
        "what becomes of units of which fewer than k have as many rows, or the same waves",
        words=("suppress", "error"),
        keyword="small_units",
    )

    def _check(self) -> None:
        if self.release == "drop":
            for name, keyword in (("household", "household"), ("wave", "wave"), ("order", "unit_order")):
                if getattr(self, name):
                    pseudonym = setting("unit_release", "pseudonym")
                    raise InvalidParameter(
                        f"{keyword} goes with {pseudonym}. Leave it out, or choose so.", parameter=keyword
                    )
        if self.wave is not None and self.order:
            raise InvalidParameter(
                "wave puts the rows of a unit in order already. Leave one of both out.", parameter="unit_order"
            )


@dataclass(frozen=True)
class DiversityChoices(Part):
    """What records that look alike may give away of confidential columns together."""

    l: int | None = choose(  # noqa: E741 (its name in the literature)
        None,
        WHOLE,
        "at least so many different values of each confidential column among records that look alike",
        least=2,
        more="Distinct l-diversity, or p-sensitivity.",
    )
    entropy: float | None = choose(
        None,
        NUMBER,
        "the same, counting how often each value occurs: exp(entropy) of the values is at least this",
        keyword="entropy_l",
        more="Entropy l-diversity.",
    )
    recursive: tuple[float, int] | None = choose(
        None,
        NUMBERS,
        "numbers c and l, as 3,2: the commonest value has fewer records than c times those from the l-th commonest on",
        keyword="recursive_l",
        more="Recursive (c, l)-diversity.",
    )
    l_columns: tuple[Any, ...] = choose(
        (), NAMES, "which confidential columns l, entropy_l and recursive_l are about, if not all"
    )
    t: float | None = choose(
        None,
        NUMBER,
        "how far the values of records that look alike may be from those of the whole file, at most: above 0, below 1",
        more="t-closeness: by the earth mover's distance where values have an order, or a taxonomy; else by half the "
        "sum of absolute differences.",
    )
    t_columns: tuple[Any, ...] = choose((), NAMES, "which confidential columns t is about, if not all")
    way: str = choose(
        "auto",
        WORD,
        "how groups come to keep that",
        words=("auto", *WAYS),
        keyword="diversity",
        more="; ".join(f'"{way}": {said}' for way, said in WAYS.items())
        + '. "auto" tries those that fit and takes the one that loses least.',
    )

    @property
    def limits(self) -> Limits:
        """What is demanded of a column that all of it is about."""
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
        asked = (("l_columns", self.l_columns, self.limits.counts_values), ("t_columns", self.t_columns, self.t))
        for keyword, said, wanted in asked:
            if said and not wanted:
                choice = keyword[0]
                raise InvalidParameter(
                    f"{setting(keyword)} names columns, and {setting(choice)} asks nothing of them. Choose {choice}, "
                    f"or leave it out.",
                    parameter=keyword,
                )
        if self.way != "auto" and not self.demanded:
            raise InvalidParameter(
                f"{setting('diversity', self.way)} goes with {setting('l')} or {setting('t')}. Choose one, or leave it "
                f"out.",
                parameter="diversity",
            )
