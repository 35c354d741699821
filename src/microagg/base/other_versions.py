"""Modules that only other versions of microagg have: one that was documented still works, and others say what to do.

What was pickled by another version names them, so that this is what its reader sees.
"""

import importlib
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

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
