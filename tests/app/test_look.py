"""Look: the report's own sections of one release or two, drawn by the worker; and rows, where that is allowed."""

import html
import re
import threading

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import microagg as ma
from microagg.app import jobs
from microagg.app.pages import looking as page_of_look
from microagg.app.session import Session
from microagg.jobs.masking import judge, mask
from microagg.jobs.trial import MOST_ROWS, SECTIONS, look_at, peek_at, set_beside
from microagg.judge.parts import WrittenFacts
from microagg.report.html import render_section
from tests.app.client import Client
from tests.cli import call


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("looked") / "survey.csv"
    call("datasets", "make", "survey", "-n", 300, "-o", path)
    return path


def opened(file, **options):
    session = Session(file.parent, **options)
    client = Client(session)
    session.open(str(file))
    client.settle()
    client.get("/")
    client.settle()
    return client


@pytest.fixture(scope="module")
def shared(file):
    client = opened(file)
    client.post("/columns/apply", **{f"role-{client.row('region')}": "strata"})
    client.post("/try/apply", k="4", run="1")
    client.post("/try/keep")
    client.post("/try/apply", k="9", run="1")
    client.post("/try/keep", note="coarse")
    yield client
    client.session.worker.end()


@pytest.fixture
def client(shared):
    shared.get("/look")
    shared.settle()
    shared.post("/history", to=5)
    return shared


@pytest.fixture
def numbers(client):
    return [one.number for one in client.session.candidates]


def look(client, path):
    """Give a page when all of it is drawn."""
    client.get(path)
    client.settle()
    return client.get(path)


def release_of(client, number):
    return judge(mask(client.session.with_recipe(client.session.candidate(number).recipe)))


def read(page):
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page.text)).split())


def test_each_masked_column_has_a_picture_and_its_numbers(client, numbers):
    page = look(client, f"/look/{numbers[0]}")
    masked = client.session.recipe.masked(client.session.columns)
    looked = client.session.shelf.looks[client.session.key(client.session.candidates[0].recipe)]
    assert [one.name for one in looked.columns] == masked
    assert page.text.count("<svg") == page.text.count("<figure>") == len(masked)
    lost = release_of(client, numbers[0]).information.per_column
    assert all(f"{lost[one.name]:.1f}\N{NO-BREAK SPACE}%" in one.lost for one in looked.columns if lost[one.name] < 99)
    assert "Internal: do not publish this page." in page.text
    told = read(page)
    assert all(" ".join(f"{name} {words}".split()) in told for one in looked.columns for name, words in one.moved)
    single = look(client, f"/look/{numbers[0]}?column={client.row('age')}")
    assert single.text.count("<svg") == 1
    age = next(one for one in looked.columns if one.name == "age")
    assert single.text.count('<tr><th scope="row">') == len(age.shares)
    assert sum(before for _, before, _ in age.shares) == pytest.approx(100, abs=0.1)


def test_no_axis_shows_the_least_or_greatest_value_of_a_column(client, numbers):
    table = pyarrow.csv.read_csv(client.session.opened.address)
    page = look(client, f"/look/{numbers[0]}")
    labels = re.findall(r"<text[^>]*>([\d.]+)(k?)</text>", page.text)
    figures = {f"{float(one) * (1000 if thousands else 1):g}" for one, thousands in labels}
    assert len(figures) > 20
    for name in ("wage", "business", "capital", "pension", "income", "tax"):
        values = sorted({one for one in table[name].to_pylist() if one})
        for extreme in (values[0], values[-1]):
            assert f"{extreme:g}" not in figures, name
        assert f"{values[-1]:g}" not in re.split(
            r"[^\d.]+", read(look(client, f"/look/{numbers[0]}?column={client.row(name)}"))
        )


@pytest.mark.parametrize("part", [name for name in SECTIONS if name not in ("columns", "tree")])
def test_other_parts_are_the_sections_of_the_report(client, numbers, part):
    model = release_of(client, numbers[0]).report_model(written=WrittenFacts(reordered=False))
    wanted = render_section(model, part).strip()
    page = look(client, f"/look/{numbers[0]}?part={list(SECTIONS).index(part)}")
    assert wanted in page.text
    assert bool(wanted) == (f">{SECTIONS[part]}</a>" in page.text)
    assert "Internal: do not publish this page." in page.text


