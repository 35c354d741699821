"""Packages that not everybody needs."""

import importlib.util
from typing import Any

from microagg.base.frozen import frozen
from microagg.errors import InvalidParameter


@frozen()
class Extra:
    """Some of them, and what is said where one is not there."""

    packages: tuple[str, ...]
    remedy: str

    def check(self) -> None:
        """Make sure that all are there, without the time that it takes to import them."""
        if not all(map(importlib.util.find_spec, self.packages)):
            raise InvalidParameter(self.remedy)

    def load(self, name: str) -> Any:
        """Import one of them."""
        try:
            return importlib.import_module(name)
        except ImportError:
            raise InvalidParameter(self.remedy) from None
