"""Compare: the figures are those of the command line, each point is a link, and what was done stays."""

import html
import json
import re
import threading
from pathlib import Path

import pytest

from microagg.app import comparing, jobs
from microagg.app.session import Session
from microagg.jobs.candidates import each_candidate, ranking_by
from microagg.judge.comparison import Candidate
from microagg.recipe import Recipe
from microagg.study.candidate import seen_by
from tests.app.client import Client
from tests.cli import call

GRID = {"compare__methods": ["", "mdav", "iamat"], "compare__ks": "3, 5, 10"}
POINT = re.compile(r'<a class="point" href="([^"]*)" aria-label="([^"]*)"( aria-current="true")?')


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("compared") / "survey.csv"
    call("datasets", "make", "survey", "-n", 300, "-o", path)
    return path


@pytest.fixture(scope="module")
def compared(file):
    """Give a session in which six releases were compared, and what the command line says of them."""
    session = Session(file.parent)
    client = Client(session)
    session.open(str(file))
    client.settle()
    client.post("/compare/apply", **GRID)
    recipe = file.parent / "recipe.toml"
    session.recipe.write(recipe)
    told = json.loads(call("compare", file, "--recipe", recipe, "--json").stdout)
    yield client, told
    session.worker.end()


@pytest.fixture
def client(compared):
    """Give that session at its beginning."""
    client = compared[0]
    client.get("/compare")
    client.post("/history", to=1)
    client.session.shelf.removed.clear()
    client.get("/compare")
    return client


def points(page):
    return [(html.unescape(href), html.unescape(name), bool(chosen)) for href, name, chosen in POINT.findall(page.text)]


def rows(page):
    """Give the table: each row's number, its values to the last digit, and its remark."""
    found = []
    for number, row in re.findall(r'<tr id="c-(\d+)"[^>]*>(.*?)</tr>', page.text, re.S):
        values = [float(one) for one in re.findall(r'<data value="([^"]*)">', row)]
        remark = re.search(r'class="remark">([^<]*)<', row)
        found.append((int(number), values, remark[1] if remark else ""))
    return found


def test_points_and_rows_are_those_of_the_command_line(client, compared):
    _, told = compared
    page = client.get("/compare")
    assert len(points(page)) == len(rows(page)) == len(told["candidates"]) == 6
    for (_, values, remark), one in zip(rows(page), told["candidates"], strict=True):
        figures = [one["figures"][name] for name in ("IL", "G_IL", "RLD", "ID", "G_DR")]
        assert values == [one["k"], one["k_reached"], one["groups"], *figures, one["score"]]
        named = {"method": one["method"], "k": one["k"]}
        assert ("efficient" in remark) == (named in told["frontier"])
        assert ("lowest score" in remark) == (named == told["best"])
    assert page.text.count('class="ring"') == 1 + len(told["frontier"])  # one of them in the legend
    assert "Linkage was measured on all records." in page.text
    assert "Internal: exact losses" in page.text


def test_every_point_has_a_name_that_can_be_spoken_and_none_is_preselected(client, compared):
    _, told = compared
    for (href, name, chosen), one in zip(points(client.get("/compare")), told["candidates"], strict=True):
        assert re.match(rf"{one['method']}, k {one['k']}: loss [\d.]+\s%, risk [\d.]+\s%", name)
        assert re.fullmatch(r"/compare\?chosen=\d+#c-\d+", href)
        assert not chosen
    assert "The lowest score: " in client.get("/compare").text
    assert 'class="chosen"' not in client.get("/compare").text


def test_a_point_marks_its_row_and_headings_sort_by_numbers_alone(client):
    href, _, _ = points(client.get("/compare"))[4]
    page = client.get(href.partition("#")[0])
    number = int(href.rpartition("-")[2])
    assert re.search(rf'<tr id="c-{number}" tabindex="-1" class="chosen" aria-current="true">', page.text)
    assert [one for one, _, chosen in points(page) if chosen] == [href]
    heads = re.findall(r'<a id="s-\d+" href="([^"]*)"', page.text)
    assert all(re.fullmatch(r"/compare\?(\w+=\d+(&amp;)?)+", one) for one in heads)
    place = 8  # G_DR
    up = [values[7] for _, values, _ in rows(client.get(f"/compare?sort={place}"))]
    down = [values[7] for _, values, _ in rows(client.get(f"/compare?sort={place}&down=1"))]
    assert up == sorted(up) == down[::-1]
    assert 'aria-sort="descending"' in client.get(f"/compare?sort={place}&down=1").text
    assert client.get("/compare?sort=99&down=x&chosen=-3").status == 200