def test_the_tree_is_shown_of_a_release_that_used_none_too(client, numbers):
    page = look(client, f"/look/{numbers[0]}?part={list(SECTIONS).index('tree')}")
    assert "Groups were formed on all masked columns. The method emad would form them on" in read(page)
    assert "Lines that end at each column." in page.text
    assert page.text.count("<svg") == 1
    release = release_of(client, numbers[0])
    masked = [name for name in release.data.column_names if name in release.loss.per_column]
    found = ma.select_variables(ma.DependenceTree().fit(client.session.opened.source.typed().select(masked)), 3)
    assert f"({found.reason})" in read(page)


def test_two_releases_stand_side_by_side(client, numbers):
    one, other = numbers
    page = look(client, f"/look/{one}?with={other}")
    masked = client.session.recipe.masked(client.session.columns)
    assert page.text.count("<svg") == 2 * len(masked)
    first, second = (release_of(client, number) for number in numbers)
    rows = {beside.figure.symbol: beside for beside in set_beside(look_at(first), look_at(second))}
    assert (rows["lost"].figure.value, rows["lost"].other) == (first.information.percent, second.information.percent)
    assert rows["lost"].better == "A"
    assert rows["RLD"].better == "B"
    assert rows["k"].better == "B"
    assert rows["groups"].better == ""
    for value in (first.risk.g_dr, second.risk.g_dr):
        assert f'<data value="{value}">' in page.text
    page = look(client, f"/look/{one}?with={other}&part={list(SECTIONS).index('loss')}")
    ids = re.findall(r' id="([^"]*)"', page.text)
    assert {"loss", "b-loss"} <= set(ids)
    assert len(ids) == len(set(ids))
    assert len(page.text.encode()) < 300_000


def test_a_number_stands_for_one_recipe_and_the_present_one_has_its_own(client, numbers):
    for number, candidate in zip(numbers, client.session.candidates, strict=True):
        page = look(client, f"/look/{number}")
        assert re.search(rf"mdav, k {candidate.recipe.k} \d+ masked", read(page))
    client.post("/try/apply", k="6")
    number = int(re.search(r'data-place="/look/(\d+)"', look(client, "/look").text)[1])
    assert number not in numbers
    assert re.search(r"mdav, k 6 \d+ masked", read(look(client, f"/look/{number}")))
    assert client.session.shelf.recipe(number).k == 6
    page = client.post("/look/use", candidate=numbers[0])
    assert client.session.recipe.k == 4
    assert "(your present choice)" in page.text
    page = client.post("/compare/keep", candidate=number, look=number)
    assert client.session.candidate(number).recipe.k == 6
    assert "Kept as a candidate." in read(page)


def test_what_is_not_there_is_not_found(client):
    for path in ("/look/999", "/look/0"):
        assert client.get(path).status == 404
    assert client.get("/look/x").status == 404
    page = look(client, f"/look/{client.session.candidates[0].number}?with=999&part=77&column=99999&from=x&column=-1")
    assert page.status == 200


def test_what_takes_longer_is_drawn_when_it_is_asked_for(client, monkeypatch):
    monkeypatch.setattr(page_of_look, "AT_ONCE", 0.0)
    client.session.change(client.session.recipe.replace(k=7), "k 7")
    page = look(client, "/look")
    assert "Nothing is drawn yet" in read(page)
    number = re.search(r'name="candidate" value="(\d+)"', page.text)[1]
    page = client.post("/look/draw", candidate=number, view="part=0")
    assert page.text.count("<svg") > 0


def test_a_cancelled_drawing_does_not_begin_again_by_itself(client, monkeypatch):
    go, arrived = threading.Event(), threading.Event()

    def held(_, progress):
        arrived.set()
        assert go.wait(60)
        progress(1, 2)
        raise AssertionError("not cancelled")

    monkeypatch.setattr(jobs.masking, "mask", held)
    client.session.change(client.session.recipe.replace(k=8), "k 8")
    client.get("/look")
    assert arrived.wait(60)
    client.session.cancel()
    go.set()
    client.settle()
    monkeypatch.undo()
    page = look(client, "/look")
    assert "Nothing is drawn yet" in read(page)


