"""The sentences of a report: what was promised, done and found, and what is not claimed."""

from collections.abc import Mapping
from typing import Any

from microagg.columns.roles import Role
from microagg.files.databases import is_database, table_name
from microagg.judge import Judgement
from microagg.judge.bins import SMALL_CELL
from microagg.judge.done import kinds, missing_values, released, rounding
from microagg.judge.parts import Fact, Finding, JudgedGroups, SourceFacts, SourceSection, WrittenFacts
from microagg.judge.run import JudgedBlocks, JudgedRun, Refined
from microagg.judge.text import count, counted, listed, quoted, sentence, shown
from microagg.judge.topics import TOPICS, confidential, moments, weights

TWO_RELEASES = (
    "Two releases of one file, or of files with the same persons, protect less than one: groups that differ can be "
    "compared."
)
_SEARCHES = {
    "brute": "Every record is looked at; for a file of this size and width that is fast enough.",
    "auto": "Each part of the file is searched by a tree where that is faster; else every record is looked at.",
    "tree": "A tree finds the nearest and farthest records, which is faster in a file of this size.",
}
_SCALES = {
    "standard": "every column has mean 0 and standard deviation 1 when groups are formed",
    "range": "every column runs from 0 to 1 when groups are formed",
    "none": "columns are compared without scaling, so that columns of large numbers decide the groups",
}


def what_was_done(judgement: Judgement) -> tuple[Fact, ...]:
    """Return the choices of the recipe, with what was settled and why."""
    run, public = judgement.run, judgement.public
    masked = run.names(Role.QUASI)
    facts = [
        Fact("masked columns", counted(len(masked), "column"), ", ".join(masked)),
        kinds(run),
        Fact("k", str(run.k), _counted(judgement)),
        Fact("method", run.method, "a method from outside microagg" if run.said is None else run.said),
    ]
    if run.options:
        facts.append(Fact("its options", _settings(run.options)))
    if run.search is not None:
        why = f"{_SEARCHES.get(run.search, '')} The groups are the same either way."
        facts.append(Fact("search", shown(run.search), why.strip()))
    facts += confidential.done(judgement)
    facts.append(_blocks(run.blocks))
    facts += [_selected(run), *_once(judgement)]
    equally = ", so that all count equally" if run.scale == "standard" and not run.importance else ""
    facts.append(Fact("scaling", run.scale, f"{_SCALES.get(run.scale, '')}{equally}"))
    facts += _importance(run)
    facts.append(missing_values(judgement))
    facts += released(run) + [fact for one in TOPICS for fact in one.done(judgement)] + weights.done(judgement)
    facts.append(rounding(judgement))
    if run.refined is not None:
        facts.append(_refined(run.refined, public))
    facts.append(_seed(run))
    return tuple(facts)


def _counted(judgement: Judgement) -> str:
    """Return what k counts."""
    units = judgement.groups.units
    if judgement.run.per_column:
        return "for each column separately"
    if units is None:
        return "for whole records"
    if units.whole:
        return "whole units with all their rows"
    return "different units" + (", none with more than 1/k of a group's rows" if units.in_part else "")


def _settings(options: Mapping[str, Any]) -> str:
    return ", ".join(f"{shown(name)} = {shown(value)}" for name, value in options.items())


def _blocks(blocks: JudgedBlocks | None) -> Fact:
    if blocks is None:
        return Fact("blocks", "none", "The file, or each stratum, was grouped as a whole.")
    most = "" if blocks.max_block is None else f", cut at {count(blocks.max_block)} records"
    return Fact(
        "blocks",
        f"{count(blocks.count)} by {blocks.by}{most}",
        "Each block is grouped separately. This saves time in a large file: time grows with the number of records, and "
        "not with its square. It costs some information. A block that is too small for k joins another, which can then "
        "have more records.",
    )


