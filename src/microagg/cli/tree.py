"""`microagg tree`: which columns depend on which, and a few that represent all."""

from pathlib import Path
from typing import Any

from rich.text import Text
from rich.tree import Tree

from microagg.cli._opening import opened
from microagg.cli._terminal import Terminal, shown
from microagg.desk.facts import tree_facts
from microagg.desk.pictures import check_picture, save_picture
from microagg.desk.trees import ColumnTree, column_tree
from microagg.plots import draw_tree


def run(
    terminal: Terminal,
    source: str,
    measure: str,
    count: int | None,
    recipe: Path | None,
    output: Path | None,
    force: bool,
    chosen: dict[str, Any],
) -> None:
    """Find the dependence tree of the columns to mask."""
    check_picture(output, source, force)
    file = opened(terminal, source, recipe, None, chosen)
    with terminal.wait("weighing every pair of columns"):
        tree = column_tree(file, measure, count)
    names, columns = tree.names, tree.chosen.columns
    terminal.show(_drawn(tree))
    terminal.say(f"\n{', '.join(map(shown, columns))} would represent all {len(names)} columns ({measure}).")
    if output is not None:
        with terminal.wait("drawing"):
            save_picture(draw_tree(names, tree.dependence.edges, [names.index(name) for name in columns]), output)
        terminal.say(f"The tree: {shown(output)}")
    terminal.result({"measure": measure, **tree_facts(tree)})


def _drawn(tree: ColumnTree) -> Tree:
    """Draw the tree from its busiest column down."""
    near: dict[int, list[tuple[int, float]]] = {j: [] for j in range(len(tree.names))}
    for edge in tree.dependence.edges:
        near[edge.first].append((edge.second, edge.weight))
        near[edge.second].append((edge.first, edge.weight))
    busiest = max(near, key=lambda j: (len(near[j]), -j))
    drawn = Tree(Text(shown(tree.names[busiest])))
    stack = [(busiest, -1, drawn)]
    while stack:
        column, above, branch = stack.pop()
        for other, weight in near[column]:
            if other != above:
                label = Text.assemble(shown(tree.names[other]), "  ", (f"{weight:.3g}", "dim"))
                stack.append((other, column, branch.add(label)))
    return drawn
