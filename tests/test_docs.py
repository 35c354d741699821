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


@pytest.mark.parametrize("page", [page for page in PAGES if BLOCK.search(page.read_text())], ids=lambda page: page.name)
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


TUTORIAL = "".join(re.findall(r"^```sh\n(.*?)^```", (ROOT / "docs" / "tutorial.md").read_text(), re.M | re.S))
MADE = {"survey.csv", "recipe.toml", "out", "map.svg", "tree.svg"}


def test_the_tutorial_runs_in_one_process(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shown = ""
    for command in TUTORIAL.splitlines():
        words = shlex.split(command)
        if words[0] == "microagg":
            shown += call(*words[1:]).stdout
        else:
            subprocess.run(words, check=True)
    assert "k=10 asked, 10 reached" in shown
    assert {path.name for path in tmp_path.iterdir()} == MADE


@pytest.mark.campaign
def test_the_tutorial_runs_as_it_is_written(tmp_path):
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    script = ["bash", "-euo", "pipefail", "-c", TUTORIAL]
    done = subprocess.run(script, cwd=tmp_path, env=os.environ | {"PATH": path}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "k=10 asked, 10 reached" in done.stdout
    assert {path.name for path in tmp_path.iterdir()} == MADE


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    broken = [link for link in LINK.findall(page.read_text()) if not (page.parent / link).exists()]
    assert not broken
