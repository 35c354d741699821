"""`microagg tree`: which columns depend on which, and the few that would form the groups."""

from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from microagg.algorithms.selection import Selection
from microagg.cli._opening import opened
from microagg.cli._terminal import Terminal, shown, table_of
from microagg.jobs.facts import tree_facts
from microagg.jobs.outputs import check_picture, save_picture
from microagg.jobs.trees import ColumnTree, by_a_tree, column_tree
from microagg.pictures.plots import draw_tree
from microagg.recipe import Recipe

_LISTED = 12  # choices that are listed; JSON has all


def run(
    terminal: Terminal,
    source: str,
    k: int | None,
    recipe: Path | None,
    output: Path | None,
    force: bool,
    chosen: dict[str, Any],
) -> None:
    """Find the dependence tree of the columns to mask."""
    check_picture(output, source, force)
    asked = None if recipe is None else Recipe.read(recipe)
    file = opened(terminal, source, recipe, k, by_a_tree(asked, chosen))
    if file.inspection is not None:
        known = len(file.source.table.column_names)
        masked = len(file.recipe.masked(file.source.table.column_names))
        terminal.say(f"The columns to mask were guessed: {masked} of {known}. Name them with --quasi, or in a recipe.")
    with terminal.bar("weighing columns") as tell:
        tree = column_tree(file, tell)
    names, columns = tree.names, tree.chosen.columns
    terminal.show(_drawn(tree))
    terminal.say(
        f"\n{_listed(columns)} would represent all {len(names)} columns ({tree.chosen.reason}; "
        f"{tree.dependence.measure})."
    )
    _show_choices(terminal, tree.chosen)
    if tree.chosen.rule != "cover":
        terminal.say(f"The fewest columns whose edges add up to all columns: {_listed(tree.covering.columns)}.")
    named = asked.select.columns if asked is not None and "select" not in chosen else None
    if named:
        terminal.say(f"The recipe does not follow the tree: it names {_listed(named)}.")
    if output is not None:
        with terminal.wait("drawing"):
            save_picture(draw_tree(names, tree.dependence.edges, [names.index(name) for name in columns]), output)
        terminal.say(f"The tree: {shown(output)}")
    terminal.result({**tree_facts(tree), "named": None if named is None else list(named)})


def _listed(columns: Any) -> str:
    return ", ".join(map(shown, columns))


def _show_choices(terminal: Terminal, found: Selection) -> None:
    """Show the choices that tie, and what each loses where they were tried."""
    if found.n_alternatives < 2:
        return
    losses = sorted(found.losses.values())
    if found.ties > 1:
        which = "the one that loses least is taken" if losses else "the first is taken; --choose lowest-loss tries all"
        terminal.say(f"{found.ties} choices have as many edges; {which}:")
    else:
        mean = sum(losses) / len(losses)
        terminal.say(f"Lowest loss {losses[0]:.2f} %, mean {mean:.2f} %, highest {losses[-1]:.2f} %. The best:")
    ways = sorted(found.alternatives, key=found.losses.__getitem__) if losses else found.alternatives
    terminal.show(_choices(ways[:_LISTED], found))
    if len(ways) > _LISTED:
        terminal.say(f"... and {found.n_alternatives - _LISTED} more")


def _choices(ways: Any, found: Selection) -> Table:
    table = table_of("columns", *(("loss, %",) if found.losses else ()), left=1)
    for way in ways:
        table.add_row(Text(_listed(way)), *((f"{found.losses[way]:.2f}",) if found.losses else ()))
    return table


def _drawn(tree: ColumnTree) -> Tree:
    """Draw the tree from its busiest column down, with the degree of each column and the weight of each edge."""
    near: dict[int, list[tuple[int, float]]] = {j: [] for j in range(len(tree.names))}
    for edge in tree.dependence.edges:
        near[edge.first].append((edge.second, edge.weight))
        near[edge.second].append((edge.first, edge.weight))

    def named(j: int) -> tuple[Any, ...]:
        degree = len(near[j])
        return shown(tree.names[j]), (f"  {degree} edge{'' if degree == 1 else 's'}", "dim")

    busiest = max(near, key=lambda j: (len(near[j]), -j))
    drawn = Tree(Text.assemble(*named(busiest)))
    stack = [(busiest, -1, drawn)]
    while stack:
        column, above, branch = stack.pop()
        for other, weight in near[column]:
            if other != above:
                label = Text.assemble(*named(other), (f"  weight {weight:.3g}", "dim"))
                stack.append((other, column, branch.add(label)))
    return drawn
