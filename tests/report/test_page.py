"""The page: one file, the same bytes, every name escaped, written whole or not at all."""

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import microagg as ma
from microagg.errors import InvalidParameter
from microagg.judge import text
from microagg.report import SourceFacts, build, render

BAD = "<script>alert(1)</script>"
ROLES = {"identifiers": ["person"], "weight": "weight", "strata": ["region"]}
RELEASE = ma.protect(ma.datasets.survey(300, seed=0), k=5, **ROLES)


@pytest.fixture(scope="module")
def page():
    return render(build(RELEASE, source=SourceFacts("survey.csv", "CSV")))


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.attributes, self.open = [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in ("meta", "link", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def parsed(page):
    found = Tags()
    found.feed(page)
    assert not found.open
    return found


@pytest.mark.parametrize("public", [False, True])
def test_the_page_is_self_contained(public):
    page = render(build(RELEASE, public=public))
    assert not re.search(r"https?://|//[a-z]|<script|@import|url\((?!#)", page)
    found = parsed(page)
    for name, value in found.attributes:
        assert name != "src"
        assert not name.startswith("on")
        if name.endswith("href"):
            assert value.startswith("#") or value == "data:,"
    assert not {"script", "iframe", "img", "object", "form"} & set(found.tags)


def test_ids_are_unique_and_links_lead_to_them(page):
    attributes = parsed(page).attributes
    ids = [value for name, value in attributes if name == "id"]
    assert len(ids) == len(set(ids))
    wanted = {value[1:] for name, value in attributes if name.endswith("href") and value.startswith("#")}
    wanted |= set(re.findall(r"url\(#([^)]+)\)", page))
    assert wanted <= set(ids)


def test_the_order_of_the_sections(page):
    wanted = ["verdict", "done", "groups", "loss", "columns", "correlations", "results", "risk", "checklist", "limits"]
    assert re.findall(r'<section[^>]* id="(\w+)"', page) == wanted


def test_names_and_values_are_escaped():
    values = np.random.default_rng(0).normal(size=(120, 4))
    table = pa.table({BAD: values[:, 0], 'a"b&': values[:, 1], "</svg><img src=x onerror=alert(1)>": values[:, 2]})
    table = table.append_column("{{ 7 * 7 }}", pa.array(values[:, 3])).append_column(BAD + "2", pa.array([BAD] * 120))
    release = ma.protect(table, k=5, strata=[BAD + "2"], select="emad", count=2)
    compared = ma.compare(table, {BAD: "mdav"}, [3, 5], strata=[BAD + "2"])
    source = SourceFacts(BAD, BAD, {BAD: BAD}, BAD)
    for public in (False, True):
        page = render(build(release, source=source, comparison=compared, public=public))
        assert "<script" not in page
        assert "<img" not in page
        assert "&lt;script&gt;" in page
        assert "{{ 7 * 7 }}" in page
        found = parsed(page)
        assert not {"script", "img"} & set(found.tags)


def test_names_cannot_disguise_themselves():
    assert text.shown("a\u202eb\x00c\nd") == "a\ufffdb\ufffdc d"
    assert text.shown(("a", 1)) == "('a', 1)"
    assert text.shown("नि\u200dक") == "नि\u200dक"
    assert "\udcff" not in text.shown("a\udcff")


@pytest.mark.parametrize(
    ("value", "words"),
    [(0.0, "0 %"), (0.001, "< 0.01 %"), (0.354, "0.35 %"), (3.46, "3.5 %"), (20.0, "20 %"), (23.98, "24.0 %"),
     (1234.5, "1 234 %"), (float("nan"), "–"), (float("inf"), "–"), (None, "–"), (-2.53, "−2.5 %")],
)  # fmt: skip
def test_percentages_have_the_digits_that_matter(value, words):
    assert text.percent(value).replace("\u00a0", " ").replace("\u202f", " ") == words


def test_the_same_release_gives_the_same_bytes(tmp_path):
    first = RELEASE.report(tmp_path / "a.html").read_bytes()
    again = ma.protect(ma.datasets.survey(300, seed=0), k=5, **ROLES, n_jobs=1)
    assert again.report(tmp_path / "b.html").read_bytes() == first
    code = (
        "import microagg as ma\n"
        "release = ma.protect(ma.datasets.survey(300, seed=0), k=5, identifiers=['person'], weight='weight',\n"
        "                     strata=['region'])\n"
        f"release.report({str(tmp_path / 'c.html')!r})"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env=os.environ | {"PYTHONHASHSEED": "7"})
    assert (tmp_path / "c.html").read_bytes() == first
    assert not re.search(rb"20\d\d-\d\d-\d\d", first)


def test_versions_are_told(page):
    for words in (f"microagg {ma.__version__}", f"NumPy {np.__version__}", f"Python {sys.version_info.major}."):
        assert words in page


def test_it_is_written_whole_and_nothing_is_replaced_unasked(tmp_path, monkeypatch):
    path = RELEASE.report(tmp_path / "new" / "report.html")
    assert [one.name for one in path.parent.iterdir()] == ["report.html"]
    with pytest.raises(InvalidParameter, match="exists"):
        RELEASE.report(path)
    with pytest.raises(InvalidParameter, match="folder"):
        RELEASE.report(tmp_path, overwrite=True)
    before = path.read_bytes()
    assert RELEASE.report(str(path), public=True, overwrite=True) == path
    assert path.read_bytes() != before

    def fails(*_, **__):
        raise OSError("disk full")

    kept = path.read_bytes()
    monkeypatch.setattr(Path, "replace", fails)
    with pytest.raises(OSError, match="disk full"):
        RELEASE.report(path, overwrite=True)
    assert path.read_bytes() == kept
    assert [one.name for one in path.parent.iterdir()] == ["report.html"]


def test_a_large_file_makes_a_small_page():
    values = np.random.default_rng(0).lognormal(size=(200_000, 12))
    frame = pd.DataFrame(values, columns=[f"column {j}" for j in range(12)])
    release = ma.protect(frame, k=10, max_block=2000)
    release.__dict__["risk"] = release.risk_for(["column 0", "column 1"], sample=500)  # all would take long
    page = render(build(release))
    assert len(page.encode()) < 2_000_000
    assert len(page.encode()) < 300_000


@pytest.mark.parametrize("words", ["needs nothing more", "the house", "for want of", "Of that.", "Who knows", ": who "])
def test_no_page_speaks_in_riddles(words):
    for page in sorted((Path(__file__).parent / "golden").glob("*.html")):
        assert words not in page.read_text(encoding="utf-8"), page.name
