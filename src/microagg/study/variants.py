"""What is compared on one file: every method at every level of k, l and t, as a recipe each."""

import inspect
from collections.abc import Iterable, Mapping
from numbers import Number
from types import NoneType
from typing import Any

from microagg.algorithms.methods import BY_TREE
from microagg.checks import check_k
from microagg.errors import InvalidParameter
from microagg.recipe import Recipe
from microagg.recipe import choices as choices_by_keyword
from microagg.study.candidate import with_floor

METHODS_COMPARED = ("mdav", "cbfs", "vmdav", "iamat", "emad", "ama")
KS_COMPARED = (3, 5, 10)
_PLAIN = (str, Number, NoneType)  # what a name may show: anything larger may hold data of the file


def recipes_to_compare(
    methods: Any, ks: Any, recipe: Recipe | None, choices: dict[str, Any], *, ls: Any = None, ts: Any = None
) -> list[tuple[str, Recipe]]:
    """Return every method at every k, l and t as a recipe, with the name of its method; refuse what is unknown.

    Nothing is masked yet. An l or t of 1 demands nothing. The k of the recipe that is passed, where there is one, is
    the least that the best of them must reach, unless another is said.
    """
    if "k" in choices:
        raise InvalidParameter("pass k in ks, the list of levels to compare.", parameter="k")
    base = Recipe(2) if recipe is None else recipe
    known = {name: value for name, value in choices.items() if name in choices_by_keyword()}
    options = {name: value for name, value in choices.items() if name not in known}
    named = _named_methods(methods if methods is not None else base.compare.methods or methods_to_compare(base))
    levels = ks if ks is not None else base.compare.ks
    if levels is not None or not all(isinstance(method, Recipe) for method in named.values()):
        levels = KS_COMPARED if levels is None else levels if isinstance(levels, Iterable) else [levels]
        levels = list(dict.fromkeys(check_k(k) for k in levels))
    if not named or (levels is not None and not levels):
        raise InvalidParameter("there is nothing to compare. Pass at least one method and one k.", parameter="methods")
    found: list[tuple[str, Recipe]] = []
    demands = _grid(base, choices, ls, ts)
    for name, method in named.items():
        if isinstance(method, Recipe):
            own = method.replace(**choices)
        else:
            told = dict(method) if isinstance(method, Mapping) else {"method": method}
            if not_each := {"k", "n_jobs", "progress"} & told.keys():
                raise InvalidParameter(f"{min(not_each)!r} is the same for all methods. Pass it to compare.")
            own = base.replace(**known).replace(**{"method": base.method.name, **told, **options})
        for k in [own.k] if levels is None else levels:
            at_k = own.replace(k=k, method=_with_k(own.method.name, k))
            found += [(name, _demanding(at_k, each)) for each in demands]
    return with_floor(found, None if recipe is None else recipe.k)


def methods_to_compare(recipe: Recipe) -> tuple[str, ...]:
    """Return the methods that are compared where none are named.

    EMAD and AMA choose columns themselves: they are left out where a recipe chooses, or masks whole units.
    """
    chosen = recipe.select.said or recipe.units.release == "pseudonym"
    return tuple(name for name in METHODS_COMPARED if not (chosen and name in BY_TREE))


def _grid(base: Recipe, choices: Mapping[str, Any], ls: Any, ts: Any) -> list[dict[str, Any]]:
    """Return every combination of the levels of l and t that are compared; one of nothing where none are."""
    lists = {"l": ls if ls is not None else base.compare.ls, "t": ts if ts is not None else base.compare.ts}
    found: list[dict[str, Any]] = [{}]
    for name, said in lists.items():
        if said is None:
            continue
        if choices.get(name) is not None:
            raise InvalidParameter(f"pass {name} in {name}s, the list of levels to compare.", parameter=name)
        levels = dict.fromkeys(said if isinstance(said, Iterable) else [said])
        found = [{**one, name: None if level == 1 else level} for one in found for level in levels]
    return found


def _demanding(recipe: Recipe, levels: Mapping[str, Any]) -> Recipe:
    """Return a recipe at these levels of l and t; what was said of a demand that is no more goes with it."""
    if not levels:
        return recipe
    said = recipe.diversity
    now = {"l": said.l, "t": said.t, **levels}
    counts = any(one is not None for one in (now["l"], said.entropy, said.recursive))
    return recipe.replace(
        **now,
        l_columns=said.l_columns if counts else (),
        t_columns=said.t_columns if now["t"] is not None else (),
        diversity=said.way if counts or now["t"] is not None else "auto",
    )


def _named_methods(methods: Any) -> dict[str, Any]:
    """Return the methods, each with a name."""
    if isinstance(methods, Mapping):
        return {str(name): method for name, method in methods.items()}
    alone = isinstance(methods, (str, Recipe)) or hasattr(methods, "fit_predict") or not isinstance(methods, Iterable)
    listed = [methods] if alone else list(methods)
    named = {_name_of(method): method for method in listed}
    if len(named) < len(listed):
        raise InvalidParameter(
            "two methods have the same name. Name them in a mapping, or leave one out.", parameter="methods"
        )
    return named


def _name_of(method: Any) -> str:
    """Name an estimator by its class and the parameters that are not the default."""
    if isinstance(method, Recipe):
        return _name_of(method.method.name)
    if isinstance(method, str) or not hasattr(method, "get_params"):
        return method if isinstance(method, str) else type(method).__name__
    usual = _defaults(type(method))
    told = ", ".join(
        f"{name}={value!r}" if isinstance(value, _PLAIN) else f"{name}={type(value).__name__}"
        for name, value in method.get_params().items()
        if name in usual and name not in ("k", "progress") and not _same(value, usual[name])
    )
    return f"{type(method).__name__}({told})" if told else type(method).__name__


def _defaults(estimator: type) -> dict[str, Any]:
    """Return the defaults of an estimator's parameters.

    They are read, not taken from a new object: another library's class may have parameters without a default.
    """
    parameters = inspect.signature(estimator).parameters
    return {name: one.default for name, one in parameters.items() if one.default is not one.empty}


def _same(value: Any, usual: Any) -> bool:
    """Return whether a parameter has its default; arrays are not compared."""
    return value is usual or (isinstance(value, _PLAIN) and isinstance(usual, _PLAIN) and value == usual)


def _with_k(method: Any, k: int) -> Any:
    """Return an estimator's copy for this k; a name serves every k."""
    if isinstance(method, str) or not hasattr(method, "get_params") or "k" not in method.get_params():
        return method
    return type(method)(**(method.get_params() | {"k": k}))
