"""What a person sees and a program gets: bars, remarks, JSON, and Ctrl-C."""

import io
import json
import logging
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from rich.console import Console
from typer.main import get_command
from typer.testing import CliRunner

import microagg as ma
from microagg.cli import _terminal, app
from microagg.cli._terminal import Terminal
from microagg.jobs.process import insisting
from tests.cli import call


@pytest.fixture
def shown(monkeypatch):
    """Give a terminal that is one, and what it has shown."""
    monkeypatch.setattr(_terminal, "_PATIENCE", 0.2)
    terminal = Terminal()
    terminal._err = Console(file=io.StringIO(), force_terminal=True, width=80)
    return terminal, terminal._err.file


@pytest.mark.parametrize("way", ["bar", "wait"])
def test_work_that_does_not_call_back_is_shown_after_a_moment(shown, way):
    terminal, screen = shown
    with getattr(terminal, way)("compiling"):
        pass
    assert screen.getvalue() == ""
    with getattr(terminal, way)("compiling"):
        time.sleep(0.6)
        logging.getLogger("microagg").warning("a remark")
    assert "compiling" in screen.getvalue()
    assert "a remark\n" in screen.getvalue()


def test_a_bar_follows_what_it_is_told(shown):
    terminal, screen = shown
    with terminal.bar("masking") as tell:
        time.sleep(0.4)
        tell(3, 4)
        time.sleep(0.4)
    assert "masking" in screen.getvalue()


@pytest.mark.parametrize("quiet", [True, False])
def test_nothing_moves_where_nobody_looks(monkeypatch, capsys, quiet):
    monkeypatch.setattr(_terminal, "_PATIENCE", 0.05)
    terminal = Terminal(quiet=quiet)
    with terminal.bar("masking"), terminal.wait("writing"):
        time.sleep(0.2)
    logging.getLogger("microagg").warning("a remark")
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == ("" if quiet else "a remark\n")


