"""A method by its name: the function that groups, and the words for it wherever it is shown."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import field
from functools import partial
from typing import Any

from microagg.base.frozen import frozen
from microagg.errors import InvalidParameter


@frozen()
class Method:
    """A partitioner as `protect`, recipes, the command line and the report know it.

    Attributes
    ----------
    name : str
    function : callable
        Called as function(X, k, progress=..., **options); returns labels (n,), or (n, d) where `per_column`.
    said : str
        What it does, in half a sentence.
    options : mapping
        Its own options, each with its meaning.
    words : mapping
        The words that an option takes, where these are all.
    per_column : bool
        Whether it groups each column on its own, so that k holds for each column but not for whole records.
    takes_codes : bool
        Whether X may be `Records`, in which a category is one entry; else it is a matrix of all coordinates.
    takes_units : bool
        Whether it can be called with units=`Units`, and forms groups that keep k of them; the labels of others can be
        made to keep them by `units.merge_short`.
    """

    name: str
    function: Callable[..., Any]
    said: str
    options: Mapping[str, str] = field(default_factory=dict)
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    per_column: bool = False
    takes_codes: bool = False
    takes_units: bool = False

    @property
    def defaults(self) -> dict[str, Any]:
        """The default of each option."""
        parameters = inspect.signature(self.function).parameters
        return {option: parameters[option].default for option in self.options}

    def bound(self, options: Mapping[str, Any]) -> tuple[dict[str, Any], Callable[..., Any]]:
        """Return the options with every default, and the function bound to them."""
        for option in options:
            if option not in self.options:
                takes = f"It takes {', '.join(self.options)}." if self.options else "It takes none."
                raise InvalidParameter(
                    f"{option!r} is not an option of method {self.name!r}. {takes}", parameter=option
                )
        chosen = self.defaults | dict(options)
        return chosen, partial(self.function, **chosen)


@frozen()
class ByTree:
    """A method that chooses some of the columns by a dependence tree, and groups by another method on these.

    Attributes
    ----------
    name : str
        As a method, and as a way to select the columns for any other method.
    on : Method
        The method that forms the groups.
    said : str
        What it does, in half a sentence.
    measure, rule : str
        How dependence is weighed, and which columns of the tree are taken, unless something else is chosen.
    settings : mapping
        What it sets of the options of `on`; these are not open to choice.
    """

    name: str
    on: Method
    said: str
    measure: str
    rule: str
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def options(self) -> dict[str, str]:
        """The options of the method that forms the groups, but for those that are set."""
        return {name: said for name, said in self.on.options.items() if name not in self.settings}


SEARCHES = ("auto", "tree", "brute")
"""How records can be searched."""


def by_search(
    name: str,
    function: Callable[..., Any],
    said: str,
    options: Mapping[str, str] | None = None,
    words: Mapping[str, tuple[str, ...]] | None = None,
) -> Method:
    """Return a method that looks for the nearest and farthest records: with codes and units, in one of the ways."""
    how = "how records are searched: the same groups, in different time"
    own, own_words = {**(options or {}), "search": how}, {**(words or {}), "search": SEARCHES}
    return Method(name, function, said, own, own_words, takes_codes=True, takes_units=True)
