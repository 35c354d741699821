"""Values that nobody changes, as frozen dataclasses are, defined in a quarter of the time, with parts that stay too.

`dataclass(frozen=True)` compiles six methods for each class, before any work: of the two hundred classes that a run
defines, that takes 0.1 s of every start. Here only `__init__` is compiled, and the classes share the others.
"""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, FrozenInstanceError, dataclass, field, fields
from types import MappingProxyType
from typing import Any, TypeVar, dataclass_transform

Class = TypeVar("Class", bound=type)


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(*, kw_only: bool = False) -> Callable[[Class], Class]:
    """Make a dataclass of a class; its fields are set once. Subclasses that have fields use this too."""

    def made(own: Class) -> Class:
        for name, method in _SHARED.items():
            if name not in own.__dict__:
                setattr(own, name, method)
        dataclass(init=False, repr=False, eq=False, kw_only=kw_only)(own)  # changes the class itself
        if "__init__" not in own.__dict__:
            setattr(own, "__init__", _init_of(own))  # noqa: B010 - which mypy would refuse
        return own

    return made


def _init_of(own: type) -> Callable[..., None]:
    """Return the method that sets all fields at once."""
    known: dict[str, Any] = {"MISSING": MISSING}
    by_place: list[str] = []
    by_name: list[str] = []
    body: list[str] = []
    for one in fields(own):
        said = value = one.name
        if one.default is not MISSING:
            known[f"_{one.name}"] = one.default
            said += f"=_{one.name}"
        elif one.default_factory is not MISSING:
            known[f"_{one.name}"] = one.default_factory
            said += "=MISSING"
            value = f"_{one.name}() if {one.name} is MISSING else {one.name}"
        (by_name if one.kw_only else by_place).append(said)
        body.append(f"{one.name!r}: {value}")
    words = ", ".join(["self", *by_place, *(["*", *by_name] if by_name else [])])
    after = "; self.__post_init__()" if hasattr(own, "__post_init__") else ""
    exec(f"def __init__({words}): self.__dict__.update({{{', '.join(body)}}}){after}", known)
    made: Callable[..., None] = known["__init__"]
    made.__qualname__, made.__module__ = f"{own.__qualname__}.__init__", own.__module__
    made.__annotations__ = {one.name: one.type for one in fields(own)} | {"return": None}
    return made


def _set_once(self: Any, name: str, value: Any) -> None:
    if name in self.__dict__ or name not in self.__dataclass_fields__:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")
    object.__setattr__(self, name, value)


def _keep(self: Any, name: str) -> None:  # noqa: ARG001
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _values(one: Any) -> tuple[Any, ...]:
    return tuple(getattr(one, own.name) for own in fields(one) if own.compare)


def _repr(self: Any) -> str:
    said = ", ".join(f"{own.name}={getattr(self, own.name)!r}" for own in fields(self) if own.repr)
    return f"{type(self).__qualname__}({said})"


def _equal(self: Any, other: object) -> bool:
    return _values(self) == _values(other) if type(other) is type(self) else NotImplemented


def _hash(self: Any) -> int:
    return hash(_values(self))


_SHARED = {"__setattr__": _set_once, "__delattr__": _keep, "__repr__": _repr, "__eq__": _equal, "__hash__": _hash}


class ReadOnly:
    """What a frozen result inherits, so that its mappings and arrays cannot be changed either, stored ones included."""

    def __post_init__(self) -> None:
        self.__setstate__(dict(self.__dict__))

    def __getstate__(self) -> dict[str, Any]:  # a read-only mapping does not pickle by itself
        return {n: dict(value) if isinstance(value, MappingProxyType) else value for n, value in self.__dict__.items()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        import numpy as np  # not for those who define values alone

        for name, value in state.items():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
            object.__setattr__(self, name, MappingProxyType(dict(value)) if isinstance(value, Mapping) else value)
