"""Fields for the choices of a recipe, made from their declarations, and what was posted read back into a recipe.

A new choice of a recipe appears by itself: its kind says which control it gets, its words are the options, its limits
those of a number, its meaning the help text. Columns are named by their place in the file, never by name.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from microagg.algorithms.methods import forming_method
from microagg.app.values import Posted, as_text, column_field, value_from
from microagg.app.words import label_of, said
from microagg.base.frozen import frozen
from microagg.errors import MicroaggError
from microagg.judge.text import shown
from microagg.recipe import PARTS, Choice, K, MethodChoices, Recipe, choices_of, options_of
from microagg.recipe import _choice as kinds
from microagg.recipe.words import TITLES

NUMBER_OF = "#"  # the option of a select that stands for the number beside it
SUGGESTED = {
    "delimiter": (",", ";", "tab", "|"),
    "encoding": ("utf-8", "cp1252", "latin-1", "utf-16"),
    "decimal": (".", ","),
    "thousands": ("none", ",", ".", "'"),
}
"""What is usual in fields of free text; "tab" and "none" stand for themselves (`values`)."""


@frozen()
class FormOption:
    """One of several that can be chosen."""

    value: str
    words: str
    chosen: bool = False


@frozen()
class Control:
    """A field of a form.

    Attributes
    ----------
    name : str
        As it is posted: the table and the choice, such as "masking.scale".
    keyword, label, help, more : str
    shape : str
        "select", "number", "text", "box", "boxes" or "columns"; templates/controls.html.j2 draws each.
    value : str
    options : tuple of FormOption
    least, most : int or None
    step : str
    number : str or None
        Of a select that also takes a number: that number.
    rows : tuple of Control
        Of a table of columns: a field for each column.
    usual : str
        What holds where nothing is said.
    changed : bool
        Whether something else than usual is chosen.
    error : str
        What is wrong with it.
    """

    name: str
    keyword: str
    label: str
    help: str
    more: str
    shape: str
    value: str = ""
    options: tuple[FormOption, ...] = ()
    least: int | None = None
    most: int | None = None
    step: str = "any"
    number: str | None = None
    rows: "tuple[Control, ...]" = ()
    usual: str = ""
    changed: bool = False
    error: str = ""


@frozen()
class FormTable:
    """The fields of a table of a recipe under one heading."""

    name: str
    title: str
    controls: tuple[Control, ...]

    @property
    def changed(self) -> int:
        """How many choices are not as usual."""
        return sum(one.changed for one in self.controls)

    @property
    def wrong(self) -> bool:
        """Whether one of them is refused."""
        return any(one.error or any(row.error for row in one.rows) for one in self.controls)


@frozen()
class Wrong:
    """What was posted and why it is refused, to show it once more with the reason at its field."""

    error: MicroaggError
    posted: Posted

    @property
    def text(self) -> str:
        """The reason."""
        return said(self.error).text


def table_of(table: str, recipe: Recipe, columns: Sequence[str], wrong: Wrong | None = None) -> FormTable:
    """Return the fields of a table of a recipe."""
    part, kind = PARTS[table]
    own = getattr(recipe, part)
    found = [
        control_of(f"{table}.{name}", choice, getattr(own, name), columns, wrong)
        for name, choice in choices_of(kind).items()
    ]
    return FormTable(
        table, TITLES[table], (*found, *(method_options(recipe, columns, wrong) if table == "method" else ()))
    )


def method_options(recipe: Recipe, columns: Sequence[str], wrong: Wrong | None = None) -> list[Control]:
    """Return the fields of the options of the method that is chosen."""
    name = recipe.method.name
    known = forming_method(name)
    usual = {} if known is None else known.defaults
    made = []
    for key, choice in options_of(name).items():
        one = control_of(f"method.{key}", choice, recipe.method.options.get(key), columns, wrong)
        made.append(replace(one, usual=str(usual.get(key, "")), least=None))
    return made


def k_field(recipe: Recipe, most: int | None = None, wrong: Wrong | None = None) -> Control:
    """Return the field of k."""
    one = control_of("k", K, recipe.k, (), wrong)
    return replace(one, most=most, changed=False)


def control_of(name: str, choice: Choice, value: Any, columns: Sequence[str], wrong: Wrong | None = None) -> Control:
    """Return the field of a choice."""
    made = Control(
        name,
        choice.keyword,
        _as_title(label_of(choice.name if choice.name == "columns" else choice.keyword)),
        f"{choice.said[0].upper()}{choice.said[1:]}.",
        choice.more,
        "text",
        as_text(choice, value),
        least=choice.least,
        most=None if choice.most is not None and choice.most > 10**9 else choice.most,
        usual="" if choice.default in (None, (), {}) else as_text(choice, choice.default),
        changed=value not in (choice.default, None) and not (isinstance(value, Mapping) and not value),
        error=wrong.text if wrong is not None and wrong.error.parameter == choice.keyword else "",
    )
    made = _shaped(made, choice, value, columns)
    return made if wrong is None else _as_posted(made, wrong, columns)


def _as_title(words: str) -> str:
    """Begin with a capital, but for what is a symbol, such as k."""
    return words if len(words) == 1 else words[0].upper() + words[1:]


def _shaped(made: Control, choice: Choice, value: Any, columns: Sequence[str]) -> Control:
    """Return a field the control that its kind asks for."""
    kind, usual = choice.kind, "as usual" if not made.usual else f"as usual ({made.usual})"
    if kind in (kinds.BY_COLUMN, kinds.WORD_OR_BY_COLUMN):
        rows = value if isinstance(value, Mapping) else {}
        word = () if kind == kinds.BY_COLUMN else _words(choice, value, "by column")
        return replace(made, shape="columns", options=word, rows=_by_column(made, choice, rows, columns))
    if kind == kinds.FLAG:
        if choice.default is None:
            said = [("", "as usual"), ("yes", "yes"), ("no", "no")]
            return replace(made, shape="select", options=tuple(FormOption(v, w, v == made.value) for v, w in said))
        return replace(made, shape="box", options=(FormOption("yes", made.label, bool(value)),))
    if kind == kinds.NAME:
        named = tuple(FormOption(str(i), shown(name), name == value) for i, name in enumerate(columns))
        return replace(made, shape="select", options=(FormOption("", "none", value is None), *named))
    if kind in (kinds.NAMES, kinds.NAME_OR_NAMES):
        chosen = () if value is None else value if isinstance(value, tuple) else (value,)
        return replace(
            made,
            shape="boxes",
            options=tuple(FormOption(str(i), shown(name), name in chosen) for i, name in enumerate(columns)),
        )
    if kind == kinds.WORDS and choice.words:
        return replace(made, shape="boxes", options=tuple(FormOption(w, w, w in (value or ())) for w in choice.words))
    if kind in (kinds.WORD, kinds.WORD_OR_WHOLE) and choice.words:
        options = _words(choice, value, None if choice.default is not None else "none")
        if kind == kinds.WORD_OR_WHOLE:
            number = str(value) if isinstance(value, int) else ""
            options += (FormOption(NUMBER_OF, "a number", bool(number)),)
            return replace(made, shape="select", options=options, number=number)
        return replace(made, shape="select", options=options)
    if kind in (kinds.WHOLE, kinds.NUMBER):
        return replace(made, shape="number", step="1" if kind == kinds.WHOLE else "any")
    listed = tuple(FormOption(one, one) for one in SUGGESTED.get(choice.keyword, ()))
    return replace(made, options=listed, usual=made.usual or usual.removeprefix("as usual"))


def _words(choice: Choice, value: Any, empty: str | None) -> tuple[FormOption, ...]:
    first = () if empty is None else (FormOption("", empty, not isinstance(value, (str, int))),)
    return (*first, *(FormOption(word, word, word == value) for word in choice.words))


def _by_column(made: Control, choice: Choice, rows: Mapping[Any, Any], columns: Sequence[str]) -> tuple[Control, ...]:
    return tuple(
        Control(f"{made.name}@{i}", made.keyword, shown(name), "", "", "text", column_field(choice, rows.get(name)))
        for i, name in enumerate(columns)
    )


def _as_posted(made: Control, wrong: Wrong, columns: Sequence[str]) -> Control:
    """Return a field with what was posted, where all of it is refused, and the reason where it belongs."""
    posted = wrong.posted.get(made.name)
    if made.rows:
        rows = []
        for i, row in enumerate(made.rows):
            blamed = bool(made.error) and columns[i] in wrong.error.columns
            text = wrong.posted.get(row.name, [row.value])[-1]
            rows.append(replace(row, value=text, error=made.error if blamed else ""))
        made = replace(made, rows=tuple(rows), error="" if any(row.error for row in rows) else made.error)
    if posted is None:
        return made
    options = tuple(replace(one, chosen=one.value in posted) for one in made.options)
    number = None if made.number is None else wrong.posted.get(f"{made.name}.number", [made.number])[-1]
    return replace(made, value=posted[-1], options=options if made.shape != "text" else made.options, number=number)


def changed_by(posted: Posted, recipe: Recipe, columns: Sequence[str]) -> Recipe:
    """Return a recipe with what a form says; choices that it has no field for stay.

    Raises
    ------
    MicroaggError
        With `.parameter` and `.columns`, by which `Wrong` finds the field.
    """
    if "method.name" in posted and posted["method.name"][-1] != recipe.method.name:
        recipe = recipe.replace(method=MethodChoices(posted["method.name"][-1]))  # its own options are not posted yet
        posted = {name: given for name, given in posted.items() if not name.startswith("method.")}
    whole: dict[str, Any] = {}
    for table, (part, kind) in PARTS.items():
        own = getattr(recipe, part)
        values = {}
        for name, choice in choices_of(kind).items():
            field, now = f"{table}.{name}", getattr(own, name)
            if field in posted:
                given = value_from(choice, field, posted, columns, now)
                if given != now:
                    values[name] = given
        if table == "method":
            options = _options_from(posted, recipe, columns)
            values |= {} if options == dict(own.options) else {"options": options}
        if values:
            whole[part] = replace(own, **values)
    k = value_from(K, "k", posted, columns, recipe.k) if "k" in posted else recipe.k
    return recipe.replace(**whole, k=k)


def _options_from(posted: Posted, recipe: Recipe, columns: Sequence[str]) -> dict[str, Any]:
    found = dict(recipe.method.options)
    for key, choice in options_of(recipe.method.name).items():
        if f"method.{key}" in posted:
            given = value_from(choice, f"method.{key}", posted, columns, found.get(key))
            found.pop(key, None)
            found |= {} if given is None else {key: given}
    return found
