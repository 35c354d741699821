"""What the app is promised to be: small to install, and nothing of its own beside the command line."""

import ast
import importlib
import tomllib
from importlib import metadata
from inspect import isfunction
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
DECLARED = ("microagg.recipe", "microagg.files.formats.kinds", "microagg.judge.text")
"""What both edges make their words and fields of: choices of a recipe, kinds of files, how names are displayed."""


def needed(requirements):
    """Give the names of packages that are installed with these, with all that they need."""
    found, open_ones = set(), [Requirement(one) for one in requirements]
    while open_ones:
        one = open_ones.pop()
        name = one.name.lower().replace("_", "-")
        if (one.marker is None or one.marker.evaluate({"extra": ""})) and name not in found:
            found.add(name)
            open_ones += map(Requirement, metadata.requires(name) or ())
    return found


def test_the_extra_adds_few_packages_and_little_to_store():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    own = needed(project["dependencies"])
    added = needed(project["optional-dependencies"]["app"]) - own
    assert {"starlette", "uvicorn"} <= added
    assert len(added - {"typing-extensions"}) <= 6, added  # that one only brings newer typing to Python before 3.13
    assert not {"pydantic", "pydantic-core"} & (own | added)  # of which typer below 0.29 needs none
    places = [file.locate() for name in added for file in metadata.files(name)]
    sizes = [place.stat().st_size for place in places if place.exists()]
    assert 500_000 < sum(sizes) < 5_000_000


def functions_of(room):
    """Give the functions of the house that modules of a room import, but for the room's own."""
    found = set()
    for path in (ROOT / "src" / "microagg" / room).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("microagg"):
                home = importlib.import_module(node.module)
                found |= {(node.module, one.name) for one in node.names if isfunction(getattr(home, one.name, None))}
    return {(home, name) for home, name in found if not home.startswith(f"microagg.{room}")}


def test_the_command_line_and_the_app_share_no_function_but_through_the_desk():
    by_cli, by_app = functions_of("cli"), functions_of("app")
    assert ("microagg.jobs.messages", "told") in by_cli & by_app
    assert [one for one in by_cli & by_app if not one[0].startswith(("microagg.jobs", *DECLARED))] == []
    assert [one for one in by_app if one[0].startswith("microagg.cli")] == []
    assert [one for one in by_cli if one[0].startswith("microagg.app")] == []  # but for its command, as a module
