"""Every case that ever failed: JSON files as the campaign keeps them, and some that are made."""

from collections.abc import Iterator
from pathlib import Path

from adversary.case import Case
from adversary.corpus import made

HERE = Path(__file__).parent


def cases() -> Iterator[tuple[str, Case]]:
    """Give each case with its name."""
    for path in sorted(HERE.glob("*.json")):
        yield path.stem, Case.from_json(path.read_text("utf-8"))
    yield from made.cases()