def test_another_weight_or_measure_is_ranked_without_masking_again(client, file, monkeypatch):
    def refuse(*_):
        raise AssertionError("masked again")

    monkeypatch.setattr(jobs.candidates, "each_candidate", refuse)
    client.post("/compare/apply", **GRID, compare__x="0.9", compare__rank="IL", compare__map_axis="G_IL")
    monkeypatch.undo()
    page = client.get("/compare")
    recipe = file.parent / "other.toml"
    client.session.recipe.write(recipe)
    told = json.loads(call("compare", file, "--recipe", recipe, "--json").stdout)
    assert [values[-1] for _, values, _ in rows(page)] == [one["score"] for one in told["candidates"]]
    best = [number for number, _, remark in rows(page) if "best" in remark.split(", ")]
    at = [{"method": one["method"], "k": one["k"]} for one in told["candidates"]].index(told["best"])
    assert best == [rows(page)[at][0]]
    assert "all five together, G_IL" in page.text  # on the axis


def test_figures_are_of_the_recipe_on_the_page(client):
    before = rows(client.get("/compare"))
    client.post("/columns/apply", **{f"role-{client.row('age')}": "keep"})
    page = client.get("/compare")
    assert points(page) == []
    assert "6 of 6 releases are not made yet" in page.text
    client.post("/history", to=1)
    assert rows(client.get("/compare")) == before


def test_keep_forget_and_remove(client):
    number = rows(client.get("/compare"))[1][0]
    page = client.post("/compare/keep", candidate=number, chosen=number)
    assert [one.number for one in client.session.candidates] == [number]
    assert client.session.candidates[0].recipe.compare == client.session.recipe.compare
    assert client.session.figures(client.session.candidates[0].recipe).facts  # as after a try
    assert {one: remark for one, _, remark in rows(page)}[number].endswith("kept, present choice")
    other = rows(page)[0][0]
    page = client.post("/compare/use", candidate=other)
    assert {one: remark for one, _, remark in rows(page)}[other].endswith("present choice")
    assert f'id="use-{other}"' not in page.text
    client.post("/compare/use", candidate=number)
    client.post("/compare/forget", candidate=number)
    assert client.session.candidates == ()
    page = client.post("/compare/remove", candidate=number)
    assert number not in [one for one, _, _ in rows(page)]
    assert len(points(page)) == 5
    assert number in [one for one, _, _ in rows(client.post("/compare/apply", **GRID))]


def test_what_was_kept_elsewhere_stands_in_it_too(client):
    client.post("/columns/apply", **{f"role-{client.row('age')}": "keep"})
    client.post("/try/apply", k="4", run="1")
    client.post("/try/keep")
    client.post("/try/apply", k="5")
    client.post("/columns/apply", **{f"role-{client.row('age')}": "quasi"})
    page = client.get("/compare")
    number = client.session.candidates[0].number
    assert "1 of 7 releases is not made yet" in page.text
    page = client.post("/compare/apply", **GRID)
    assert [name for _, name, _ in points(page)][-1].startswith("mdav, kept, k 4: loss")
    kept = client.session.candidates[0].recipe
    (fresh, _), *_ = each_candidate(client.session.with_recipe(kept), [("mdav, kept", kept)])
    assert rows(page)[-1][:2] == (number, [4, fresh.k_reached, fresh.groups, *_figures(fresh), fresh.score])
    client.post("/try/apply", k="7", run="1")
    client.post("/try/keep")
    client.post("/try/apply", k="5")
    page = client.post("/compare/apply", **GRID)
    assert any(name.startswith("mdav, k 7: ") for _, name, _ in points(page))  # on the line of its method


def _figures(one):
    return [one.figures[name] for name in ("IL", "G_IL", "RLD", "ID", "G_DR")]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"compare__ks": "1, 5"}, "ks"),
        ({"compare__ks": "three"}, "separated by commas"),
        ({"compare__x": "2"}, "must be a number from 0 to 1"),
        ({"compare__least_k": "50"}, "above every k that is compared"),
        ({"compare__ks": ",".join(map(str, range(2, 60)))}, "and at most 100 are possible"),
        ({"compare__ts": "3"}, "t must be above 0"),
    ],
)
def test_what_cannot_be_compared_is_refused_at_its_field(client, fields, words):
    before = client.session.recipe
    page = client.post("/compare/apply", **{**GRID, **fields})
    assert page.status == 422
    assert re.search(rf'<p class="error"[^>]*role="alert">[^<]*{re.escape(words)}', html.unescape(page.text))
    assert client.session.recipe == before


