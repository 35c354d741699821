"""What the commands share on the terminal: results, remarks, bars and questions."""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table
from rich.tree import Tree

from microagg.errors import InvalidParameter
from microagg.jobs.messages import displayed, json_text, never_fail
from microagg.jobs.process import listen
from microagg.judge.text import shown as shown

_PATIENCE = 2.0  # seconds of work before something shows that it goes on
_WHAT = TextColumn("{task.description}", markup=False)


class Terminal:
    """What a command prints: results to standard output, everything else to standard error.

    With `as_json` the result is one JSON object and tables are left out; with `quiet` remarks are left out.
    """

    def __init__(self, *, quiet: bool = False, as_json: bool = False) -> None:
        self.quiet, self.as_json = quiet, as_json
        never_fail(sys.stdout, sys.stderr)
        self._out = Console(highlight=False, soft_wrap=True, emoji=False)
        self._err = Console(stderr=True, highlight=False, soft_wrap=True, emoji=False)
        listen(self.remark)  # remarks of the library are printed here and nowhere else

    def say(self, text: str = "") -> None:
        """Print what a person should know besides the result."""
        if not self.quiet:
            (self._err if self.as_json else self._out).print(displayed(text), markup=False)

    def remark(self, text: str) -> None:
        """Print something that is no part of the result, above a bar if there is one."""
        if not self.quiet:
            self._err.print(displayed(text), markup=False)

    def show(self, table: Table | Tree) -> None:
        """Show a table or a tree."""
        if not self.quiet:
            console = Console(stderr=self.as_json, highlight=False, emoji=False)
            if not console.is_terminal:
                console.width = max(console.width, 120)
            console.print(table)

    def result(self, content: dict[str, Any]) -> None:
        """Print the result as JSON, if that is asked for."""
        if self.as_json:
            sys.stdout.write(f"{json_text(content, sys.stdout.encoding or 'ascii')}\n")

    def ask(self, question: str, *, yes: bool, remedy: str) -> None:
        """Continue if the user agrees: by --yes, or at the keyboard."""
        if yes:
            return
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise InvalidParameter(remedy)
        if not typer.confirm(question, err=True):
            raise typer.Exit(2)

    @contextmanager
    def bar(self, description: str) -> Iterator[Callable[[int, int], None]]:
        """Return a progress callback; a bar with the time left appears when the work takes more than a moment."""
        columns = (_WHAT, BarColumn(), TimeElapsedColumn(), TimeRemainingColumn())
        with self._shown_after_a_moment(Progress(*columns, console=self._err, transient=True)) as progress:
            task = progress.add_task(description, total=None)
            yield lambda done, total: progress.update(task, completed=done, total=total)

    @contextmanager
    def wait(self, description: str) -> Iterator[None]:
        """Show that work goes on, without its time left, when it takes more than a moment."""
        columns = (SpinnerColumn(), _WHAT, TimeElapsedColumn())
        with self._shown_after_a_moment(Progress(*columns, console=self._err, transient=True)) as progress:
            progress.add_task(description, total=None)
            yield

    @contextmanager
    def _shown_after_a_moment(self, progress: Progress) -> Iterator[Progress]:
        """Start a display by a timer, since long work may not call back; on a terminal only."""
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


def table_of(*heads: str, left: int = 1) -> Table:
    """Make a table whose columns after the first `left` hold numbers."""
    table = Table(*heads, box=None, pad_edge=False, header_style="bold")
    for column in table.columns[left:]:
        column.justify = "right"
    return table