def _once(judgement: Judgement) -> list[Fact]:
    """Return which columns were masked once for each unit; nothing where none were."""
    units = judgement.groups.units
    if units is None or not units.once:
        return []
    why = (
        "All rows of a unit have the same value there. Units were grouped first, and all rows of a group of units get "
        "one value; then the rows were grouped by the other columns, inside of these groups of units."
    )
    return [Fact("masked once a unit", listed(units.once), why)]


def _importance(run: JudgedRun) -> list[Fact]:
    """Return how much columns count; nothing where all count the same."""
    if not run.importance:
        return []
    named = ", ".join(f"{quoted(name)} {own:g}" for name, own in run.importance.items())
    others = "Other columns have importance 1." if len(run.importance) < len(run.names(Role.QUASI)) else ""
    counts = "A column with importance 2 counts twice, when groups are formed and in the loss of the file."
    return [Fact("importance", named, sentence([counts, others]))]


def _selected(run: JudgedRun) -> Fact:
    if run.grouped_on is None and run.left_aside:
        are, form = ("has", "it forms") if len(run.left_aside) == 1 else ("have", "they form")
        return Fact(
            "grouped on",
            f"all masked columns but {listed(run.left_aside)}",
            f"{listed(run.left_aside)} {are} importance 0: {form} no groups. The groups of the others are used.",
        )
    if run.grouped_on is None:
        return Fact("grouped on", "all masked columns", "")
    why = run.reason
    if run.ties > 1:
        which = "the one that loses least" if run.tried else "the first"
        why += f"; {count(run.ties)} choices are equally good, and {which} was taken"
    others = "The other masked columns use the same groups."
    return Fact("grouped on", ", ".join(run.grouped_on), sentence([why + "." if why else "", others]))


def _refined(refined: Refined, public: bool) -> Fact:
    price = "" if public else ", but an intruder finds the right group more often than without it"
    return Fact(
        "refined",
        refined.effort or "by a number of moves",
        f"Records were then moved between neighbouring groups to lose less information; {count(refined.moves)} moves "
        f"were tried. k is the same{price}.",
    )


def _seed(run: JudgedRun) -> Fact:
    own = {name: value for name, value in run.options.items() if name in ("seed", "random_state")}
    if run.refined is not None:
        return Fact(
            "seed",
            str(run.refined.seed),
            "It decides which moves are tried. The same file, recipe and seed give the same groups.",
        )
    if own:
        return Fact("seed", _settings(own), "It is an option of the method.")
    if run.nominal == "draw" and any(kind.name == "nominal" for kind in run.kinds.values()):
        return Fact("seed", "secret", "It decides which categories are drawn. It is in the recipe, which is internal.")
    return Fact("seed", "none", "Masking draws nothing at random: the same file and recipe give the same groups.")


def versions(run: JudgedRun) -> tuple[Fact, ...]:
    """Return the versions of the software that ran."""
    return tuple(Fact(name, version) for name, version in run.versions.items())


def title(source: SourceFacts | None) -> str:
    """Return the title: the file's name, or the table's, since the address of a database must not be disclosed."""
    if source is None:
        return "Masked microdata"
    return shown(table_name(source.name) or "Masked microdata" if is_database(source.name) else source.name)


def source_facts(source: SourceFacts | None) -> SourceSection | None:
    """Return where the original came from, for the internal report."""
    if source is None:
        return None
    facts = [Fact("name", shown(source.name)), Fact("kind", shown(source.kind))]
    if source.records is not None:
        facts.append(Fact("records", count(source.records)))
    if source.columns is not None:
        facts.append(Fact("columns", count(source.columns)))
    facts += [Fact(shown(name), shown(value)) for name, value in source.details.items()]
    if source.sha256:
        facts.append(Fact("SHA-256", shown(source.sha256), "of the original file, to recognise it later"))
    return SourceSection(tuple(facts))


