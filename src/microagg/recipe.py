"""Recipe: everything that a run depends on, in one value."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any


@dataclass(frozen=True)
class Recipe:
    """What was asked of a run, with every default spelt out.

    Attributes
    ----------
    k : int
    method : str
    options : mapping
        The method's own options.
    roles : mapping
        From role to the names of its columns, in file order.
    scale, aggregate, integers, missing : str
    per_column : bool
        Whether k was promised for each column on its own only.
    select : mapping
        The columns that formed the groups and how they were chosen; empty where all did.
    blocks : mapping
        How the file was cut into blocks, and how many; empty where it was grouped as a whole.
    refine : mapping
        The effort, the seed and the moves of refining; empty where it was not done.
    version : str
        The version of microagg that ran.

    Examples
    --------
    >>> import microagg as ma
    >>> survey = ma.datasets.survey(100, seed=0).select(["income", "tax"])
    >>> recipe = ma.protect(survey, k=3).recipe
    >>> recipe.k, recipe.method, recipe.roles["quasi"]
    (3, 'mdav', ('income', 'tax'))
    """

    k: int
    method: str
    roles: Mapping[str, tuple[Any, ...]]
    options: Mapping[str, Any] = field(default_factory=dict)
    scale: str = "standard"
    aggregate: str = "mean"
    integers: str = "float"
    missing: str = "error"
    per_column: bool = False
    select: Mapping[str, Any] = field(default_factory=dict)
    blocks: Mapping[str, Any] = field(default_factory=dict)
    refine: Mapping[str, Any] = field(default_factory=dict)
    version: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "roles", MappingProxyType(dict(self.roles)))
        object.__setattr__(self, "options", MappingProxyType(dict(self.options)))
        object.__setattr__(self, "select", MappingProxyType(dict(self.select)))
        object.__setattr__(self, "blocks", MappingProxyType(dict(self.blocks)))
        object.__setattr__(self, "refine", MappingProxyType(dict(self.refine)))

    def __reduce__(self) -> tuple[object, ...]:  # read-only mappings do not pickle by themselves
        values = (self.k, self.method, dict(self.roles), dict(self.options), self.scale, self.aggregate)
        return Recipe, (
            *values,
            self.integers,
            self.missing,
            self.per_column,
            dict(self.select),
            dict(self.blocks),
            dict(self.refine),
            self.version,
        )
