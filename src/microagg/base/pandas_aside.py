"""pandas, kept aside while nothing but Arrow asks for it.

Arrow imports pandas, where it is installed, at the first value that it makes: a seventh of a second, to know pandas'
objects when it meets them. The command line meets none.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.abc import MetaPathFinder
from typing import Any


class _Missing(MetaPathFinder):
    """Says that there is no pandas."""

    def find_spec(self, name: str, *_: Any) -> None:
        """Refuse pandas, and leave everything else to those who know."""
        if name == "pandas":
            raise ModuleNotFoundError("pandas is kept aside", name=name)


_missing = _Missing()


@contextmanager
def kept_aside() -> Iterator[None]:
    """Let pandas seem to be missing, unless it is imported already."""
    sys.meta_path.insert(0, _missing)
    try:
        yield
    finally:
        fetch()


def fetch() -> None:
    """Let pandas be imported after all, by a package that needs it."""
    with suppress(ValueError):  # it was fetched before, or by another thread just now
        sys.meta_path.remove(_missing)