def test_names_are_shown_as_they_are_whatever_they_mean_to_the_terminal(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = ["[/b]", "[red]x", ":smile:", "end\\\\"]
    rows = "".join(f"{i * 3 % 41},{i * i % 17},{i * 7 % 11},{i * i * i % 29}\n" for i in range(60))
    Path("odd.csv").write_text(",".join(names) + "\n" + rows)
    masked = "out/release/odd_masked.csv"
    for words in (
        ["inspect", "odd.csv"],
        ["mask", "odd.csv", "-k", "3", "--yes"],
        ["assess", "odd.csv", masked],
        ["tree", "odd.csv", "--count", "4"],
    ):
        result = CliRunner().invoke(app, words)
        assert result.exit_code == 0, repr(result.exception)
        if words[0] != "mask":
            assert all(name in result.stdout for name in names), result.stdout
    result = CliRunner().invoke(app, ["compare", "odd.csv", "-k", "3", "--methods", "mdav", "--yes"])
    assert result.exit_code == 0, repr(result.exception)


@pytest.mark.parametrize(
    "command", ["demo", "inspect", "mask", "assess", "compare", "tree", *(f"datasets {w}" for w in ("fetch", "make"))]
)
def test_help_shows_every_word_of_it(command):
    """What stands in brackets is not to be taken for a style and left out."""
    found = get_command(app)
    for word in command.split():
        found = found.commands[word]
    said = CliRunner().invoke(app, [*command.split(), "--help"], env={"COLUMNS": "200"}).output
    for option in found.params:
        text = getattr(option, "help", None)
        if text:
            assert text.replace("\\[", "[") in " ".join(said.replace("\u2502", " ").split()), text


def test_help_says_that_names_of_columns_will_do():
    said = CliRunner().invoke(app, ["mask", "--help"], env={"COLUMNS": "200"}).output
    assert "are chosen: emad, ama, or a list of names, separated by commas." in " ".join(
        said.replace("\u2502", " ").split()
    )


def test_json_has_no_infinite_numbers(capsys):
    content = {
        "weights": [1.5, float("inf"), float("nan")],
        "array": np.array([1.0, -np.inf]),
        "scalar": np.float64("nan"),
        "count": np.int64(3),
        "pair": (1, {"deep": float("inf")}),
        "flag": True,
        "path": Path("a"),
    }
    Terminal(as_json=True).result(content)

    def refuse(word):
        raise AssertionError(word)

    assert json.loads(capsys.readouterr().out, parse_constant=refuse) == {
        "weights": [1.5, None, None],
        "array": [1.0, None],
        "scalar": None,
        "count": 3,
        "pair": [1, {"deep": None}],
        "flag": True,
        "path": "a",
    }


def test_ctrl_c_is_repeated_until_it_is_heeded():
    before = signal.getsignal(signal.SIGINT)

    def lose_one_and_go_on():
        with insisting():
            with suppress(KeyboardInterrupt):  # as compiled code does that has called back
                signal.raise_signal(signal.SIGINT)
            time.sleep(20)

    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        lose_one_and_go_on()
    assert time.monotonic() - began < 5
    assert signal.getsignal(signal.SIGINT) is before
    time.sleep(0.8)  # and no longer


def test_ctrl_c_while_the_program_starts_ends_it_without_a_trace(tmp_path):
    """A module that the program imports waits for the signal, as a slow disk would let it."""
    (tmp_path / "slow.py").write_text(
        "import signal, sys, time\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background ignores it\n"
        "class Slow:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'microagg.cli._program':\n"
        "            print('starting', flush=True)\n"
        "            time.sleep(60)\n"
        "sys.meta_path.insert(0, Slow())\n"
        "import microagg.cli\n"
        "sys.argv = ['microagg', '--help']\n"
        "microagg.cli.main()\n"
    )
    process = subprocess.Popen(
        [sys.executable, tmp_path / "slow.py"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "starting\n"
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert (process.returncode, said) == (130, "Aborted.\n")


@pytest.mark.campaign
@pytest.mark.parametrize(
    "words",
    [
        ["mask", "wide.parquet", "-k", "3", "--yes"],
        ["compare", "wide.parquet", "-k", "3", "--yes"],
        ["datasets", "make", "survey", "-n", "9000000", "-o", "made.csv"],
    ],
    ids=lambda words: words[0],
)
def test_ctrl_c_stops_a_command_and_leaves_nothing(tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    import pyarrow as pa
    import pyarrow.parquet as pq

    matrix = ma.datasets.uniform(150_000, 30, seed=0)
    pq.write_table(pa.table({f"v{j}": column for j, column in enumerate(matrix.T)}), "wide.parquet")
    process = subprocess.Popen([Path(sys.executable).parent / "microagg", *words], stdout=subprocess.DEVNULL)
    time.sleep(5)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    began = time.monotonic()
    assert process.wait(timeout=60) != 0
    assert time.monotonic() - began < 5  # a second, but for a machine that does other things too
    assert [path.name for path in tmp_path.iterdir()] == ["wide.parquet"]


def test_ctrl_c_within_the_first_import_of_ours_shows_no_traceback():
    code = (
        "import sys\n"
        "class Pressed:\n"
        "    def find_spec(self, name, path, target=None):\n"
        "        if name.startswith('microagg.jobs'):\n"
        "            sys.meta_path.remove(self)\n"
        "            raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Pressed())\n"
        "from microagg.cli import main\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_no_code_that_commands_a_terminal_reaches_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    codes = "\x1b]0;x\x07\x9b2J\u202e"
    names, numbers = [f"pay{codes}", "tax", "rent"], np.random.default_rng(0).random((60, 3))
    source = tmp_path / f"in{codes}.parquet"
    ma.write(pa.table(dict(zip(names, numbers.T, strict=True))), source)
    release = ma.protect(ma.read(source), 3, select=names[:2])
    assert "grouped on pay" in repr(release)
    said = repr(release)
    for words in (["inspect", source], ["mask", source, "-y", "--script", "-o", f"out{codes}"], ["tree", source]):
        for more in ([], ["--json"]):
            result = CliRunner().invoke(app, [*map(str, words), *more, *(["--force"] if words[0] != "tree" else [])])
            assert result.exit_code == 0, result.output
            said += result.stdout + result.stderr
            if more:
                json.loads(result.stdout)
    main = "import sys; from microagg.cli import main; main()"
    wrong = [sys.executable, "-c", main, "inspect", f"none{codes}.parquet"]
    said += subprocess.run(wrong, capture_output=True, text=True, check=False).stderr
    assert not {char for char in said if char != "\n" and not char.isprintable() and not char.isspace()}


def test_no_name_of_a_file_makes_a_line_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    forged = "\nForged: all promises kept\r\x0b\u2028Forged: too"
    source = f"in{forged}.csv"
    ma.write(pa.table({name: np.random.default_rng(0).random(60) * 9 for name in ("pay", "tax")}), source)
    others = {
        "inspect": ["-o", f"recipe{forged}.toml"],
        "tree": ["-o", f"tree{forged}.svg"],
        "compare": ["-y", "-k", "3", "-o", f"risk{forged}.svg"],
        "mask": ["-y", "--script", "-o", f"out{forged}"],
    }
    said = "".join(call(command, source, *words).output for command, words in others.items())
    said += call("mask", source, "-y", "-o", f"again{forged}", "--method", "cbfs").output  # and warns of the former one
    said += call("mask", source, "-k", 3, "--quasi", "pay,tax", "-o", "disk", "--engine", "disk", "--same-order").output
    said += call("datasets", "make", "survey", "-o", f"made{forged}.csv", "--records", 50).output
    assert "hold other releases of the same file" in said
    assert not [line for line in said.splitlines() if line.startswith("Forged")]
