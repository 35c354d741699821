"""The site builds without a warning, every link inside it leads somewhere, and nothing is fetched from elsewhere."""

import html
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import microagg as ma
from microagg.algorithms.methods import METHODS
from microagg.recipe import PARTS, choices_of

for name in ("sphinx", "myst_parser", "pydata_sphinx_theme"):
    pytest.importorskip(name, reason="left out: the docs group is not installed (make docs)")

pytestmark = pytest.mark.campaign  # to build the site takes long

ROOT = Path(__file__).parent.parent


class Page(HTMLParser):
    """What a page offers to links (ids), what it links to, and what a browser would load for it."""

    def __init__(self, path):
        super().__init__()
        self.ids, self.links, self.loads = set(), set(), set()
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.ids |= {given[name] for name in ("id", "name") if given.get(name)}
        if tag == "a" and given.get("href"):
            self.links.add(given["href"])
        if tag in ("script", "img", "iframe", "source") and given.get("src"):
            self.loads.add(given["src"])
        if tag == "link" and given.get("rel") != "canonical" and given.get("href"):
            self.loads.add(given["href"])


def build(source, target):
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-E", "-d", target.parent / "doctrees"]
    return subprocess.run([*command, source, target], capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    target = tmp_path_factory.mktemp("site") / "html"
    done = build(ROOT / "docs", target)
    assert done.returncode == 0, done.stderr
    return {path.resolve(): Page(path) for path in target.rglob("*.html") if "_static" not in path.parts}


def test_every_link_inside_the_site_leads_somewhere(site):
    broken = []
    for path, page in site.items():
        for link in page.links | page.loads:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            goal = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not goal.exists() or (parts.fragment and goal in site and parts.fragment not in site[goal].ids):
                broken.append((path.name, link))
    assert not broken
    assert len(site) > 40


def test_nothing_is_fetched_from_elsewhere(site):
    assert not {load for page in site.values() for load in page.loads if urlsplit(load).netloc}


def test_every_public_name_has_an_entry(site):
    ids = set().union(*(page.ids for page in site.values()))
    names = {f"microagg.{name}" for name in ma.__all__ if name not in ("datasets", "errors")}
    names |= {f"microagg.datasets.{name}" for name in ma.datasets.__all__}
    names |= {
        f"microagg.errors.{name}"
        for name, one in vars(ma.errors).items()
        if getattr(one, "__bases__", None) and issubclass(one, Exception)
    }
    assert not names - ids


def test_every_page_of_the_docs_is_on_the_site(site):
    heads = [re.search(r"<h1>(.*?)<a class=.headerlink", path.read_text("utf-8")) for path in site]
    shown = {html.unescape(re.sub(r"<[^>]+>", "", head[1])) for head in heads if head}
    for path in (ROOT / "docs").rglob("*.md"):
        title = re.search(r"^# (.*)$", path.read_text("utf-8"), re.MULTILINE)
        assert title is None or re.sub("[`*]", "", title[1]) in shown, path.name


def test_commands_and_options_are_those_of_the_program(site):
    [text] = [path.read_text("utf-8") for path in site if path.name == "command_line.html"]
    text = re.sub(r"<[^>]+>", "", text)
    for word in (
        "microagg inspect",
        "microagg mask",
        "microagg datasets fetch",
        "--recipe",
        "--output, -o",
        "--excel-safe",
    ):
        assert word in text


def test_every_choice_of_a_recipe_has_its_line(site):
    [text] = [path.read_text("utf-8") for path in site if path.name == "recipe.html"]
    text = " ".join(html.unescape(re.sub(r"<[^>]+>", "", text)).split())
    for table, (_, part) in PARTS.items():
        assert f"[{table}]" in text
        for key, choice in choices_of(part).items():
            whole = f"a column's name {choice.keyword} " if part.by_column else None
            whole = f"the keywords of one {choice.keyword} " if part.listed else whole
            assert (whole or f"{key} {'the same' if choice.keyword == key else choice.keyword} ") in text
            assert f"{choice.said[1:]}." in text
    for method in METHODS.values():
        assert method.said[1:] in text
        for option, said in method.options.items():
            assert f"{option} ({said}; " in text


def test_every_experiment_has_its_page_and_every_page_its_title(site):
    """Pages that include a file from elsewhere have no title of their own."""
    titles = {path.name: path.read_text("utf-8") for path in site if path.parent.name == "experiments"}
    names = {path.parent.name for path in (ROOT / "experiments").glob("*/RESULTS.md")}
    assert {f"{name}.html" for name in names} == set(titles)
    for name in names:
        title = (ROOT / "experiments" / name / "RESULTS.md").read_text("utf-8").split("\n", 1)[0].removeprefix("# ")
        assert f"<h1>{html.escape(title)}<" in titles[f"{name}.html"]
    figures = [load for page in site.values() for load in page.links if "_downloads" in load]
    assert len(figures) >= 11


def test_a_page_from_elsewhere_may_link_to_all_there_is_and_to_nothing_else(tmp_path):
    """On a copy: an experiment that links all over the place, and errata. Nothing is copied among the pages."""
    shutil.copytree(ROOT / "docs", tmp_path / "docs", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "experiments", tmp_path / "experiments")
    for name in ("CHANGELOG.md", "CITATION.cff"):
        shutil.copy(ROOT / name, tmp_path)
    folder = tmp_path / "experiments" / "paper"
    folder.mkdir()
    shutil.copy(ROOT / "docs" / "tree_search.svg", folder / "figure.svg")
    (folder / "run.py").write_text("")
    links = "[page](../../docs/algorithms/iamat.md), [program](./run.py), [gone](./gone.md), ![figure](figure.svg)"
    (folder / "RESULTS.md").write_text(f"# Paper\n\n{links}\n\n| a | b |\n|---|---|\n| 1 | 2 |\n")
    stub = (tmp_path / "docs" / "experiments" / "iamat.md").read_text("utf-8")
    (tmp_path / "docs" / "experiments" / "paper.md").write_text(stub.replace("iamat", "paper"))
    (tmp_path / "docs" / "errata.md").write_text("# Errata\n\n[MDAV](algorithms/mdav.md)\n")
    before = sorted((tmp_path / "docs").rglob("*"))
    done = build(tmp_path / "docs", tmp_path / "html")
    assert done.returncode == 1
    [warning] = [line for line in done.stderr.splitlines() if "WARNING" in line]
    assert "experiments/paper/RESULTS.md:3" in warning
    assert "gone" in warning
    assert [path for path in sorted((tmp_path / "docs").rglob("*")) if "__pycache__" not in path.parts] == before
    assert (tmp_path / "html" / "errata.html").exists()
    page = Page(tmp_path / "html" / "experiments" / "paper.html")
    assert any(link.endswith("algorithms/iamat.html") for link in page.links)
    assert any(link.endswith("run.py") for link in page.links)
    assert any("figure.svg" in load for load in page.loads)
