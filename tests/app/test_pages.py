"""Pages in process: what each shows and does, and what is said when something is refused."""

import html
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
from urllib.parse import urlencode

import pyarrow as pa
import pyarrow.csv
import pytest

from microagg.app import forms
from microagg.app.edits import with_roles
from microagg.app.pages import columns as columns_page
from microagg.app.words import said, set_out
from microagg.app.worker import COMPARE, TRY, Job
from microagg.checks import check_k
from microagg.desk import masking, memory, opening
from microagg.desk.inspecting import exposure_of
from microagg.errors import InvalidData, MicroaggError
from microagg.recipe import Recipe
from tests.app import help_text
from tests.cli import call


def text_of(answer):
    """Give a page as it is read."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", answer.text)).split())


def shown(answer, name):
    return re.search(rf'id="{name}"[^>]*>([^<]*)<', answer.text)[1]


def remedies(answer):
    """Give the changes that buttons offer, by their labels."""
    found = re.findall(r'name="remedy" value="([^"]*)"[^>]*><bdi>([^<]*)<', answer.text)
    return {html.unescape(label): html.unescape(change) for change, label in found}


def test_nothing_heavy_is_imported_before_a_file_is_opened():
    code = (
        "import sys, pathlib, asyncio\n"
        "import microagg.app, microagg.app.server, microagg.app.command\n"
        "from microagg.app.session import Session\n"
        "from tests.app.client import Client\n"
        "client = Client(Session(pathlib.Path('.')))\n"
        "assert 'Open a file' in client.get('/open').text\n"
        "print({'numpy', 'pyarrow', 'scipy', 'numba', 'matplotlib'} & set(sys.modules))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=os.environ)
    assert done.stdout.strip() == "set()", done.stderr


def test_without_a_file_every_step_leads_to_open(empty):
    for path in ("/", "/try"):
        assert empty.ask("GET", path).headers["location"] == "/open"
    page = empty.get("/open")
    assert "survey.csv" in page.text
    assert "Make a survey to try it on" in page.text


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"path": "nowhere.csv"}, "There is no such file"),
        ({"path": "postgresql://me:secret@host/db?table=t"}, "Databases are named when microagg is started"),
        ({}, "Pick a file"),
    ],
)
def test_what_cannot_be_opened_is_refused_at_its_field(empty, fields, words):
    answer = empty.post("/open/read", **fields)
    assert answer.status == 422
    assert words in text_of(answer)
    assert "secret" not in answer.text


def test_a_file_is_picked_from_the_list_by_its_place(empty, folder):
    files = sorted(path.name for path in folder.iterdir() if path.suffix == ".csv")
    page = empty.post("/open/read", file=files.index("survey.csv"))
    assert "<h1>Columns</h1>" in page.text
    assert empty.session.opened.source.name == "survey.csv"


def test_a_file_that_is_read_wrongly_says_why_and_can_be_read_differently(empty, tmp_path):
    path = tmp_path / "one.csv"
    path.write_text("1;2,5\n3;4,5\n5;6,5\n7;8,5\n" * 10)
    empty.session.folder = tmp_path
    page = empty.post("/open/read", path="one.csv")
    assert empty.session.opened is None
    assert "header" in text_of(page)
    assert 'name="read.header"' in page.text
    page = empty.post("/open/read", path="one.csv", read__header="no")
    assert len(empty.session.columns) == 2


def test_the_password_of_a_database_that_cannot_be_read_is_not_shown(empty):
    for address in ("postgresql://me:cell-4711@127.0.0.1:1/db?table=t", "mysql://me:cell-4711@127.0.0.1:1/db"):
        empty.session.open(address)
        empty.settle()
        page = empty.get("/open")
        assert 'role="alert" id="e-path"' in page.text
        assert "cell-4711" not in page.text


def test_a_file_beyond_memory_is_not_read_and_is_masked_on_disk_by_the_command(empty, folder, tmp_path, monkeypatch):
    empty.session.folder = tmp_path
    shutil.copy(folder / "survey.csv", tmp_path / "large.csv")
    monkeypatch.setattr(memory, "free_memory", lambda: 200_000)
    monkeypatch.setattr(memory, "_LOOKED_AT", 400)
    page = empty.post("/open/read", path="large.csv")
    assert empty.session.opened is None
    said = "would need some 1.0 MB of memory (600 records × 13 columns, 10 of them to mask), and 0.2 MB are free"
    assert said in text_of(page)
    assert "There is then no report" in text_of(page)
    assert [path.name for path in tmp_path.iterdir()] == ["large.csv"]
    assert empty.post("/open/recipe", place="large.csv").status == 422
    page = empty.post("/open/recipe", place="mine.toml")
    words = shlex.split(html.unescape(re.search(r"<textarea[^>]*>([^<]*)<", page.text)[1]))
    assert words[-2:] == ["--engine", "disk"]
    words[words.index("-o") + 1] = str(tmp_path / "out")
    assert call(*words[1:]).exit_code == 0
    assert len((tmp_path / "out" / "large_masked.csv").read_text().splitlines()) == 601
    empty.post("/open/anyway")
    assert empty.session.inspection.records == 600


def test_memory_that_is_short_after_all_is_told_alike(client, empty, monkeypatch):
    def short(*_, **__):
        raise MemoryError

    monkeypatch.setattr(masking, "mask", short)
    client.post("/try/apply", run=1)
    client.settle()
    assert "Mask it on disk" in text_of(client.get("/try"))
    assert "--engine disk</textarea>" in client.get("/open").text
    monkeypatch.setattr(opening, "open_source", short)
    page = empty.post("/open/read", path="survey.csv")
    assert "does not fit into memory" in text_of(page)


def test_only_what_can_be_masked_on_disk_is_offered_to_be(client, folder, monkeypatch):
    def short(*_, **__):
        raise MemoryError

    call("datasets", "make", "survey", "-n", 600, "-o", folder / "survey.feather")
    client.session.open(str(folder / "survey.feather"))
    client.settle()
    monkeypatch.setattr(masking, "mask", short)
    client.post("/try/apply", run=1)
    client.settle()
    page = client.get("/open").text
    assert "Only a single file of Parquet or text can be masked on disk" in page
    assert 'id="disk-command"' not in page
    (folder / "survey.feather").unlink()


def test_a_survey_is_made_to_try_it_on(empty, tmp_path):
    empty.session.folder = tmp_path
    empty.post("/open/make")
    empty.settle()
    assert (tmp_path / "survey.csv").exists()
    assert "<h1>Columns</h1>" in empty.get("/").text


def test_roles_and_reasons_are_those_of_inspect(client, folder):
    result = call("inspect", folder / "survey.csv", "--json", "-o", folder / "guessed.toml", "--force")
    facts = json.loads(result.stdout)
    rows = columns_page.rows_of(client.session)
    assert [(row.name, row.role, row.reason) for row in rows] == [
        (one["name"], one["role"], one["reason"]) for one in facts["columns"]
    ]
    page = client.get("/")
    chosen = re.findall(r'aria-label="role of ([^"]*)".*?<option selected>(\w+)</option>', page.text)
    assert dict(chosen) == {one["name"]: one["role"] for one in facts["columns"]}
    assert page.text.count("<tr id=") == 13
    assert shown(page, "alone") == str(facts["unique"])
    assert all(" ".join(set_out(one["reason"]).split()) in text_of(page) for one in facts["columns"])
    assert "Internal: figures of original values." in page.text


def test_a_role_changes_the_recipe_line_and_the_exposure(client):
    page = client.post("/columns/apply", **{f"role-{client.row('age')}": "keep"})
    assert client.session.recipe.roles.keep == ("age",)
    assert "9 masked" in shown(page, "line")
    opened = client.session.opened
    changed = type(opened)(opened.address, opened.source, client.session.recipe)
    assert shown(client.get("/"), "alone") == str(exposure_of(changed).unique)
    assert "role of age: quasi → keep" in text_of(page)
    assert "as you chose; the guess was quasi" in text_of(page)


def test_without_a_column_to_mask_try_is_locked(client):
    quasi = [client.row(name) for name in client.session.recipe.roles.quasi]
    page = client.post("/columns/bulk", row=quasi, role="drop")
    assert "No column is left to mask" in text_of(page)
    assert 'role="alert"' in page.text
    assert re.search(r'id="role-0"[^>]* autofocus', page.text)
    assert "No column is left to mask" in text_of(client.get("/try"))
    assert client.session.figures() is None
    client.post("/history", to=0)
    assert client.session.lacking == ""


def test_two_units_are_refused_at_the_row(client):
    client.post("/columns/apply", **{f"role-{client.row('person')}": "unit"})
    page = client.post("/columns/apply", **{f"role-{client.row('age')}": "unit"})
    assert page.status == 422
    assert re.search(rf'id="e-{client.row("age")}" role="alert">2 columns are units', page.text)
    assert client.session.recipe.roles.unit == "person"
    assert "different units (“person”) share masked values" in text_of(client.get("/try"))


def test_a_weight_of_words_is_refused_at_the_row_and_says_what_to_do(client):
    region, before = client.row("region"), client.session.recipe
    page = client.post("/columns/apply", **{f"role-{region}": "weight"})
    assert page.status == 422
    error = html.unescape(re.search(rf'id="e-{region}" role="alert">([^<]*)<', page.text)[1])
    assert error.startswith("a weight must be numbers: column ")
    assert "or say how numbers are written: “decimal mark”, “thousands mark”." in error
    assert client.session.recipe == before


def test_a_kind_is_changed_and_left_to_the_type_again(client):
    field = f"kind-{client.row('age')}"
    client.post("/columns/apply", **{field: "ordinal"})
    assert client.session.recipe.kinds.kinds["age"] == "ordinal"
    spike = client.session.recipe.kinds.kinds["wage"]
    client.post("/columns/apply", **{field: "", f"kind-{client.row('wage')}": "="})
    assert "age" not in client.session.recipe.kinds.kinds
    assert client.session.recipe.kinds.kinds["wage"] == spike


def test_a_recipe_is_loaded_and_a_wrong_one_is_refused_with_its_line(client, folder):
    client.session.recipe.replace(k=4).write(folder / "four.toml", overwrite=True)
    (folder / "bad.toml").write_text("k = 3\n[masking]\nscale = 'metric'\n")
    page = client.post("/columns/load", recipe="four.toml")
    assert client.session.recipe.k == 4
    assert "loaded the recipe four.toml" in text_of(page)
    page = client.post("/columns/load", path="bad.toml")
    assert page.status == 422
    assert "bad.toml, line 3" in text_of(page)
    assert client.session.recipe.k == 4


def test_reading_differently_is_undone_by_reading_again(client):
    first = client.session.recipe
    client.post("/columns/read", read__delimiter=";")
    assert len(client.session.columns) == 1 or client.session.refused is not None
    client.get("/")
    client.post("/columns/read", read__delimiter=",", read__encoding="utf-8")
    client.settle()
    assert len(client.session.columns) == 13
    while client.session.history.at:
        client.get("/")
        client.post("/history", to=client.session.history.at - 1)
    client.settle()
    assert client.session.recipe == first
    assert client.session.ready
    assert len(client.session.columns) == 13


def test_a_guess_of_the_decimal_mark_is_told_and_the_other_reading_is_a_button(empty, tmp_path):
    rows = [f"{i % 90 + 10}.{700 + i};{i % 9};Zo\xeb" for i in range(60)]
    (tmp_path / "points.csv").write_bytes("\n".join(["wage;grade;name", *rows]).encode("cp1252"))
    empty.session.open(str(tmp_path / "points.csv"), Recipe(3).replace(quasi=["wage", "grade"], drop=["name"]))
    empty.settle()

    def decimal(button):
        return re.search(rf'id="{button}" name="read.decimal" value="(.)"', empty.get("/").text)[1]

    page = empty.get("/")
    said = "A point was read as the mark of thousands in 1 column: a guess. It could be the decimal mark."
    assert said in text_of(page)
    assert "The encoding was taken for cp1252: a guess" in text_of(page)
    assert "10.700" not in page.text
    assert "encoding “cp1252” (a guess)" in text_of(page)
    assert "pass decimal" not in page.text  # said to who programs
    page = empty.post("/columns/read", read__decimal=decimal("read-0"))
    assert empty.session.opened.source.typed(["wage"])["wage"][0].as_py() == 10.7
    assert "read differently: decimal mark as usual → ." in text_of(page)
    assert "in 1 column: a guess" not in text_of(page)
    empty.post("/history", to=0)
    empty.settle()
    assert said in text_of(empty.get("/"))
    empty.post("/columns/read", read__decimal=decimal("right-0"))
    assert empty.session.opened.source.typed(["wage"])["wage"][0].as_py() == 10700
    assert [guess.other for guess in empty.session.guesses] == [""]


def test_try_gives_the_figures_of_mask(client, folder, tmp_path):
    client.get("/try")
    client.settle()
    client.get("/try")
    client.post("/try/apply", k=7)
    client.settle()
    page = client.get("/try")
    recipe = client.session.recipe.write(tmp_path / "seven.toml")
    told = json.loads(call("mask", folder / "survey.csv", "--recipe", recipe, "-o", tmp_path / "out", "--json").stdout)
    assert shown(page, "reached") == str(told["k_reached"]) == "7"
    assert re.search(r'<data id="loss" value="([^"]+)"', page.text)[1] == repr(told["information_loss_percent"])
    figures = client.session.figures()
    assert figures.facts["record_linkage_all_keys_percent"] == told["record_linkage_all_keys_percent"]
    assert figures.bound == 100 / 7
    assert "Internal: exact losses" in page.text
    change = remedies(page)["Sort the rows"]
    page = client.post("/try/apply", remedy=change)
    assert client.session.recipe.output.reorder
    assert "The rows are in the original order" not in text_of(page)


def test_an_error_stands_at_its_field_and_nothing_is_lost(client):
    page = client.post("/try/apply", k=1, masking__scale="none")
    assert page.status == 422
    with pytest.raises(MicroaggError) as found:
        check_k(1)
    assert f'id="e-k" role="alert">{html.escape(str(found.value).replace("Pass", "Choose"))}</p>' in page.text
    assert re.search(r'value="1"[^>]*id="k"', page.text)
    assert re.search(r'<option value="none" selected>', page.text)
    assert client.session.recipe.k == 5


def test_a_stratum_smaller_than_k_offers_its_size_and_names_no_stratum(client):
    page = client.post("/try/apply", k=300)
    client.settle()
    page = client.get("/try")
    assert "strata by 'region' have fewer than k=300 records (the smallest has" in text_of(page)
    smallest = client.session.exposure().smallest_stratum
    assert remedies(page) == {
        f"Set k to {smallest}": f"k={smallest}",
        "Mask “region”, so that it is no stratum": f"role-{client.row('region')}=quasi",
        "Drop “region”, so that it is no stratum": f"role-{client.row('region')}=drop",
    }
    assert remedies(client.get("/")) == remedies(page)
    client.post("/try/apply", k=700)
    whole = client.get("/try")
    assert "600 records cannot fill a group of k=700" in text_of(whole)
    assert remedies(whole) == {}  # strata are not what is in the way
    client.post("/history", to=1)
    values = set(client.session.opened.source.table["region"].to_pylist())
    assert not any(
        re.search(rf"\b{re.escape(str(value))}\b", text_of(page)) for value in values if not str(value).isdecimal()
    )
    client.post("/try/apply", k=300, remedy=f"k={smallest}")  # the field, and the button
    assert client.session.recipe.k == smallest
    client.settle()
    assert client.session.figures().k_reached >= smallest
    client.post("/history", to=1)
    page = client.post("/columns/apply", remedy=f"role-{client.row('region')}=drop")
    assert client.session.recipe.roles.strata == ()
    assert "role of region: strata → drop" in text_of(page)
    client.settle()
    assert client.session.failure() is None


def test_a_remedy_of_one_change_is_a_button_and_a_step_of_the_history(empty, tmp_path):
    rows = [f"{i // 3},{i * 7 % 50},{i * i % 61 if i else ''}" for i in range(60)]
    (tmp_path / "lacking.csv").write_text("\n".join(["house,x,y", *rows]) + "\n")
    empty.session.open(str(tmp_path / "lacking.csv"), Recipe(2).replace(quasi=["x", "y"], unit="house"))
    empty.settle()
    cases = [
        ({"masking__missing": "error"}, "Keep them, and group records that lack the same columns", "→ pattern"),
        ({"method__name": "univariate"}, "Choose mdav, which groups whole records", "method univariate → mdav"),
        ({"masking__per_column": "yes"}, "Let k hold for whole records", "k for each column only yes → no"),
        ({"k": 25}, "Set k to 20", "k 25 → 20"),
        ({"k": 25}, "Drop the unit “house”: k then counts records", "role of house: unit → drop"),
        ({"masking__missing": "error"}, "Leave those records out", "missing values error → drop"),
        ({"method__name": "univariate"}, "Accept k for each column only: whole records may be unique", "no → yes"),
    ]
    for fields, label, words in cases:
        empty.get("/try")
        empty.post("/try/apply", **fields, run=1)
        empty.settle()
        page = empty.get("/try")
        assert 'id="failure"' in page.text
        empty.post("/try/apply", **fields, remedy=remedies(page)[label])
        assert words in empty.session.history.now.words
        empty.settle()
        assert (empty.session.failure() is None) == (fields != {"method__name": "univariate"} or "mdav" in label)
    assert list(remedies(empty.get("/try"))) == ["Choose mdav, which groups whole records"]  # as a column has gaps


def test_what_takes_long_says_how_long_and_what_would_be_faster(client, monkeypatch):
    monkeypatch.setattr(type(client.session), "seconds", property(lambda _: 90.0))
    page = client.post("/try/apply", refine__effort="fast")
    assert "Start anyway" in page.text
    assert "This takes some 90 s" in text_of(page)
    assert [client.session.figures(), len(remedies(page))] == [None, 3]
    client.post("/try/apply", remedy="blocks.by=median&blocks.max_block=10000")
    client.post("/try/apply", remedy="select.by=emad&select.count=3")
    client.post("/try/apply", refine__effort="fast", remedy="refine.effort=")
    recipe = client.session.recipe
    assert (recipe.blocks.max_block, recipe.select.count, recipe.refine.effort) == (10000, 3, None)
    assert "choice of columns as usual → emad" in client.session.history.steps[-2].words


def test_a_form_of_a_former_state_is_told_what_changed(client):
    old = client.number
    client.post("/try/apply", k=6)
    page = client.post("/try/apply", number=old, k=9, masking__scale="range" if "range" in SCALES else SCALES[-1])
    assert page.status == 409
    assert "k 5 → 6" in text_of(page)
    assert client.session.recipe.k == 6
    assert '<input type="hidden" name="k" value="9">' in page.text
    client.post("/try/apply", k=9)  # as the page's button does, with its own number
    assert client.session.recipe.k == 9


SCALES = [one.value for one in forms.table_of("masking", Recipe(5), ()).controls[0].options]


def test_undo_gives_figures_back_at_once(client):
    client.get("/try")
    client.settle()
    first = client.session.figures()
    client.get("/try")
    client.post("/try/apply", k=6)
    client.settle()
    client.get("/try")
    client.post("/history", to=0)
    assert client.session.recipe.k == 5
    assert client.session.figures() is first
    client.get("/")
    client.post("/history", to=1)
    assert client.session.figures().k_reached == 6


def test_thirty_changes_are_undone_and_redone_to_the_byte(client):
    session = client.session
    texts = [session.recipe.text()]
    for place in range(30):
        made = session.recipe.replace(k=6 + place, nominal="draw" if place % 3 else "mode")
        name = session.columns[place % len(session.columns)]
        session.change(with_roles(made, session.columns, {name: "keep" if place % 2 else "drop"}), f"change {place}")
        texts.append(session.recipe.text())
    assert len(set(texts)) == 31
    for place in (*range(29, -1, -1), *range(1, 31)):
        session.go(place)
        assert session.recipe.text() == texts[place]


def test_figures_of_a_former_choice_are_labelled_until_new_ones_come(client, monkeypatch):
    client.get("/try")
    client.settle()
    held, judge = threading.Event(), masking.judge

    def slowly(release, progress=None):
        while not held.wait(0.01):
            progress(0, 1)
        return judge(release, progress)

    real = masking.mask

    def mask(opened, progress=None):
        while not held.wait(0.01):
            progress(0, 1)
        return real(opened, progress)

    monkeypatch.setattr(masking, "mask", mask)
    number = client.get("/try") and client.number
    body = f"number={number}&k=8".encode()
    client.ask("POST", "/try/apply", body, origin=client.keys.origin)
    page = client.get("/try")
    assert "Of an earlier choice:" in page.text
    assert shown(page, "reached") == "5"
    assert 'class="verdict good former"' in page.text or "former" in re.search(r'class="(verdict[^"]*)"', page.text)[1]
    monkeypatch.setattr(masking, "judge", slowly)
    held.set()
    client.settle()
    page = client.get("/try")
    assert "Of an earlier choice:" not in page.text
    assert shown(page, "reached") == "8"


def test_what_was_cancelled_is_not_tried_again_by_itself(client, monkeypatch):
    begun = threading.Event()

    def mask(_, progress=None):
        begun.set()
        while True:
            progress(1, 10)

    monkeypatch.setattr(masking, "mask", mask)
    client.get("/try")
    assert begun.wait(10)
    page = client.post("/columns/apply", **{f"role-{client.row('age')}": "keep"})  # nobody waits for the former try
    assert client.session.worker.idle
    assert "Cancelled." not in text_of(page)
    begun.clear()
    client.get("/try")
    assert begun.wait(10)
    client.post("/history", to=0)
    assert client.session.worker.idle
    begun.clear()
    client.get("/try")
    assert begun.wait(10)
    page = client.post("/job/cancel")
    assert client.session.worker.idle
    assert "Cancelled. Nothing was changed." in text_of(page)
    begun.clear()
    page = client.get("/try")
    client.settle()
    assert not begun.is_set()
    assert "Try it" in page.text
    monkeypatch.undo()
    client.post("/try/apply", run=1)
    assert client.session.figures().k_reached == 5


def test_a_candidate_is_kept_removed_and_brought_back(client):
    client.get("/try")
    client.settle()
    client.get("/try")
    page = client.post("/try/keep", note="for the committee")
    assert [one.name for one in client.session.candidates] == ["mdav, k 5"]
    assert "for the committee" in page.text
    client.post("/try/keep")
    assert len(client.session.candidates) == 1
    client.post("/try/forget", candidate=1)
    assert client.session.candidates == ()
    client.post("/history", to=client.session.history.at - 1)
    assert client.session.candidate(1).note == "for the committee"


def test_what_is_tried_already_is_not_tried_again(client, monkeypatch):
    tried, judged, held, real = [], [], threading.Event(), masking.judge

    def judge(release, progress=None):
        judged.append(release.recipe.k)
        assert held.wait(60)
        return real(release, progress)

    def post(**fields):
        body = urlencode({"number": client.session.history.number, **fields}).encode()
        assert client.ask("POST", "/try/apply", body, origin=client.keys.origin).status == 303

    monkeypatch.setattr(masking, "judge", judge)
    monkeypatch.setattr(client.session, "publish", lambda *given: tried.append(given))  # no figures come to be
    post(k=6, run=1)
    post(k=6, run=1)  # while it is being tried
    held.set()
    client.settle()
    assert (judged, len(tried)) == ([6], 2)
    post(k=6, run=1)  # which gave nothing
    client.settle()
    assert judged == [6, 6]
    monkeypatch.undo()
    post(run=1)
    client.settle()
    assert client.session.figures().facts
    monkeypatch.setattr(masking, "mask", None)
    post(run=1)  # as Enter in a field does that was not changed
    client.settle()
    assert client.session.worker.state == "idle"
    assert client.session.failure() is None


def test_a_method_brings_its_own_options(client):
    client.get("/try")
    page = client.post("/try/apply", method__name="vmdav")
    assert 'name="method.gamma"' in page.text
    client.post("/try/apply", method__gamma="1.1")
    assert dict(client.session.recipe.method.options) == {"gamma": 1.1}
    page = client.post("/try/apply", method__name="mdav", method__gamma="1.1")
    assert dict(client.session.recipe.method.options) == {}


def test_of_a_fault_no_message_is_shown_and_the_desk_goes_on(client, monkeypatch, capfd):
    def fail(*_, **__):
        raise ValueError("cell 4711")

    monkeypatch.setattr(columns_page, "rows_of", fail)
    page = client.get("/")
    assert page.status == 500
    assert "ValueError in test_pages.py, line" in text_of(page)
    monkeypatch.undo()
    monkeypatch.setattr(masking, "mask", fail)
    client.get("/try")
    client.settle()
    tried = client.get("/try")
    assert "ValueError in test_pages.py, line" in text_of(tried)
    assert "4711" not in page.text + tried.text
    monkeypatch.undo()
    client.post("/try/apply", run=1)
    assert client.session.figures().k_reached == 5
    written = capfd.readouterr()
    assert written.out + written.err == ""


BAD = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "../../etc/passwd",
    "long" * 60,
    "\u202eabc",
    "end ",
]


def test_names_of_ill_will_do_nothing_and_roles_can_be_set(empty, tmp_path):
    values = {name: [(i * 7 + j * j) % 97 for i in range(120)] for j, name in enumerate(BAD)}
    pa.csv.write_csv(pa.table(values), tmp_path / "bad.csv")
    empty.session.open(str(tmp_path / "bad.csv"))
    empty.settle()
    for path in ("/", "/try"):
        page = empty.get(path)
        assert "<script>alert" not in page.text
        assert "<img" not in page.text
    for index in range(len(BAD)):
        empty.get("/")
        empty.post("/columns/apply", **{f"role-{index}": "keep" if index % 2 else "quasi"})
    assert empty.session.recipe.roles.keep == tuple(BAD[1::2])
    assert empty.session.recipe.roles.quasi == tuple(BAD[::2])


def test_addresses_hold_no_names_and_pages_no_outside(client):
    client.get("/try")
    client.settle()
    for path in ("/", "/try", "/open"):
        page = client.get(path)
        links = re.findall(r'(?:href|src|action|formaction)="([^"]*)"', page.text)
        assert all(re.fullmatch(r"/[a-z./]*(\?part=\d)?|#main|data:,", link) for link in links), links
        assert "survey" not in re.search(r"<title>(.*?)</title>", page.text)[1]
        assert "http://" not in page.text
        assert len(page.text) < 300_000


def test_every_page_has_the_help_that_the_documentation_gives(client):
    client.get("/try")
    client.settle()
    for page in help_text.PAGES:
        made = help_text.help_of(page)
        assert (help_text.HOME / f"{page}.html").read_text("utf-8") == made, "python -m tests.app.help_text"
        assert made in client.get("/" if page == "columns" else f"/{page}").text
    assert "<summary>Help</summary>" not in client.post("/try/apply", number=77).text


def test_the_script_is_short():
    from microagg.app.answers import static_text

    assert len(static_text("app.js").splitlines()) <= 200
    assert static_text("../answers.py") is None


def test_without_the_extra_the_command_says_how_to_get_it():
    code = (
        "import sys; sys.modules['starlette'] = None; sys.argv = ['microagg', 'app']\n"
        "from microagg.cli import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=os.environ)
    assert done.returncode == 2
    assert "pip install 'microagg[app]'" in done.stderr


def test_advice_is_to_choose_and_names_stay_as_they_are():
    names = "column 'bus pass fare' is not known. Did you mean 'pass rate'?"
    found = said(InvalidData(f"{names} Pass one of them, or pass k=3. Or pass 'fast'.")).text
    assert found == f"{names} Choose one of them, or choose k=3. Or choose 'fast'."


def test_counting_does_not_take_the_place_of_a_try_that_waits(client):
    begun, free = threading.Event(), threading.Event()

    def held(_):
        begun.set()
        assert free.wait(20)

    session = client.session
    session.worker.submit(Job(COMPARE, "held", held))
    assert begun.wait(5)
    session.change(with_roles(session.recipe, session.columns, {"age": "keep"}), "role of age")
    session.attempt()
    client.ask("GET", "/")  # which would count who is alone by the new roles
    assert session.exposure() is None
    assert session.worker.has(TRY)
    free.set()
    client.settle()
    assert session.figures() is not None
