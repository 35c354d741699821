"""What imports find: former modules of ours, of which other versions' pickles know, and pandas only where it is needed.

A module that was documented still works, and others say what to do. Arrow imports pandas, where it is installed, at the
first value that it makes: a seventh of a second, to know pandas' objects when it meets them. The command line meets
none.
"""

import importlib
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

RENAMED = {"microagg.desk": "microagg.jobs"}


class OtherVersions(MetaPathFinder, Loader):
    """Finds the module of a documented former name, and refuses all others in a sentence."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,  # noqa: ARG002
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> ModuleSpec | None:
        """Return how to import a module that no other finder knows."""
        if fullname in RENAMED:
            return ModuleSpec(fullname, self)
        if fullname.startswith("microagg."):
            raise ModuleNotFoundError(
                f"This version of microagg has no module {fullname!r}. If you load something that another version "
                "pickled, load it with that version, or make it again: the same file and recipe give the same release.",
                name=fullname,
            )
        return None

    def create_module(self, spec: ModuleSpec) -> None:
        """Let Python make an empty module, which `exec_module` replaces."""

    def exec_module(self, module: ModuleType) -> None:
        """Put the module of today in the place of the former one."""
        sys.modules[module.__name__] = importlib.import_module(RENAMED[module.__name__])


class _NoPandas(MetaPathFinder):
    """Says that there is no pandas."""

    def find_spec(self, name: str, *_: Any) -> None:
        """Refuse pandas, and leave everything else to those who know."""
        if name == "pandas":
            raise ModuleNotFoundError("pandas is kept aside", name=name)


_no_pandas = _NoPandas()


@contextmanager
def pandas_kept_aside() -> Iterator[None]:
    """Let pandas seem to be missing, unless it is imported already."""
    sys.meta_path.insert(0, _no_pandas)
    try:
        yield
    finally:
        sys.meta_path.remove(_no_pandas)
