"""The sentences of a report: what was promised, done and found, and what is not claimed."""

import platform
from collections.abc import Mapping
from typing import Any

import numpy as np

from microagg.io.databases import is_database, table_name
from microagg.partition import METHODS
from microagg.report.bins import SMALL_CELL
from microagg.report.figures import (
    AS_IT_IS,
    Judged,
    names_of,
    strata_sizes,
)
from microagg.report.parts import (
    Fact,
    Finding,
    LeftOut,
    Source,
    SourceFacts,
)
from microagg.report.text import count, counted, listed, percent, quoted, sentence, shown
from microagg.schema import Role

_SEARCHES = {
    "brute": "Every record is looked at; for a file of this size and width that is fast enough.",
    "tree": "A tree finds the nearest and farthest records, which is faster in a file of this size.",
}
_SCALES = {
    "standard": "every column has mean 0 and deviation 1 when groups are formed, so that all count alike",
    "range": "every column runs from 0 to 1 when groups are formed",
    "none": "columns are compared as they are, so those of large numbers decide the groups",
}


def what_was_done(release: Judged, public: bool) -> tuple[Fact, ...]:
    """Tell the recipe, with what was chosen and why."""
    recipe = release.recipe
    masked = names_of(release, Role.QUASI)
    known = METHODS.get(recipe.method)
    facts = [
        Fact("masked columns", counted(len(masked), "column"), ", ".join(masked)),
        Fact("k", str(recipe.k), "for each column on its own" if recipe.per_column else "for whole records"),
        Fact("method", shown(recipe.method), known.said if known else "a method of the caller's own"),
    ]
    options = {name: value for name, value in recipe.options.items() if name != "search"}
    if options:
        facts.append(Fact("its options", _settings(options)))
    if "search" in recipe.options:
        why = f"{_SEARCHES.get(recipe.options['search'], '')} The groups are the same either way."
        facts.append(Fact("search", shown(recipe.options["search"]), why.strip()))
    facts.append(_blocks(recipe.blocks))
    facts.append(_selected(release, public))
    facts.append(Fact("scaling", recipe.scale, _SCALES.get(recipe.scale, "")))
    facts.append(
        Fact("released", recipe.aggregate, f"each record has its group's {recipe.aggregate} in every masked column")
    )
    if recipe.integers == "round":
        facts.append(Fact("whole numbers", "rounded", "which moves means a little"))
    if recipe.refine:
        facts.append(_refined(recipe.refine, public))
    facts.append(_seed(recipe.options, recipe.refine))
    return tuple(facts)


def _settings(options: Mapping[str, Any]) -> str:
    return ", ".join(f"{shown(name)} = {shown(value)}" for name, value in options.items())


def _blocks(blocks: Mapping[str, Any]) -> Fact:
    if not blocks:
        return Fact("blocks", "none", "The file, or each stratum, was grouped as a whole.")
    most = f" of at most {count(blocks['max_block'])} records" if "max_block" in blocks else ""
    return Fact(
        "blocks",
        f"{count(blocks['count'])} by {shown(blocks['by'])}{most}",
        "Each is grouped by itself, so that time grows with the number of records and not with its square. It costs "
        "some information.",
    )


def _selected(release: Judged, public: bool) -> Fact:
    if release.selection is None:
        return Fact("grouped on", "all masked columns", "")
    chosen = ", ".join(map(shown, release.selection.columns))
    ties = release.selection.n_alternatives
    why = "" if public else release.selection.reason
    if ties > 1 and not public:
        why += f"; {count(ties)} choices tie, the first was taken"
    return Fact("grouped on", chosen, sentence([why + "." if why else "", "The other columns follow those groups."]))


def _refined(refine: Mapping[str, Any], public: bool) -> Fact:
    effort, moves = refine["effort"], refine.get("moves", 0)
    title = effort if isinstance(effort, str) else "by a number of moves"
    price = "" if public else ", but an intruder finds the right group more often"
    return Fact(
        "refined",
        title,
        f"Records were then moved between neighbouring groups to lose less, {count(moves)} moves tried. k is the same"
        f"{price}.",
    )


