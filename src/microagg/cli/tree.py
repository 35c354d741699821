"""`microagg tree`: which columns depend on which, and the few that would stand for all."""

from pathlib import Path
from typing import Any

from rich.text import Text
from rich.tree import Tree

from microagg.checks import check_option, check_whole
from microagg.cli import _roles
from microagg.cli._pictures import check_picture, save_picture
from microagg.cli._terminal import Terminal
from microagg.errors import InvalidData
from microagg.io import frames
from microagg.plots import draw_tree
from microagg.prepare.dependence import MEASURES, Dependence, dependence
from microagg.prepare.selection import select_columns
from microagg.recipe_file import read_recipe
from microagg.report.text import shown
from microagg.schema import Role

_MOST = "There are no more columns to mask."


def run(
    address: str,
    measure: str,
    count: int | None,
    recipe_path: Path | None,
    output: Path | None,
    dialect: dict[str, Any],
    force: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Find the dependence tree of the columns to mask."""
    terminal = Terminal(quiet=quiet, as_json=as_json)
    check_option("measure", measure, MEASURES)
    check_picture(output, address, force)
    if recipe_path is None:
        source = _roles.read(terminal, address, dialect)
        names = _roles.look(terminal, source, _roles.DEFAULT_K).roles.get(Role.QUASI.value, [])
    else:
        recipe = read_recipe(recipe_path)
        source = _roles.read_by(terminal, address, recipe, dialect)
        names = recipe.masked(source.table.column_names)
    if len(names) < 2:
        raise InvalidData(f"a tree needs two columns of numbers; {len(names)} is to be masked. Name more in a recipe.")
    wanted = min(3, len(names)) if count is None else check_whole("--count", count, 1, len(names), _MOST)
    with terminal.wait("weighing every pair of columns"):
        opened = frames.open_frame(source.typed(names).select(names))
        frames.check_numeric(opened, names)
        frames.check_complete(opened, names, remedy="Impute them or leave those records out first.")
        found = dependence(frames.to_columns(opened, names), measure=measure)
    chosen = select_columns(names, found, count=wanted)
    terminal.show(_drawn(names, found))
    terminal.say(f"\n{', '.join(map(shown, chosen.columns))} would stand for all {len(names)} columns ({measure}).")
    if output is not None:
        with terminal.wait("drawing"):
            save_picture(draw_tree(names, found.edges, [names.index(name) for name in chosen.columns]), output)
        terminal.say(f"The tree: {output}")
    terminal.result(
        {
            "measure": measure,
            "columns": names,
            "edges": [
                {"first": names[edge.first], "second": names[edge.second], "weight": edge.weight}
                for edge in found.edges
            ],
            "chosen": list(chosen.columns),
        }
    )


def _drawn(names: list[str], found: Dependence) -> Tree:
    """Draw the tree from its busiest column down."""
    near: dict[int, list[tuple[int, float]]] = {j: [] for j in range(len(names))}
    for edge in found.edges:
        near[edge.first].append((edge.second, edge.weight))
        near[edge.second].append((edge.first, edge.weight))
    busiest = max(near, key=lambda j: (len(near[j]), -j))
    drawn = Tree(Text(shown(names[busiest])))
    stack = [(busiest, -1, drawn)]
    while stack:
        column, above, branch = stack.pop()
        for other, weight in near[column]:
            if other != above:
                label = Text.assemble(shown(names[other]), "  ", (f"{weight:.3g}", "dim"))
                stack.append((other, column, branch.add(label)))
    return drawn
