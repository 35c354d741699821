"""No hostile formula, term, condition or relation is run; and the campaign would notice one that is."""

import subprocess
import sys
from pathlib import Path

import pytest

from adversary import grammar

FILE = grammar.canary()


@pytest.fixture(scope="module")
def watch():
    grammar.warm_up(FILE)
    return grammar.Watch()


def test_some_hostile_texts_are_read_or_refused_and_none_is_run(tmp_path, monkeypatch, watch):
    monkeypatch.chdir(tmp_path)
    found = [grammar.judged(*grammar.drawn(39, number), FILE, watch) for number in range(600)]
    assert [wrong for _, wrong in found if wrong] == []
    assert {done for done, _ in found} == {"read", "refused"}
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", grammar.KINDS)
@pytest.mark.parametrize("number", range(len(grammar.HEAVY) + len(grammar.PAYLOADS)))
def test_each_payload_and_whatever_is_heavy_takes_less_than_a_second(kind, number, tmp_path, monkeypatch, watch):
    monkeypatch.chdir(tmp_path)
    text = [*grammar.HEAVY, *grammar.PAYLOADS][number]
    for said in (text, f"y ~ {text}", f"log({text})", f"x = {text}"):
        assert grammar.judged(kind, said, FILE, watch)[1] == []
    assert list(tmp_path.iterdir()) == []


def test_a_text_that_runs_fails_or_writes_would_be_noticed(tmp_path, monkeypatch, watch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(grammar, "_read", lambda _, text, __: eval(text))
    monkeypatch.setattr(grammar, "_computed", lambda *_: None)
    done, wrong = grammar.judged("term", f"open('{grammar.SENTINEL}', 'w').close()", FILE, watch)
    assert done == "read"
    assert {"Python did compile", "Python did exec", "the file was written"} <= set(wrong)
    assert grammar.judged("term", "1 / 0", FILE, watch) == ("failed", ["ZeroDivisionError where it is read"])


def test_a_case_of_a_seed_is_always_the_same():
    assert [grammar.drawn(5, number) for number in range(30)] == [grammar.drawn(5, number) for number in range(30)]


@pytest.mark.campaign
def test_five_thousand_hostile_texts():
    command = [sys.executable, "-m", "adversary", "grammar", "--seed", "1", "--cases", "5000"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[2], check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "5000 texts, 0 failed" in done.stdout