def _seed(options: Mapping[str, Any], refine: Mapping[str, Any]) -> Fact:
    own = {name: value for name, value in options.items() if name in ("seed", "random_state")}
    if refine:
        return Fact(
            "seed", str(refine["seed"]), "of the moves that refine: the same file and recipe give the same groups."
        )
    if own:
        return Fact("seed", _settings(own), "the method's own")
    return Fact("seed", "none", "Masking draws nothing at random: the same file and recipe give the same groups.")


def versions(release: Judged) -> tuple[Fact, ...]:
    """Tell the versions that ran."""
    return (
        Fact("microagg", shown(release.recipe.version)),
        Fact("Python", platform.python_version()),
        Fact("NumPy", np.__version__),
    )


def title(source: SourceFacts | None) -> str:
    """Head the page: by the file's name, or a database's table; where that database is must not get out."""
    if source is None:
        return "Masked microdata"
    return shown(table_name(source.name) or "Masked microdata" if is_database(source.name) else source.name)


def source_facts(source: SourceFacts | None) -> Source | None:
    """Tell where the original came from, for the house."""
    if source is None:
        return None
    facts = [Fact("name", shown(source.name)), Fact("kind", shown(source.kind))]
    if source.records is not None:
        facts.append(Fact("records", count(source.records)))
    if source.columns is not None:
        facts.append(Fact("columns", count(source.columns)))
    facts += [Fact(shown(name), shown(value)) for name, value in source.details.items()]
    if source.sha256:
        facts.append(Fact("SHA-256", shown(source.sha256), "of the original file, to tell later which one this was"))
    return Source(tuple(facts))


def left_out(release: Judged, public: bool) -> LeftOut:
    """Tell how many records were left out; in public not exactly where they are few."""
    number = release.n_dropped
    read = number + len(release.groups)
    if not number:
        return LeftOut(0, "No record was left out.")
    small = SMALL_CELL * release.recipe.k
    share = 100.0 * number / read
    if public:
        amount = f"Fewer than {small} records were" if number < small else f"About {max(1, round(share))} % were"
        return LeftOut(None, f"{amount} left out for want of a value.")
    return LeftOut(
        number,
        f"{counted(number, 'record')} of {count(read)} ({percent(share)}) had no value in a masked, stratum or unit "
        f"column and {'is' if number == 1 else 'are'} not in the release. If such records differ from the others, so "
        f"does the file.",
    )


def checklist(release: Judged, lone: Mapping[str, int], public: bool) -> tuple[Finding, ...]:
    """List what to tick off before the file goes out. In public nothing that an intruder could use."""
    recipe = release.recipe
    found = [_identifiers(release, public)]
    for role, topic in ((Role.UNIT, "units"), (Role.DROP, "other columns")):
        names = names_of(release, role)
        if names and not public:
            every = f" Every group holds {recipe.k} different ones." if role is Role.UNIT else ""
            found.append(Finding("good", topic, f"{listed(names)} left out of the release.{every}"))
    topics = {Role.KEEP: "kept columns", Role.CONFIDENTIAL: "confidential columns", Role.WEIGHT: "weights"}
    found += [_as_they_are(topic, names_of(release, role), lone) for role, topic in topics.items()]
    found.append(_strata(release, public))
    if release.excel_safe:
        found.append(
            Finding(
                "note", "formulas",
                "In text, and in names of columns, an apostrophe was put before what a spreadsheet would take for a "
                "formula. But for that, columns that are called unchanged are.",
            )
        )  # fmt: skip
    if recipe.aggregate == "median":
        found.append(Finding("look", "medians", "The median of an odd group is somebody's own value. Means are not."))
    if recipe.integers == "float":
        found.append(Finding("note", "whole numbers", "Released with decimals, as means are."))
    if release.reordered:
        found.append(Finding("note", "row order", "Rows are sorted by their released values, which tells nothing."))
    elif not public:
        found.append(
            Finding(
                "look", "row order",
                "Rows are in the order of the original file. That order helps an intruder who holds an ordered file: "
                "sort the rows by what is released (mask --reorder), unless users need it.",
            )
        )  # fmt: skip
    found.append(
        Finding("note", "empty cells", "Masked columns have none. Columns released as they are may, where they had.")
    )
    return tuple(found)


