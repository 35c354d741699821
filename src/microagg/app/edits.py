"""Changes of a recipe, and each in words."""

from collections.abc import Mapping, Sequence
from typing import Any

from microagg.app.words import label_of
from microagg.columns.roles import Role
from microagg.errors import InvalidParameter, RoleError
from microagg.judge.text import shown
from microagg.recipe import PARTS, Kinds, Recipe, Roles, choices_of

_IN_LINE = ("roles", "kinds", "method", "refine", "read", "join", "output", "compare")  # said there, or at their pages
_MOST_IN_LINE = 2  # other choices that are named
_MOST = 3  # columns that are named in the words of one change


def roles_of(recipe: Recipe, columns: Sequence[str]) -> dict[str, str]:
    """Return the role of each column of the file."""
    named = {name: role for role, name in recipe.roles.named}
    rest = Role.QUASI.value if recipe.roles.quasi is None else recipe.roles.rest or Role.DROP.value
    return {name: named.get(name, rest) for name in columns}


def with_roles(recipe: Recipe, columns: Sequence[str], changes: Mapping[str, str]) -> Recipe:
    """Return a recipe with other roles for some columns."""
    roles = {**roles_of(recipe, columns), **changes}
    listed = {role.value: [name for name in columns if roles[name] == role.value] for role in Role}
    weights = sorted(listed["weight"], key=lambda name: name not in recipe.roles.of("weight"))  # the first one weights
    unit = listed["unit"]
    if len(unit) > 1:
        raise RoleError(
            f"{len(unit)} columns have the role unit, and only one can. Give the others another role.",
            parameter="unit",
            columns=[name for name in unit if name in changes][:1] or unit[:1],
        )
    made = Roles(**{**listed, "weight": weights or None, "unit": unit[0] if unit else None})  # type: ignore[arg-type]
    changed = recipe.replace(roles=made)
    if made.quasi:
        changed.check_columns(columns)
    return changed


def roles_from(posted: Mapping[str, Sequence[str]], recipe: Recipe, columns: Sequence[str]) -> Recipe:
    """Return a recipe with the roles that a form says, by the places of columns."""
    now, changed = roles_of(recipe, columns), {}
    for i, name in enumerate(columns):
        role = role_named(posted[f"role-{i}"][-1]) if f"role-{i}" in posted else now[name]
        if role != now[name]:
            changed[name] = role
    return with_roles(recipe, columns, changed) if changed else recipe


def role_named(word: str) -> str:
    """Return the name of a role, or refuse it."""
    if word not in [role.value for role in Role]:
        raise InvalidParameter(f"there is no role {word[:40]!r}. Choose one.", parameter="roles")
    return word


def with_kinds(recipe: Recipe, changes: Mapping[str, Any]) -> Recipe:
    """Return a recipe with other kinds for some columns; None leaves a kind to the column's type."""
    kinds = {**recipe.kinds.kinds, **changes}
    return recipe.replace(kinds=Kinds({name: kind for name, kind in kinds.items() if kind is not None}))


def recipe_line(recipe: Recipe, columns: Sequence[str], *, named: bool = False) -> str:
    """Say a recipe in a line: k, the method, how many columns have which role.

    Where its name (`candidate_name`) is `named` beside it, k and the method are not said again.
    """
    roles = list(roles_of(recipe, columns).values())
    options = ", ".join(f"{name} {value}" for name, value in recipe.method.options.items())
    method = f"{recipe.method.name} ({options})" if options else str(recipe.method.name)
    dropped = sum(roles.count(role) for role in ("identifiers", "drop"))
    parts = [f"{roles.count('quasi')} masked"]
    strata = roles.count("strata")
    parts += [f"{strata} {'stratum' if strata == 1 else 'strata'}"] if strata else []
    parts += [f"unit {shown(recipe.roles.unit)}"] if recipe.roles.unit is not None else []
    weights = recipe.roles.of("weight")
    parts += [f"weighted by {shown(weights[0])}" if len(weights) == 1 else f"{len(weights)} weights"] if weights else []
    parts += [f"{dropped} dropped"] if dropped else []
    refined = [f"refined ({recipe.refine.effort})"] if recipe.refine.effort is not None else []
    first = ([options] if options else []) if named else [f"k {recipe.k}", method]
    return " · ".join([*first, *refined, ", ".join(parts), *_not_as_usual(recipe)])


