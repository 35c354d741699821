"""Frozen results whose parts cannot be changed either."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np


class ReadOnly:
    """What a frozen result inherits, so that its mappings and arrays cannot be changed either, stored ones included."""

    def __post_init__(self) -> None:
        self.__setstate__(dict(self.__dict__))

    def __getstate__(self) -> dict[str, Any]:  # a read-only mapping does not pickle by itself
        return {n: dict(value) if isinstance(value, MappingProxyType) else value for n, value in self.__dict__.items()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
            object.__setattr__(self, name, MappingProxyType(dict(value)) if isinstance(value, Mapping) else value)
