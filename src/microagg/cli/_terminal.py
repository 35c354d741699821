"""What the commands share on the terminal: results, remarks, bars and questions."""

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.tree import Tree

from microagg.errors import InvalidParameter

_PATIENCE = 2.0  # seconds of work before a bar appears


class Terminal:
    """Where a command speaks: results to standard output, all else to standard error.

    With `as_json` the result is one JSON object and tables are left out; with `quiet` remarks are.
    """

    def __init__(self, *, quiet: bool = False, as_json: bool = False) -> None:
        self.quiet, self.as_json = quiet, as_json
        self._out = Console(highlight=False, soft_wrap=True)
        self._err = Console(stderr=True, highlight=False, soft_wrap=True)

    def say(self, text: str = "") -> None:
        """Say what a person wants to know beside the result."""
        if not self.quiet:
            (self._err if self.as_json else self._out).print(text, markup=False)

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
            sys.stdout.write(json.dumps(content, ensure_ascii=False, indent=2, default=_plain) + "\n")

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
        began = time.monotonic()
        columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
        progress = Progress(*columns, console=self._err, transient=True, disable=self.quiet)
        task = progress.add_task(description, total=None)

        def tell(done: int, total: int) -> None:
            if time.monotonic() - began > _PATIENCE and self._err.is_terminal:
                progress.start()
            progress.update(task, completed=done, total=total)

        try:
            yield tell
        finally:
            if progress.live.is_started:
                progress.stop()

    @contextmanager
    def wait(self, description: str) -> Iterator[None]:
        """Show that something goes on whose end is not known."""
        if self.quiet or not self._err.is_terminal:
            yield
            return
        with self._err.status(description):
            yield


def table_of(*heads: str, left: int = 1) -> Table:
    """Make a table whose columns after the first `left` hold numbers."""
    table = Table(*heads, box=None, pad_edge=False, header_style="bold")
    for column in table.columns[left:]:
        column.justify = "right"
    return table


def _plain(value: Any) -> Any:
    """Give what JSON can hold for what it cannot."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if hasattr(value, "items"):
        return {str(key): one for key, one in value.items()}
    return list(value) if isinstance(value, (tuple, set)) else str(value)
