"""Every Python block in the README and the docs runs, in order, each page in a namespace of its own.

A block of text that follows one is what it prints.
"""

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli import call

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```(?:\n\n```text\n(.*?)^```)?", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#:]+)\)")


def _page(page):
    """Give a page with code; one that shows how much work a problem is takes long."""
    return pytest.param(page, id=page.name, marks=[pytest.mark.campaign] * (page.name == "open_questions.md"))


@pytest.mark.parametrize("page", [_page(page) for page in PAGES if BLOCK.search(page.read_text())])
def test_code_blocks_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    namespace = {}
    for block, shown in BLOCK.findall(page.read_text()):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(block, page.name, "exec"), namespace)
        if shown:
            assert [line.rstrip() for line in printed.getvalue().splitlines()] == shown.splitlines()
    assert namespace


STEPS = re.findall(r"^```(sh|toml)\n(.*?)^```", (ROOT / "docs" / "tutorial.md").read_text(), re.M | re.S)
ACTIVATE = "source .venv/bin/activate"
WRITTEN = {"survey.csv", "recipe.toml", "out", "map.svg", "tree.svg"}
REACHED = "k=5 units asked, 5 reached; information loss 15.26 %"
FIGURES = (REACHED, "1239 records", "from 40.0 to 29.9 %", "69 of 77 results", "516 of 2 000 records")


@pytest.mark.campaign
def test_the_tutorial_runs_in_one_process(tmp_path, monkeypatch):
    """Its first command makes a bare `microagg` work, and the recipe that it shows replaces the guessed one."""
    monkeypatch.chdir(tmp_path)
    (first, command), *steps = STEPS
    assert (first, command.strip()) == ("sh", ACTIVATE)
    shown = ""
    for language, text in steps:
        if language == "toml":
            assert Path("recipe.toml").exists()
            Path("recipe.toml").write_text(text)
            continue
        for line in text.splitlines():
            program, *words = shlex.split(line)
            assert program == "microagg"
            shown += call(*words).stdout
    assert [figure for figure in FIGURES if figure not in shown] == []
    assert {path.name for path in tmp_path.iterdir()} == WRITTEN


@pytest.mark.campaign
def test_the_tutorial_runs_as_it_is_written(tmp_path):
    """In a folder with `.venv`, as `make demo` leaves it, and with no `microagg` on the path."""
    environment = Path(sys.executable).parent.parent
    (tmp_path / ".venv").symlink_to(environment)
    script = "".join(f"cat >recipe.toml <<'END'\n{text}END\n" if kind == "toml" else text for kind, text in STEPS)
    path = ":".join(part for part in os.environ["PATH"].split(":") if part != str(environment / "bin"))
    command = ["bash", "-euo", "pipefail", "-c", script]
    done = subprocess.run(command, cwd=tmp_path, env=os.environ | {"PATH": path}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert REACHED in done.stdout
    assert {path.name for path in tmp_path.iterdir()} == WRITTEN | {".venv"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    broken = [link for link in LINK.findall(page.read_text()) if not (page.parent / link).exists()]
    assert not broken