def checklist(judgement: Judgement, written: WrittenFacts) -> tuple[Finding, ...]:
    """Return what to check before the file is released. In public nothing that an intruder could use."""
    run, public = judgement.run, judgement.public
    found = [_identifiers(run, public)]
    for role, topic in ((Role.UNIT, "units"), (Role.DROP, "other columns")):
        names = run.names(role)
        if names:
            found.append(Finding("good", topic, _dropped(role, names, judgement.groups)))
    topics = {Role.KEEP: "kept columns", Role.CONFIDENTIAL: "confidential columns", Role.WEIGHT: "weights"}
    by_group = weights.checked(judgement)
    for role, topic in topics.items():
        more = confidential.covered(judgement) if role is Role.CONFIDENTIAL else ""
        unchanged = _unchanged(topic, run.names(role), judgement.alone.by_column, more)
        found.append(by_group if by_group is not None and role is Role.WEIGHT else unchanged)
    found.append(_strata(judgement))
    if written.excel_safe:
        found.append(
            Finding(
                "note", "formulas",
                "A spreadsheet could read some texts and names of columns as formulas. An apostrophe was put before "
                "them. Apart from that, the columns that this page calls unchanged are unchanged.",
            )
        )  # fmt: skip
    if run.aggregate == "median" and any("mean" in kind.said for kind in run.kinds.values()):
        median = "The median of an odd number of members is the value of one member; a mean is not."
        if run.moments != "none":
            median += " Medians of numbers were spread, which does not hide that value: how far can be worked out."
        found.append(Finding("look", "medians", median))
    if run.rounding == "none":
        found.append(Finding("note", "whole numbers", "They are released with decimals, because means have decimals."))
    if written.reordered or (judgement.groups.units is not None and judgement.groups.units.whole):
        found.append(Finding("note", "row order", "Rows are sorted by their released values, which reveals nothing."))
    elif not public:
        found.append(
            Finding(
                "look", "row order",
                "Rows are in the order of the original file. That order helps an intruder who has a list in the same "
                "order. Sort the rows by their released values, unless users need the original order."
                + (" `microagg.write` sorts, unless the recipe says same_order." if written.reordered is None else ""),
            )
        )  # fmt: skip
    found.append(_empty_cells(judgement))
    return tuple(found)


def _dropped(role: Role, names: list[str], groups: JudgedGroups) -> str:
    """Return what became of units, and of columns that are left out."""
    if role is not Role.UNIT or groups.units is None:
        return f"{listed(names)} {_are(names)} left out of the release."
    if groups.units.whole:
        return (
            f"{listed(names)} {_are(names)} replaced by numbers that follow from the released rows alone. Rows with "
            f"the same number belong to one unit; at least {groups.promised} numbers have the same rows."
        )
    return (
        f"{listed(names)} {_are(names)} left out of the release. Every group holds at least {groups.promised} "
        f"different units."
    )


def _are(names: list[str]) -> str:
    return "is" if len(names) == 1 else "are"


def _empty_cells(judgement: Judgement) -> Finding:
    """Return whether masked columns have empty cells in the release, and whether they had them before."""
    missing = judgement.missing
    others = "Columns released unchanged keep their empty cells."
    if not missing.any_released:
        return Finding("note", "empty cells", f"Masked columns have no empty cells in the release. {others}")
    counts = "k counts an empty cell as a value: records of one group are empty in the same cells."
    if missing.cells is None:
        return Finding("note", "empty cells", f"Masked columns have some empty cells. {counts} {others}")
    changed = bool(missing.filled or missing.blanked)
    which = (
        f"{count(missing.blanked or 0)} of them had a value before. {count(missing.filled or 0)} cells that were empty "
        f"before have a value now."
    )
    return Finding(
        "look" if changed else "good",
        "empty cells",
        f"Masked columns have {counted(missing.cells, 'empty cell')} in the release"
        f"{'. ' + which if changed else ', in the same places as before.'} {counts} {others}",
    )