def test_a_release_that_cannot_be_made_says_why(client):
    client.post("/try/apply", k="280")
    page = look(client, "/look")
    assert "fewer than k=280 records" in read(page)
    assert "<svg" not in page.text


def test_peek_shows_few_masked_rows_once_and_no_identifier(client, numbers):
    page = look(client, f"/look/{numbers[0]}")
    assert "peeked" not in page.text
    before = client.session.history.number
    peeked = client.post("/look/peek", candidate=numbers[0])
    assert peeked.headers["cache-control"] == "no-store"
    cells = re.search(r'<table class="peeked">(.*?)</table>', peeked.text, re.S)[1]
    heads = re.findall(r'<th scope="col"><bdi>([^<]*)', cells)
    assert "age" in heads
    assert not {"person", "weight"} & set(heads)
    assert 0 < cells.count("<tr>") - 1 <= MOST_ROWS
    names, rows = peek_at(release_of(client, numbers[0]))
    assert heads == names
    assert [re.findall(r"<bdi>([^<]*)", row) for row in cells.split("<tr>")[2:]] == rows
    assert client.session.history.number == before
    assert "peeked" not in client.get(f"/look/{numbers[0]}").text
    assert client.session.shelf.peeked == ("", None)
    client.session.release = None  # it is then made again
    assert cells in client.post("/look/peek", candidate=numbers[0]).text
    assert client.post("/look/peek", candidate=999).status == 404


def test_peek_hides_units(client):
    client.post("/columns/apply", **{f"role-{client.row('person')}": "unit", f"role-{client.row('region')}": "keep"})
    client.post("/try/apply", k="5", units__release="whole", run="1")
    number = client.session.number_of()
    peeked = client.post("/look/peek", candidate=number)
    assert "peeked" in peeked.text
    assert "<bdi>person</bdi></th>" not in peeked.text


def test_without_peek_there_is_no_such_page(file):
    client = opened(file, peek=False)
    page = look(client, "/look")
    assert "peek" not in page.text.lower()
    answer = client.post("/look/peek", candidate=client.session.number_of())
    assert (answer.status, answer.text) == (404, "404: there is no such page.\n")
    client.session.worker.end()


NAMES = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "../../etc/passwd",
    "right \u202e left",
    "trailing ",
]


@pytest.mark.campaign
def test_thirty_columns_with_names_of_ill_will_fit_on_a_page_and_do_nothing(tmp_path):
    numbers = np.random.default_rng(0).normal(size=(120, 30)).round(2)
    names = [*NAMES, *(f"{'long ' * 47}{place}" for place in range(25))]
    pyarrow.csv.write_csv(pa.table(dict(zip(names, numbers.T, strict=True))), tmp_path / "many.csv")
    client = opened(tmp_path / "many.csv")
    roles = {f"role-{place}": "quasi" for place in range(30)}
    client.post("/columns/apply", **roles)
    client.post("/compare/apply", compare__methods=["", "mdav"], compare__ks="5, 10")
    one, other = (client.session.number_of(client.session.recipe.replace(k=k)) for k in (5, 10))
    for part in range(len(SECTIONS)):
        for path in (f"/look/{one}?part={part}&with={other}", f"/look/{one}?part={part}&from=24"):
            page = look(client, path)
            assert page.status == 200
            assert len(page.text.encode()) < 300_000, path
            assert not re.search(r"<script>|<img", page.text)
    page = look(client, f"/look/{one}?with={other}&" + "&".join(f"column={place}" for place in range(30)))
    assert page.text.count("<svg") == 60
    assert len(page.text.encode()) < 300_000
    page = client.get("/compare")
    assert not re.search(r"<script>|<img", page.text)
    client.session.worker.end()


def test_what_comes_while_a_page_is_made_is_asked_for_afterwards(client, numbers, monkeypatch):
    rendered = page_of_look.rendered

    def late(session, *words, **content):
        session.touch()  # as the worker does when it is done just now
        return rendered(session, *words, **content)

    monkeypatch.setattr(page_of_look, "rendered", late)
    page = client.get(f"/look/{numbers[0]}")
    assert int(re.search(r'data-stamp="(\d+)"', page.text)[1]) < client.session.stamp