def _not_as_usual(recipe: Recipe) -> list[str]:
    """Say what else was chosen, so that two recipes that differ in it have different names; numbers may be secret."""
    found = []
    for table, (part, kind) in PARTS.items():
        for name, choice in () if table in _IN_LINE else choices_of(kind).items():
            value = getattr(getattr(recipe, part), name)
            if value not in (choice.default, None, ()) and value != {}:
                label = label_of(name if name == "columns" else choice.keyword)
                found.append(f"{label}: {_said(value)}" if isinstance(value, (str, bool)) else label)
    more = len(found) - _MOST_IN_LINE
    return [*found[:_MOST_IN_LINE], *([f"{more} more not as usual"] if more > 0 else [])]


def candidate_name(recipe: Recipe) -> str:
    """Return what a candidate is called."""
    demanded = [f"{name} {value:g}" for name in "lt" if (value := getattr(recipe.diversity, name)) is not None]
    refined = [] if recipe.refine.effort is None else ["refined"]
    return ", ".join([str(recipe.method.name), f"k {recipe.k}", *demanded, *refined])


def change_words(before: Recipe, after: Recipe, columns: Sequence[str]) -> str:
    """Say what is different between two recipes; empty where nothing is."""
    found = [] if before.k == after.k else [f"k {before.k} → {after.k}"]
    found += _role_words(before, after, columns)
    for table, (part, kind) in PARTS.items():
        one, other = getattr(before, part), getattr(after, part)
        if table == "roles" or one == other:
            continue
        for name, choice in choices_of(kind).items():
            old, new = getattr(one, name), getattr(other, name)
            if old != new:
                found += _value_words(label_of(name if name == "columns" else choice.keyword), old, new)
        if table == "method" and one.options != other.options:
            keys = {*one.options, *other.options} if one.name == other.name else {*other.options}
            for key in sorted(keys):
                found += _value_words(label_of(key), one.options.get(key), other.options.get(key))
    return "; ".join(found)


def _role_words(before: Recipe, after: Recipe, columns: Sequence[str]) -> list[str]:
    old, new = roles_of(before, columns), roles_of(after, columns)
    moved: dict[tuple[str, str], list[str]] = {}
    for name in columns:
        if old[name] != new[name]:
            moved.setdefault((old[name], new[name]), []).append(shown(name))
    return [
        f"role of {', '.join(names[:_MOST])}{f' and {len(names) - _MOST} more' if len(names) > _MOST else ''}: "
        f"{was} → {now}"
        for (was, now), names in moved.items()
    ]


def _value_words(label: str, old: Any, new: Any) -> list[str]:
    """Say how a choice changed; of a table of columns, which columns."""
    if isinstance(old, Mapping) or isinstance(new, Mapping):
        was, now = (one if isinstance(one, Mapping) else {} for one in (old, new))
        names = [name for name in {**was, **now} if was.get(name) != now.get(name)]
        listed = ", ".join(shown(name) for name in names[:_MOST])
        more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
        if len(names) == 1 and all(isinstance(of.get(names[0]), (str, int, float, type(None))) for of in (was, now)):
            return [f"{label} of {listed}: {_said(was.get(names[0]))} → {_said(now.get(names[0]))}"]
        return [f"{label} of {listed}{more}"] if names else [f"{label} {_said(old)} → {_said(new)}"]
    return [f"{label} {_said(old)} → {_said(new)}"]


def _said(value: Any) -> str:
    if value is None or value == () or value == {}:
        return "as usual"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return "by column"
    if isinstance(value, tuple):
        return ", ".join(map(str, value[:_MOST])) + (" …" if len(value) > _MOST else "")
    return str(value)
