"""Functions that take the choices of a recipe as keywords: their signature and documentation follow from these."""

import inspect
import textwrap
from collections.abc import Callable
from typing import Any, TypeVar

from microagg.errors import InvalidParameter, a_type
from microagg.recipe._choice import Choice
from microagg.recipe._recipe import Recipe
from microagg.recipe._tables import choices

Function = TypeVar("Function", bound=Callable[..., Any])


def takes(*tables: str) -> Callable[[Function], Function]:
    """Let a function that ends in ``**choices`` show the keywords of these tables, and document them.

    Its docstring says ``{choices}`` where they are to stand.
    """

    def shown(function: Function) -> Function:
        known = [choice for _, choice in choices(*tables).values()]
        signature = inspect.signature(function)
        own = list(signature.parameters.values())
        rest = [own.pop()] if own[-1].kind is own[-1].VAR_KEYWORD else []
        made = [
            inspect.Parameter(choice.keyword, inspect.Parameter.KEYWORD_ONLY, default=choice.default)
            for choice in known
        ]
        options = [rest[0].replace(name="options")] if rest else []
        function.__signature__ = signature.replace(parameters=[*own, *made, *options])  # type: ignore[attr-defined]
        if function.__doc__:
            text = "\n".join(map(_documented, known))
            function.__doc__ = inspect.cleandoc(function.__doc__).replace("{choices}", text)
        return function

    return shown


def _documented(choice: Choice) -> str:
    kinds = (
        "{" + ", ".join(f'"{word}"' for word in choice.words) + "}" if choice.words else choice.kind.removeprefix("a ")
    )
    if choice.words and choice.least is not None:
        kinds += " or int"
    if choice.or_object:
        kinds += f" or {choice.or_object}"
    default = ", optional" if choice.default in (None, (), {}) else f", default {choice.default!r}"
    meaning = f"{choice.said[0].upper()}{choice.said[1:]}. {choice.more}".strip()
    return f"{choice.keyword} : {kinds}{default}\n" + textwrap.indent("\n".join(textwrap.wrap(meaning, 100)), "    ")


_ELSEWHERE = {
    "compare": "Only `compare` uses it: pass it there",
    "read": "It says how a file is read: pass it to `read`",
    "join": "It says how two files are read: pass it to `read`",
}


def recipe_of(k: Any, recipe: Recipe | None, keywords: dict[str, Any], *tables: str) -> Recipe:
    """Return the recipe of a call: the one that was passed, changed by keywords, or one made of them.

    A keyword of a table that does nothing in this call is refused; a recipe may set it, as it serves other calls too.
    """
    for table, where in _ELSEWHERE.items():
        unused = [] if table in tables else [name for name in choices(table) if name in keywords]
        if unused:
            raise InvalidParameter(f"{unused[0]} does nothing here. {where}.", parameter=unused[0])
    if recipe is None:
        if k is None:
            raise InvalidParameter("k is missing. Pass k=5, for example, or a recipe.", parameter="k")
        return Recipe.of(k, **keywords)
    if not isinstance(recipe, Recipe):
        raise InvalidParameter(
            f"recipe is {a_type(recipe)}. Pass a Recipe; Recipe.read(path) reads one.", parameter="recipe"
        )
    return recipe.replace(**keywords, **({} if k is None else {"k": k}))
