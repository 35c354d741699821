"""Run the real command line in this process, as fast as that can be, and hear all that it says."""

import io
import os
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import typer

from microagg.cli import _program
from microagg.errors import MicroaggError

_make = _program.make_program
_MEMORY = "/dev/shm"  # files elsewhere are forced to disk otherwise, which takes longer than all else
_UNSEEN = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)
"""Warnings that Python itself keeps from users."""


@dataclass
class Outcome:
    """What came of one command, or of one call."""

    words: list[str] = field(default_factory=list)
    code: Any = 0
    out: str = ""
    err: str = ""
    fault: str = ""  # the traceback of what was no refusal
    warned: list[str] = field(default_factory=list)
    released: Any = None  # of a call

    @property
    def said(self) -> str:
        """All that was said."""
        return self.out + self.err


class _Stream(io.TextIOWrapper):
    """A stream as Python makes them: standard output fails at what UTF-8 does not know."""

    def __init__(self, errors: str = "strict") -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", errors=errors, newline="\n")

    @property
    def text(self) -> str:
        self.flush()
        return self.buffer.getvalue().decode("utf-8", "surrogateescape")  # type: ignore[attr-defined]


_COMMANDS = ("mask", "inspect", "assess", "compare", "tree", "demo", "datasets")
_MADE: dict[str, Any] = {}


def program(words: Any = None) -> Any:
    """Return the program for a command line; it is made once for each command."""
    key = ",".join(word for word in _COMMANDS if word in (words or ()))
    if key not in _MADE:
        _MADE[key] = typer.main.get_command(_make(words))
    return _MADE[key]


@cache
def prepare() -> None:
    """Let commands in this process begin at once: programs are made once, and work has one thread."""
    os.cpu_count = lambda: 1  # results do not depend on it, and threads take longer to start than tiny files to mask
    _program.make_program = program


def command(words: list[str]) -> Outcome:
    """Run one command line."""
    from microagg.cli import main
    from microagg.jobs import messages as told_by

    prepare()
    done, out, err = Outcome(words), _Stream(), _Stream("backslashreplace")
    tell = told_by.told

    def told(error: BaseException, *rest: Any) -> Any:
        said = tell(error, *rest)
        if "a fault of the program" in said.text:
            done.fault = "".join(traceback.format_exception(error))
        return said

    former = sys.argv
    sys.argv, told_by.told = ["microagg", *words], told
    try:
        with heard(done), redirect_stdout(out), redirect_stderr(err):
            main()
    except SystemExit as end:
        done.code = 0 if end.code is None else end.code
    except BaseException as error:  # noqa: BLE001 - that nothing comes out here is what is tested
        done.code, done.fault = 1, "".join(traceback.format_exception(error))
    finally:
        sys.argv, told_by.told = former, tell
    done.out, done.err = out.text, err.text
    return done


def call(act: Callable[[], Any]) -> Outcome:
    """Call something that gives a released table, or refuses by an error of ours."""
    done = Outcome(["call"])
    try:
        with heard(done):
            done.released = act()
    except MicroaggError as error:
        done.code, done.err = 1, f"{type(error).__name__}: {error}"
    except OSError as error:
        done.code, done.err = 1, str(error)
        done.fault = "".join(traceback.format_exception(error))
    except BaseException as error:  # noqa: BLE001 - that nothing comes out here is what is tested
        done.code, done.fault = 1, "".join(traceback.format_exception(error))
    return done


@contextmanager
def heard(done: Outcome) -> Iterator[None]:
    """Keep the warnings that Python would show."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield
        finally:
            done.warned = [
                f"{one.category.__name__} at {Path(one.filename).name}:{one.lineno}: {one.message}"
                for one in caught
                if not issubclass(one.category, _UNSEEN)
            ]


@contextmanager
def at_home() -> Iterator[tuple[Path, Path]]:
    """Work in a fresh folder, with one for temporary files beside it; give both."""
    former, usual = Path.cwd(), tempfile.tempdir
    with tempfile.TemporaryDirectory(prefix="fuzz-", dir=_MEMORY if Path(_MEMORY).is_dir() else None) as room:
        home, scratch = Path(room) / "home", Path(room) / "tmp"
        home.mkdir()
        scratch.mkdir()
        os.chdir(home)
        tempfile.tempdir = str(scratch)
        before = os.environ.get("TMPDIR")
        os.environ["TMPDIR"] = str(scratch)
        try:
            yield home, scratch
        finally:
            os.chdir(former)
            tempfile.tempdir = usual
            if before is None:
                del os.environ["TMPDIR"]
            else:
                os.environ["TMPDIR"] = before