def _identifiers(release: Judged, public: bool) -> Finding:
    names = names_of(release, Role.IDENTIFIER)
    index = " Row labels of the frame were dropped too." if release.index_dropped and not public else ""
    if public:
        text = (
            "Columns that name a person were removed."
            if names
            else "The file had no columns declared to name a person."
        )
        return Finding("good" if names else "note", "identifiers", text)
    if not names:
        return Finding(
            "look", "identifiers",
            f"None were named. If a column names a person (number, name, address), name it and mask again.{index}",
        )  # fmt: skip
    return Finding("good", "identifiers", f"{listed(names)} dropped.{index}")


def _as_they_are(topic: str, names: list[str], lone: Mapping[str, int]) -> Finding:
    if not names:
        return Finding("note", topic, "There are none.")
    own = [f"{quoted(name)} ({counted(lone[name], 'record')})" for name in names if lone.get(name)]
    tail = f" Values that nobody else has: {', '.join(own)}." if own else ""
    return Finding(
        "look" if own else "note", topic, f"{listed(names)}: released unchanged, and not covered by k.{tail}"
    )


def _strata(release: Judged, public: bool) -> Finding:
    names = names_of(release, Role.STRATUM)
    if not names:
        return Finding("note", "strata", "There are none: groups were formed over the whole file.")
    sizes = strata_sizes(release)
    number = counted(int(sizes.size), "stratum", "strata")
    text = f"{listed(names)}: {number}, released unchanged; no group crosses them."
    if public:
        return Finding("note", "strata", f"{text} Each has at least {release.recipe.k} records.")
    small = int(np.count_nonzero(sizes < SMALL_CELL * release.recipe.k))
    text += f" The smallest has {count(int(sizes.min()))} records, the largest {count(int(sizes.max()))}."
    if small:
        return Finding(
            "look",
            "strata",
            f"{text} {counted(small, 'has', 'have')} fewer than {SMALL_CELL} k: masked values are coarse there.",
        )
    return Finding("good", "strata", text)


def limits(release: Judged, public: bool) -> tuple[str, ...]:
    """Say what is not claimed."""
    roles = release.recipe.roles
    other = any(roles.get(role.value) for role in AS_IT_IS)
    found = [
        "k-anonymity is about the masked columns and the strata. "
        + ("It says nothing about the columns released as they are." if other else "No other column is released."),
        "It hides who is who among records alike. It does not hide what all of them have in common.",
        "It does not protect against an intruder who knows confidential values of a person already, or who took part "
        "in the survey and knows who else did.",
        "Two releases of one file, or of files with the same persons, protect less than one: groups that differ can be "
        "set against each other.",
        "It gives no differential privacy.",
        "Analyses of the masked file find too little variation, the less the larger the loss; means of whole columns "
        "are kept where means are released unrounded.",
    ]
    if release.recipe.aggregate == "mean":
        found.append(
            "A mean tells a group's total: where the others have little, the second largest member, who knows its own "
            "value, can work out the largest closely."
        )
    if release.recipe.per_column:
        found.insert(0, "k holds for each column only. Whole records may be unique, and be found.")
    if public:
        found.append(
            "This page is the public version. It shows the masked file only, in bins of at least "
            f"{SMALL_CELL} k = {SMALL_CELL * release.recipe.k} records, and losses in words, where no one group could "
            "have made them: exact figures of loss and risk, set against the masked file, would give original values "
            "away. They were measured and stay inside."
        )
    else:
        found.append(
            "Linkage is one intruder's best guess, by these columns and this distance. Another may know more, or less."
        )
        found.append(
            "This page is for the house. Figures of loss and the distributions before masking, set against the masked "
            "file, give original values away. There is a public version without them."
        )
    return tuple(found)