def test_a_release_that_cannot_be_made_says_why_at_its_row_and_the_others_are_made(client):
    client.post("/columns/apply", **{f"role-{client.row('region')}": "strata"})
    page = client.post("/compare/apply", compare__methods=["", "mdav"], compare__ks="3, 100")
    assert len(points(page)) == 1
    assert "fewer than k=100 records" in html.unescape(page.text)
    assert "Hills" not in page.text  # no stratum is named


def test_points_come_one_by_one_and_cancel_keeps_what_is_done(file, monkeypatch):
    session = Session(file.parent)
    client = Client(session)
    session.open(str(file))
    client.settle()
    go, arrived = threading.Semaphore(0), threading.Semaphore(0)

    def held(opened, recipes, progress, masked):
        def and_wait(release, seconds):
            masked(release, seconds)
            arrived.release()
            assert go.acquire(timeout=60)

        return each_candidate(opened, recipes, progress, and_wait)

    monkeypatch.setattr(jobs.candidates, "each_candidate", held)
    fields = "&".join(f"compare.methods={one}" for one in ("mdav", "iamat")) + "&compare.ks=3,5,10"
    body = f"number={session.history.number}&{fields}".encode()
    assert client.ask("POST", "/compare/apply", body, origin=client.keys.origin).status == 303
    seen = []
    for _ in range(3):
        assert arrived.acquire(timeout=60)
        page = client.ask("GET", "/compare")
        seen.append(len(points(page)))
        assert page.text.count("the risk is measured next") == 1  # the loss is there first
        go.release()
    assert arrived.acquire(timeout=60)
    assert seen == [0, 1, 2]
    assert "3 of 6 are done" in client.ask("GET", "/compare").text
    session.cancel()
    go.release()
    client.settle()
    page = client.get("/compare")
    assert len(points(page)) == 3
    assert "Cancelled. What was done until then is kept." in page.text
    assert page.text.count("its risk is not measured yet") == 1
    assert page.text.count('class="m">not made yet') == 2
    session.worker.end()


def test_without_a_column_to_mask_there_is_nothing_to_compare(client):
    quasi = [client.row(name) for name in client.session.recipe.roles.quasi]
    client.post("/columns/bulk", row=quasi, role="drop")
    assert "No column is left to mask" in client.get("/compare").text


def test_figures_that_are_lacking_are_not_guessed():
    measured = Candidate("mdav", 5, 1, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, score=0.0, seconds=0.0)
    assert seen_by(measured, ranking_by(Recipe(5).replace(rank="pMSE")), 0.5) is None
    assert seen_by(measured, ranking_by(Recipe(5)), 0.25).score == 0.25 * 3 + 0.75 * 7


def test_a_hundred_releases_fit_on_a_page(client):
    page = client.get("/compare")
    shelf, one = client.session.shelf, next(iter(client.session.shelf.compared.values()))
    recipe = client.session.recipe.replace(ks=tuple(range(2, 52)), least_k=2)
    client.session.change(recipe, "many")
    for row in comparing.rows_of(client.session):
        shelf.compared.store(row.key, one)
    page = client.get("/compare")
    assert len(points(page)) == 100
    assert len(page.text.encode()) < 300_000


def test_nothing_of_the_file_is_in_an_address(client):
    page = client.get("/compare?chosen=1")
    hrefs = [html.unescape(one) for one in re.findall(r'href="([^"]*)"', page.text)]
    assert all(re.fullmatch(r"(/[\w./]*|data:,|#main)?(\?[\w=&]*)?(#c-\d+)?", one) for one in hrefs), hrefs
    names = set(client.session.columns)
    assert not [one for one in hrefs if names & set(re.split(r"\W+", one))]
    assert Path(client.session.opened.address).name not in " ".join(hrefs)


def test_what_reads_the_file_otherwise_is_not_chosen(client):
    session = client.session
    client.get("/compare")
    number = session.shelf.fresh(session.recipe.replace(delimiter=";"))  # compared before the file was read anew
    before = session.recipe
    page = client.post("/compare/use", candidate=number)
    assert "<h1>Compare</h1>" in page.text
    assert session.recipe == before
