"""What the commands share on the terminal: results, remarks, bars and questions."""

import json
import logging
import math
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table
from rich.tree import Tree

from microagg.errors import InvalidParameter

_PATIENCE = 2.0  # seconds of work before something shows that it goes on


class Terminal:
    """Where a command speaks: results to standard output, all else to standard error.

    With `as_json` the result is one JSON object and tables are left out; with `quiet` remarks are.
    """

    def __init__(self, *, quiet: bool = False, as_json: bool = False) -> None:
        self.quiet, self.as_json = quiet, as_json
        self._out = Console(highlight=False, soft_wrap=True, emoji=False)
        self._err = Console(stderr=True, highlight=False, soft_wrap=True, emoji=False)
        _pass_remarks_to(self)

    def say(self, text: str = "") -> None:
        """Say what a person wants to know beside the result."""
        if not self.quiet:
            (self._err if self.as_json else self._out).print(text, markup=False)

    def remark(self, text: str) -> None:
        """Say something that is no part of the result, above a bar if there is one."""
        if not self.quiet:
            self._err.print(text, markup=False)

    def show(self, table: Table | Tree) -> None:
        """Show a table or a tree."""
        if not self.quiet:
            console = Console(stderr=self.as_json, highlight=False)
            if not console.is_terminal:
                console.width = max(console.width, 120)
            console.print(table)

    def result(self, content: dict[str, Any]) -> None:
        """Give the result to a program, if one asked."""
        if self.as_json:
            sys.stdout.write(json.dumps(_plain(content), ensure_ascii=False, indent=2, allow_nan=False) + "\n")

    def ask(self, question: str, *, yes: bool, remedy: str) -> None:
        """Go on if the user agrees: by --yes, or at the keyboard."""
        if yes:
            return
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise InvalidParameter(remedy)
        if not typer.confirm(question, err=True):
            raise typer.Exit(2)

    @contextmanager
    def bar(self, description: str) -> Iterator[Callable[[int, int], None]]:
        """Give a progress callback; a bar with the time left appears when the work takes more than a moment."""
        columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn())
        with self._shown_after_a_moment(Progress(*columns, console=self._err, transient=True)) as progress:
            task = progress.add_task(description, total=None)
            yield lambda done, total: progress.update(task, completed=done, total=total)

    @contextmanager
    def wait(self, description: str) -> Iterator[None]:
        """Show that something goes on whose end is not known, when it takes more than a moment."""
        columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
        with self._shown_after_a_moment(Progress(*columns, console=self._err, transient=True)) as progress:
            progress.add_task(description, total=None)
            yield

    @contextmanager
    def _shown_after_a_moment(self, progress: Progress) -> Iterator[Progress]:
        """Start a display by a timer, since work that takes its time may not call back; on a terminal only."""
        if self.quiet or not self._err.is_terminal:
            progress.disable = True
            yield progress
            return
        timer = threading.Timer(_PATIENCE, progress.start)
        timer.daemon = True
        timer.start()
        try:
            yield progress
        finally:
            timer.cancel()
            timer.join()  # it may be starting the display just now
            progress.stop()


class _Remarks(logging.Handler):
    """Passes what the library logs on to a terminal."""

    def __init__(self, terminal: Terminal) -> None:
        super().__init__()
        self._terminal = terminal

    def emit(self, record: logging.LogRecord) -> None:
        """Say it."""
        self._terminal.remark(record.getMessage())


def _pass_remarks_to(terminal: Terminal) -> None:
    """Let the library speak through this terminal and no other."""
    logger = logging.getLogger("microagg")
    for former in [one for one in logger.handlers if isinstance(one, _Remarks)]:
        logger.removeHandler(former)
    logger.addHandler(_Remarks(terminal))


def table_of(*heads: str, left: int = 1) -> Table:
    """Make a table whose columns after the first `left` hold numbers."""
    table = Table(*heads, box=None, pad_edge=False, header_style="bold")
    for column in table.columns[left:]:
        column.justify = "right"
    return table


def _plain(value: Any) -> Any:
    """Give what JSON can hold for what it cannot: it has no infinite numbers, so they become null."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, (list, tuple, set)) else str(value)
