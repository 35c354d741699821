"""Pages in process: what each shows and does, and what is said when something is refused."""

import html
import json
import os
import re
import subprocess
import sys
import threading
from urllib.parse import urlencode

import pyarrow as pa
import pyarrow.csv
import pytest

from microagg.app import answers, forms
from microagg.app.answers import PASSAGES
from microagg.app.edits import with_roles
from microagg.app.pages import columns as columns_page
from microagg.app.words import said, set_out
from microagg.app.worker import COMPARE, TRY, Job
from microagg.checks import check_k
from microagg.errors import InvalidData, MicroaggError
from microagg.jobs import masking
from microagg.jobs.inspecting import exposure_of
from microagg.recipe import Recipe
from tests.app import help_text
from tests.app.client import remedies, shown, text_of
from tests.cli import call


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


def test_roles_and_reasons_are_those_of_inspect(client, folder):
    result = call("inspect", folder / "survey.csv", "--json", "-o", folder / "guessed.toml", "--force")
    facts = json.loads(result.stdout)
    rows = columns_page.rows_of(client.session)
    assert [(row.name, row.role, row.reason) for row in rows] == [
        (one["name"], one["role"], one["reason"]) for one in facts["columns"]
    ]
    page = client.get("/")
    chosen = re.findall(r'aria-label="role of ([^"]*)".*?<option value="(\w+)" selected>', page.text)
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
    assert re.search(rf'id="e-{client.row("age")}" role="alert">2 columns have the role unit', page.text)
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
    assert "The rows are in the original order" not in text_of(page)
    page = client.post("/try/apply", output__same_order=["", "yes"])
    assert "The rows are in the original order" in text_of(page)
    page = client.post("/try/apply", remedy=remedies(page)["Sort the rows"])
    assert not client.session.recipe.output.same_order
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
    for page, names in PASSAGES.items():
        made = "".join(map(help_text.passage, names))
        assert answers.help_text(page) == made, "python -m tests.app.help_text"
        assert made in client.get("/" if page == "columns" else f"/{page}").text
    assert {one.stem for one in help_text.HOME.iterdir()} == {name for names in PASSAGES.values() for name in names}
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
