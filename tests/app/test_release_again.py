"""The same three ways: the command, the script and the recipe that the app writes give its bytes again."""

import os
import subprocess
import sys

import pyarrow as pa
import pytest

import microagg as ma
from microagg.app.session import Session
from microagg.jobs.again import again_folder
from tests.app.browsing import compare_two, contains, idle, see, watched
from tests.app.client import Client
from tests.app.releases import names, write
from tests.app.running import running
from tests.desk.test_joined import CHOICES, tables

pytestmark = pytest.mark.campaign  # desk/test_again.py has what a quick run tries

ROLES = """k = 4  # agreed

[roles]
quasi = ["age", "wage", "income", "tax"]
identifiers = ["person"]
strata = ["region"]
keep = ["education"]
rest = "drop"
"""
UNIT = ROLES.replace('identifiers = ["person"]', 'unit = "person"').replace('strata = ["region"]\n', "")
REFINE = "\n[refine]\neffort = 2000\nseed = 3\n"
SELECT = '\n[select]\nby = "emad"\ncount = 2\n'
IN_ORDER = {"output__same_order": "yes"}
SAFE = {"output__excel_safe": "yes"}
OPEN = {"output__public": "yes"}


def survey(path):
    """Write a survey in which each person has two rows, with text that a spreadsheet would take for a formula."""
    made = ma.datasets.survey(300, seed=1)
    person = pa.array([f"p{row // 2}" for row in range(made.num_rows)])
    made = made.set_column(made.column_names.index("person"), "person", person)
    code = pa.array(["=1+1" if row % 3 else "plain" for row in range(made.num_rows)])
    ma.write(made.set_column(made.column_names.index("education"), "education", code), path)


def start(words, where, **environment):
    told = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(words, cwd=where, env={**os.environ, **environment}, **told)


def content(folder):
    return {name: (folder / name).read_bytes() for name in names(folder) if "again." not in name}


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """Give a PATH on which microagg is found."""
    folder = tmp_path_factory.mktemp("programs")
    program = folder / "microagg"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m microagg "$@"\n')
    program.chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


def check(source, out, programs):
    """See that each of three ways gives what was written, in fresh processes."""
    folder, elsewhere, made = out.parent, out.parent / "elsewhere", content(out)
    elsewhere.mkdir()
    by_recipe = [
        "microagg",
        "mask",
        f"./{source.name}",
        "--recipe",
        str(out / "internal" / "recipe.toml"),
        "-o",
        "third",
    ]
    ways = {
        again_folder(out): start(["sh", str(out / "internal" / "again.sh")], elsewhere, PATH=programs),
        elsewhere / "mine": start([sys.executable, str(out / "internal" / "again.py"), "mine"], elsewhere),
        folder / "third": start(by_recipe, folder, PATH=programs),
    }
    for written, process in ways.items():
        _, err = process.communicate(timeout=300)
        assert process.returncode == 0, err
        assert content(written) == made


@pytest.mark.parametrize(
    ("suffix", "recipe", "fields"),
    [
        (".csv", ROLES + REFINE, IN_ORDER | SAFE | OPEN),
        (".csv", ROLES + SELECT, OPEN),
        (".csv", UNIT + REFINE, SAFE),
        (".parquet", ROLES + REFINE + SELECT, IN_ORDER | OPEN),
        (".parquet", UNIT, OPEN),
        (".sav", ROLES + REFINE, IN_ORDER | OPEN),
        (".sav", UNIT + SELECT, {}),
        (".sav", ROLES, {"output__kind": "csv"} | SAFE),
        (".csv", ROLES, {"output__kind": "parquet"} | OPEN),
    ],
)
def test_three_ways_give_the_bytes_of_the_app(tmp_path, programs, suffix, recipe, fields):
    source = tmp_path / f"the survey{suffix}"
    survey(source)
    (tmp_path / "mine.toml").write_text(recipe)
    client = Client(Session(tmp_path))
    client.session.open(str(source), ma.Recipe.read(tmp_path / "mine.toml"))
    client.settle()
    client.get("/try")
    client.settle()
    client.post("/try/keep", note="")
    client.post("/try/apply", k="5")
    client.get("/try")
    client.settle()
    client.post("/try/keep", note="")
    out = tmp_path / "it's out"
    write(client, out, f"/release/{client.session.candidates[0].number}", **fields)
    client.session.worker.end()
    made = content(out)
    assert b"Chosen among 2" in made["internal/recipe.toml"]
    assert len(made) == (6 if "output__public" in fields else 5)
    check(source, out, programs)


ILL = ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "../../etc/passwd", "n" * 240, "\u202eab", "end "]


STEPS = (
    "/open",
    "/",
    "/try",
    "/compare",
    "/look",
    *(f"/look?part={part}" for part in range(1, 9)),
    "/release",
    "/quit",
)


def test_names_of_ill_will_do_nothing_on_a_narrow_screen_and_three_ways_give_the_bytes(tmp_path, programs, browser):
    source, out = tmp_path / "-rf $(date) 'x.csv", tmp_path / "-o `it`"
    values = {name: [(i * 7 + j * j) % 97 for i in range(120)] for j, name in enumerate(ILL)}
    ma.write(pa.table(values), source)
    with running(tmp_path, f"./{source.name}", "-o", out.name) as app:
        with watched(app, browser, width=320) as page:
            set_roles(page)
            compare_two(page, app)
            for path in STEPS:
                page.goto(app.origin + path)
                see(page.locator("h1"))
                idle(page)
                if path == "/look":
                    see(page.locator("#columns svg").first)
                page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
                assert page.locator("script").count() == 1, path
                assert page.locator("img, iframe, object, embed, [onerror]").count() == 0, path
                assert page.evaluate("document.documentElement.scrollWidth") <= 320, path
            page.goto(f"{app.origin}/release")
            for box in page.locator("input[name=tick]").all():
                box.check()
            page.locator("input[id='output.public']").check()
            see(page.get_by_role("link", name="See the public report"))
            page.locator("#write").click()
            see(page.locator("#done"))
            assert page.evaluate("document.documentElement.scrollWidth") <= 320
        assert app.end() == (130, "")
    check(source, out, programs)


def set_roles(page):
    see(page.get_by_role("heading", name="Columns", exact=True))
    for place in range(len(ILL)):
        for role in ("keep", "quasi"):
            page.locator(f"#role-{place}").select_option(role)
            contains(page.locator("#undo"), f"→ {role}")
    contains(page.locator("#line"), f"{len(ILL)} masked")


def test_three_ways_give_the_bytes_of_two_files_that_were_joined(tmp_path, programs, monkeypatch):
    monkeypatch.chdir(tmp_path)
    people, homes = tables()
    people.to_csv("people.csv", index=False)
    homes.to_csv("homes.csv", index=False, sep=";", decimal=",")
    client = Client(Session(tmp_path))
    client.session.open("people.csv", None, households="homes.csv", **CHOICES)
    client.settle()
    write(client, "out", **OPEN)
    assert {"release/people_masked.csv", "release/homes_masked.csv", "internal/again.sh"} < {*names(tmp_path / "out")}
    check(tmp_path / "people.csv", tmp_path / "out", programs)
    client.session.worker.end()