def _identifiers(run: JudgedRun, public: bool) -> Finding:
    names = run.names(Role.IDENTIFIER)
    index = " Row labels of the frame were left out too." if run.index_dropped else ""
    if public:
        text = (
            "Columns that identify a person directly were removed."
            if run.has_identifiers
            else "No column was declared as one that identifies a person directly."
        )
        return Finding("good" if run.has_identifiers else "note", "identifiers", text)
    if not names:
        return Finding(
            "look", "identifiers",
            f"You named none. If a column identifies a person directly (number, name, address), name it as an "
            f"identifier and mask again.{index}",
        )  # fmt: skip
    return Finding("good", "identifiers", f"{listed(names)} {_are(names)} left out of the release.{index}")


def _unchanged(topic: str, names: list[str], lone: Mapping[str, int], more: str = "") -> Finding:
    if not names:
        return Finding("note", topic, "There are none.")
    own = [f"{quoted(name)} ({counted(lone[name], 'record')})" for name in names if lone.get(name)]
    tail = f" Some values are unique: {', '.join(own)}." if own else ""
    return Finding(
        "look" if own else "note",
        topic,
        f"{listed(names)} {_are(names)} released unchanged, and k does not cover {'it' if len(names) == 1 else 'them'}."
        f"{more}{tail}",
    )


def _strata(judgement: Judgement) -> Finding:
    found, k = judgement.strata, judgement.run.k
    if found is None:
        return Finding("note", "strata", "There are none: groups were formed over the whole file.")
    number = counted(found.count, "stratum", "strata")
    text = f"{listed(judgement.run.names(Role.STRATUM))}: {number}, released unchanged. Each group is in one stratum."
    if found.smallest is None or found.largest is None:
        return Finding("note", "strata", f"{text} Each stratum has at least {k} records.")
    text += f" The smallest stratum has {count(found.smallest)} records, the largest {count(found.largest)}."
    if found.small:
        return Finding(
            "look",
            "strata",
            f"{text} {counted(found.small, 'stratum has', 'strata have')} fewer than {SMALL_CELL} k = "
            f"{SMALL_CELL * k} records: masked values are less exact there.",
        )
    return Finding("good", "strata", text)


def limits(judgement: Judgement) -> tuple[str, ...]:
    """Return what is not claimed."""
    run, public = judgement.run, judgement.public
    other = bool(run.unchanged)
    more = ", the strata and the weights" if run.weights_by_group else " and the strata"
    found = [
        f"k-anonymity is about the masked columns{more}. "
        + ("It says nothing about the columns released unchanged." if other else "No other column is released."),
        "k-anonymity hides which of several identical records belongs to a person. It does not hide what all of these "
        "records have in common.",
        "It does not protect against an intruder who already knows confidential values of a person, or who took part "
        "in the survey and knows who else did.",
        TWO_RELEASES,
        "It gives no differential privacy.",
        moments.varies(judgement),
    ]
    if run.aggregate == "mean":
        total = (
            "The mean of a group and its size give the total of the group. If the other members have little of that "
            "total, the member (a person, household or firm) with the second largest value can subtract their own "
            "value and estimate the largest one closely."
        )
        found.append(sentence([total, moments.dominance(judgement)]))
    found += confidential.limits(judgement) + [text for one in TOPICS for text in one.limits(judgement)]
    if run.per_column:
        found.insert(
            0, "k holds for each column separately. Whole records may be unique, and an intruder may find them."
        )
    if public:
        found.append(
            "This page is the public version. It shows the masked file only, in bins and categories of at least "
            f"{SMALL_CELL} k = {SMALL_CELL * run.k} records. It shows losses in words only, and only where no single "
            "group could have caused them. Exact figures of loss and risk, together with the masked file, would reveal "
            "original values. They were measured, and are internal."
        )
    else:
        found.append(
            "Linkage is the best guess of one intruder, who knows these columns and uses this distance. Another "
            "intruder may know more, or less."
        )
        found.append(
            "This page is internal. It shows figures of loss and the distributions before masking. Together with the "
            "masked file, these reveal original values. There is a public version without them."
        )
    return tuple(found)
