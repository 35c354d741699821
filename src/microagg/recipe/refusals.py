"""What is refused together: a row for each two choices, and the rows of the choices that are in one part of a recipe.

It imports no parts: each asks for its own rows when it is made. `microagg.recipe.combine` has the whole table.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

from microagg.algorithms.methods import BY_TREE
from microagg.algorithms.selection import COUNTED
from microagg.base.frozen import frozen
from microagg.errors import InvalidParameter, setting


class Choices(Protocol):
    """What holds choices: a `Combination`, or a part of a recipe."""

    @property
    def facts(self) -> dict[str, Any]:
        """What sentences name."""

    def made(self, choice: str) -> bool:
        """Return whether a choice is made, or made with a value: "moments", "moments=variance"."""


@frozen()
class Refusal:
    """A choice, what it cannot be combined with, and what is then said.

    A choice is a keyword, as "moments", or one with a value: "moments=variance". The `other` is a choice too, or, where
    `when` says whether it is the case, some words for the documentation. `when` is asked of a `Combination`, or of the
    part of a recipe that has both choices. In the sentence (the value, the limit, the remedy) {0} is the choice, {1}
    the other, and names in braces are `facts`. `blamed` is the parameter of the error, if it is not the choice. `named`
    is what the documentation calls the choice, if only some of its values are refused.
    """

    choice: str
    other: str
    sentence: str
    when: Callable[[Any], Any] | None = None
    blamed: str = ""
    named: str = ""

    @property
    def said(self) -> tuple[str, str]:
        """The choice and the other, with a mark for each choice."""
        return mark(self.choice), mark(self.other) if self.when is None else self.other

    def applies(self, to: Choices) -> bool:
        """Return whether both choices are made."""
        return to.made(self.choice) and bool(to.made(self.other) if self.when is None else self.when(to))

    def error(self, facts: Mapping[str, Any]) -> InvalidParameter:
        """Return what is raised."""
        blamed = (self.blamed or self.choice.partition("=")[0]).format_map(facts)
        return InvalidParameter(self.sentence.format(*self.said, **facts), parameter=blamed)


def refuse_by(rows: Iterable[Refusal], choices: Choices) -> None:
    """Raise the first refusal that applies."""
    for one in rows:
        if one.applies(choices):
            raise one.error(choices.facts)


def mark(choice: str) -> str:
    """Return a choice with a mark, which is written as Python or a command line has it."""
    keyword, _, value = choice.partition("=")
    return setting(keyword, {"True": True, "False": False, "": None}.get(value, value))


def _counted(select: Any) -> bool:
    """Return whether the columns that form groups are chosen by their number."""
    return isinstance(select.by, str) and (select.rule or BY_TREE[select.by].rule) in COUNTED


def _chosen(keyword: str, way: str, when: Callable[[Any], Any]) -> Refusal:
    """A choice that works only with columns that are chosen in a way."""
    sentence = f"{keyword} works only with columns chosen {way}. Leave it out, or choose columns in that way."
    return Refusal(keyword, f"columns that are not chosen {way}", sentence, when)


def _cut(keyword: str, needed: str, when: Callable[[Any], Any]) -> Refusal:
    """A choice that works only with some blocks."""
    sentence = f"{keyword} works only with {needed}. Leave it out, or choose how the file is cut."
    return Refusal(keyword, f"anything but {needed}", sentence, when)


OF_PARTS: dict[str, tuple[Refusal, ...]] = {
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
                f"{keyword} works only with {mark('unit_release=pseudonym')}. Leave it out, or choose that.",
            )
            for keyword in ("household", "wave", "unit_order")
        ),
        Refusal("unit_order", "wave", "the rows of a unit are sorted by its wave already. Leave one of the two out."),
    ),
    "DiversityChoices": (
        Refusal(
            "l_columns",
            "no l, entropy_l or recursive_l",
            f"{{0}} names columns, but {mark('l')} is not set. Set l, or leave the names out.",
            lambda it: not it.limits.counts_values,
        ),
        Refusal(
            "t_columns",
            "no t",
            f"{{0}} names columns, but {mark('t')} is not set. Set t, or leave the names out.",
            lambda it: not it.t,
        ),
        Refusal(
            "diversity",
            "neither l nor t",
            f"{{way}} works only with {mark('l')} or {mark('t')}. Set one of them, or leave it out.",
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
            f"{{1}} takes the set of columns that loses least. Leave out {mark('choose')}.",
        ),
    ),
    "BlockChoices": (
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
            f"{mark('blocks=univariate')}, where it names several",
            "block_columns names {named} columns, and univariate blocks are cut by one. Name one, or choose "
            f"{mark('blocks=orthants')}.",
            lambda it: it.by == "univariate" and len(it.columns) > 1,
        ),
    ),
    "Join": (
        Refusal(
            "on",
            "no file of households",
            f"on works only with a file of households. Leave it out, or name the file: {mark('households')}.",
            lambda it: it.households is None,
        ),
    ),
}
"""By the class of the part, in the order in which they are asked."""
