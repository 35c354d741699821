"""Recipe: every choice of a run, in one value."""

import difflib
import hashlib
import os
import secrets
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from microagg.algorithms.methods import BY_TREE, METHODS, is_ours, method_named
from microagg.base.frozen import frozen
from microagg.checks import check_k, check_max_block, nearest
from microagg.columns.roles import Schema
from microagg.errors import InputError, InvalidParameter, MicroaggError, RoleError, a_type, blamed, setting
from microagg.recipe import _columns as columns
from microagg.recipe import _parts as parts
from microagg.recipe._choice import BY_COLUMN, WORD_OR_BY_COLUMN, Part, choices_of, shown
from microagg.recipe._columns import check_released
from microagg.recipe._lines import Comments, Place
from microagg.recipe._tables import PARTS, Origin, bracketed, choices, options_of

if TYPE_CHECKING:
    from microagg.recipe.profile import Difference, Profile

_ELSEWHERE = {
    "compare": "Only `compare` uses it: pass it there",
    "read": "It says how a file is read: pass it to `read`",
    "join": "It says how two files are read: pass it to `read`",
}


@frozen()
class Recipe:
    """Every choice of a run: which column is what, how groups are formed, what is released, read, judged and written.

    A recipe is made by keywords (`Recipe.of`), read from a file (`Recipe.read`), or taken from a release, where every
    choice is settled: used again on the same data, it gives the same bytes.

    Attributes
    ----------
    k : int
    roles, kinds, ..., compare
        The choices, a part for each concern; `microagg.recipe` has their classes.
    comments : Comments
        What a person has written beside the choices in a file; kept when the recipe is written.
    profile : Profile or None
        What the file was like that the recipe was written for. It decides nothing: the next file is compared with it.

    Examples
    --------
    >>> import microagg as ma
    >>> recipe = ma.Recipe.of(k=3, quasi=["income", "tax"], rest="drop", method="vmdav", gamma=1.1)
    >>> recipe.k, recipe.method.name, recipe.roles.quasi, recipe.masking.scale
    (3, 'vmdav', ('income', 'tax'), 'standard')
    >>> ma.protect(ma.datasets.survey(100, seed=0), recipe=recipe.replace(k=5)).k_achieved
    5
    """

    k: int
    roles: parts.Roles = field(default_factory=parts.Roles)
    recode: columns.Recode = field(default_factory=columns.Recode)
    kinds: columns.Kinds = field(default_factory=columns.Kinds)
    missing_codes: columns.Missing = field(default_factory=columns.Missing)
    importance: columns.Importance = field(default_factory=columns.Importance)
    taxonomy: columns.TaxonomyChoices = field(default_factory=columns.TaxonomyChoices)
    units: columns.UnitChoices = field(default_factory=columns.UnitChoices)
    diversity: columns.DiversityChoices = field(default_factory=columns.DiversityChoices)
    method: parts.MethodChoices = field(default_factory=parts.MethodChoices)
    masking: parts.Masking = field(default_factory=parts.Masking)
    weights: parts.WeightChoices = field(default_factory=parts.WeightChoices)
    select: parts.Select = field(default_factory=parts.Select)
    blocks: parts.BlockChoices = field(default_factory=parts.BlockChoices)
    refine: parts.Refine = field(default_factory=parts.Refine)
    reading: parts.Reading = field(default_factory=parts.Reading)
    join: parts.Join = field(default_factory=parts.Join)
    relations: columns.Relations = field(default_factory=columns.Relations)
    analyses: columns.Analyses = field(default_factory=columns.Analyses)
    risk: parts.RiskChoices = field(default_factory=parts.RiskChoices)
    output: parts.OutputChoices = field(default_factory=parts.OutputChoices)
    compare: parts.Compare = field(default_factory=parts.Compare)
    comments: Comments = field(default_factory=Comments, compare=False, repr=False)
    origin: Origin | None = field(default=None, compare=False, repr=False)
    profile: "Profile | None" = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", check_k(self.k))
        name, options = self.method.name, self.method.options
        if options and not isinstance(name, str):
            raise InvalidParameter(
                f"options ({', '.join(options)}) are set with the name of a method only. Set them on the estimator.",
                parameter="method",
            )
        if _by_tree(name):
            self._check_by_tree(name)
        elif isinstance(name, str) and name in METHODS:
            method_named(name).bound(options)
        if self.blocks.max_block is not None:
            check_max_block(self.blocks.max_block, self.k)

    def _check_by_tree(self, name: str) -> None:
        """Refuse what a method that chooses columns by a tree has settled itself."""
        method, options = BY_TREE[name], self.method.options
        own = self.select.by not in (None, name) or self.select.columns is not None
        if own or method.settings.keys() & options.keys():
            settled = [*(f"{key}={value!r}" for key, value in method.settings.items()), f"select={name!r}"]
            raise InvalidParameter(
                f"method={name!r} is {method.on.name} with {' and '.join(settled)}. Leave "
                f"{'it' if len(settled) == 1 else 'those two'} out, or choose another method.",
                parameter="method",
            )
        method.on.bound(options)

    @classmethod
    def of(cls, k: int, **keywords: Any) -> Self:
        """Make a recipe of the keywords that `protect` takes, and those of reading, judging and writing."""
        return cls(k).replace(**keywords)

    def replace(self, **keywords: Any) -> Self:
        """Return this recipe with some choices changed.

        Parameters
        ----------
        **keywords
            As `protect` takes them, `k` among them, or whole parts, such as ``masking=Masking(...)``. A new method has
            its own options: those of the former one go. Of tables of columns, such as `kinds`, other columns stay.

        Returns
        -------
        Recipe
        """
        if is_ours(keywords.get("method")) and hasattr(keywords["method"], "as_choices"):  # it chooses columns
            set_there = keywords["method"].as_choices(keywords.get("k", self.k))
            for key in set_there.keys() & keywords.keys() - {"method"}:
                if keywords[key] != set_there[key]:
                    raise InvalidParameter(
                        f"{key} is set on the estimator already, and differs here. Set it in one place.", parameter=key
                    )
            keywords = {**keywords, **set_there}
        known = choices()
        fields_of_parts = {name for name, _ in PARTS.values()}
        whole: dict[str, Any] = {
            name: value for name, value in keywords.items() if name in fields_of_parts and isinstance(value, Part)
        }
        changed: dict[str, dict[str, Any]] = {}
        options: dict[str, Any] = {}
        for name, value in keywords.items():
            if name in known and name not in whole:
                table, choice = known[name]
                now = getattr(getattr(self, PARTS[table][0]), choice.name)
                if isinstance(value, Mapping) and isinstance(now, Mapping):
                    value = {**now, **value}  # what is said of other columns stays
                changed.setdefault(PARTS[table][0], {})[choice.name] = value
            elif name != "k" and name not in whole:
                options[name] = value
        if "select" in keywords and "select" not in whole:
            changed["select"]["columns"] = None  # the new way, whichever it is, takes the place of both
        if "method" not in whole and (options or "method" in changed):
            method = changed.setdefault("method", {}).get("name", self.method.name)
            _check_option_names(options, method, [*known, "n_jobs", "progress"])
            changed["method"]["options"] = (dict(self.method.options) if method == self.method.name else {}) | options
        by, former, base = method_name(keywords, self), self.method.name, self
        if "select" not in keywords and by != former and _by_tree(former) and self.select.by in (None, former):
            base = replace(
                self, method=parts.MethodChoices(), select=parts.Select()
            )  # what the former method chose by goes with it
        if _by_tree(by) and "select" in changed and "select" not in keywords:
            changed["select"]["by"] = by  # it chooses the columns itself, by a tree that may have options
        made: dict[str, Any] = {part: replace(getattr(base, part), **values) for part, values in changed.items()}
        return replace(base, k=keywords.get("k", self.k), **made, **whole)

    @classmethod
    def parse(cls, text: str, name: str = "the recipe") -> "Recipe":
        """Read a recipe from the text of a file; `name` heads what is said of its lines."""
        from microagg.recipe._file import parse

        return parse(text, name)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> "Recipe":
        """Read a recipe from a file, or say in which line it errs."""
        from microagg.recipe._file import read

        return read(Path(path))

    def text(self, made_for: str | None = None) -> str:
        """Return the text of a file that holds this recipe; `made_for` names the data it was made for."""
        from microagg.recipe._text import text_of

        return text_of(self, made_for)

    def write(self, path: str | os.PathLike[str], *, made_for: str | None = None, overwrite: bool = False) -> Path:
        """Write this recipe to a file, whole or not at all, and give its path."""
        from microagg.recipe._text import write

        return write(self, Path(path), made_for, overwrite=overwrite)

    def write_public(self, path: str | os.PathLike[str], *, made_for: str | None = None) -> Path:
        """Write what of this recipe may go out with its release to a new file: neither counts nor reasons."""
        from microagg.recipe._text import write_public

        return write_public(self, Path(path), made_for)

    @property
    def digest(self) -> str:
        """A checksum of the choices: recipes that choose the same have the same."""
        return hashlib.sha256(replace(self, comments=Comments(), profile=None).text().encode()).hexdigest()

    def with_profile(self, frame: Any) -> Self:
        """Return this recipe with a note of what a file is like, with which the next file is compared.

        Parameters
        ----------
        frame : pandas, polars or PyArrow dataframe, or Source
            The file that the recipe is written for.

        Examples
        --------
        >>> import microagg as ma
        >>> recipe = ma.Recipe.of(k=3, quasi=["income", "tax"], rest="drop")
        >>> recipe.with_profile(ma.datasets.survey(100, seed=0)).profile.columns["tax"].type
        'numbers'
        """
        from microagg.recipe.profile import profile_of

        return replace(self, profile=profile_of(self, frame))

    def differences(self, frame: Any) -> "tuple[Difference, ...]":
        r"""Return how a file differs from the one that this recipe was written for.

        Without a profile, as of a recipe of an older version, columns alone are compared. `protect` compares by itself
        where there is a profile: it refuses what `stops`, and the report names the rest.

        Parameters
        ----------
        frame : pandas, polars or PyArrow dataframe, or Source

        Returns
        -------
        tuple of Difference
            Each with its `sign`, `column`, `text`, `stops` and `remedy`; printed, it is one line.

        Examples
        --------
        >>> import microagg as ma, pyarrow.compute as pc
        >>> survey = ma.datasets.survey(100, seed=0)
        >>> recipe = ma.Recipe.of(k=3, quasi=["income", "tax"], rest="drop").with_profile(survey)
        >>> in_thousands = survey.set_column(
        ...     survey.column_names.index("income"), "income", pc.divide(survey["income"].cast("float64"), 1000)
        ... )
        >>> print(*recipe.differences(in_thousands), sep="\n")
        ~ column 'income': its numbers are about 1000 times smaller.
        """
        from microagg.recipe.profile import differences_of

        return differences_of(self, frame)

    def __repr__(self) -> str:
        changed = []
        for table, (part, kind) in PARTS.items():
            own, usual = getattr(self, part), kind()
            for name, choice in choices_of(kind).items():
                value = getattr(own, name)
                if value != getattr(usual, name) and (table, name) != ("select", "columns"):
                    changed.append(f"{choice.keyword}={dict(value) if isinstance(value, Mapping) else value!r}")
        if self.select.columns is not None:
            changed.append(f"select={self.select.columns!r}")
        changed += [f"{name}={value!r}" for name, value in self.method.options.items()]
        return f"Recipe.of({', '.join([f'k={self.k}', *changed])})"

    def commented(self, comments: Comments) -> Self:
        """Return this recipe with other comments beside its choices."""
        return replace(self, comments=comments)

    def spelt_out(self) -> "Recipe":
        """Return the recipe with a method that stands for several choices replaced by these, and a seed if it draws."""
        masking = self.masking
        if masking.nominal == "draw" and masking.nominal_seed is None:
            masking = replace(masking, nominal_seed=secrets.randbelow(2**62))
        name = self.method.name
        if not _by_tree(name):
            return replace(self, masking=masking)
        method = parts.MethodChoices(BY_TREE[name].on.name, {**BY_TREE[name].settings, **self.method.options})
        return replace(self, method=method, select=replace(self.select, by=name), masking=masking)

    def masked(self, names: Sequence[Any]) -> list[Any]:
        """Return the columns to mask of a file that has these."""
        if self.roles.quasi is not None:
            return list(self.roles.quasi)
        others = {name for _, name in self.roles.named}
        return [name for name in names if name not in others]

    @property
    def weights_by_group(self) -> tuple[Any, ...]:
        """The weights that are released as the means of groups: k holds for them too."""
        return self.roles.of("weight") if self.weights.release == "group" else ()

    def check_columns(self, names: Sequence[str]) -> None:
        """Refuse a column that is not in the file, or that has two roles or none; `names` are the file's."""
        taken: dict[str, str] = {}
        # Where no name fits, the file's may be the cells of a record: they are not shown.
        is_header = any(name in names for _, name in self.roles.named)
        for role, name in self.roles.named:
            what = f"column {name!r} in {role}"
            if name not in names:
                hint = (is_header and nearest(name, names)) or f" The file has {len(names)} columns."
                raise self._fault(("roles", role), f"{what} is not in the file.{hint}", name)
            if name in taken:
                twice = "is named twice" if taken[name] == role else f"is already in {taken[name]}"
                raise self._fault(("roles", role), f"{what} {twice}. Give each column one role.", name)
            taken[name] = role
        masked = self.masked(names)
        left = [name for name in names if name not in taken and name not in masked]
        if left and self.roles.rest is None:
            listed = ", ".join(map(repr, left[:10])) + (f" and {len(left) - 10} more" if len(left) > 10 else "")
            raise self._fault(
                ("roles",),
                f"{len(left)} column(s) of the file have no role: {listed}. Give each a role, "
                f"or set what becomes of the rest: {setting('rest', 'drop')}.",
            )
        self.check_named(names)
        chosen = (
            ("select", "columns", self.select.columns),
            ("blocks", "columns", self.blocks.columns),
            ("risk", "keys", self.risk.keys),
        )
        for table, key, named in chosen:
            for name in named or ():
                if name not in masked:
                    keyword = choices_of(PARTS[table][1])[key].keyword
                    what = f"column {name!r} is not masked, and {setting(keyword)} takes masked columns only."
                    raise self._fault((table, key), what + nearest(name, masked), name)

    def check_named(self, names: Sequence[Any]) -> None:
        """Refuse a choice for a column that is not in the file; `names` are the file's."""
        self._check_declared(names)
        for table, (part, kind) in PARTS.items():
            for key, choice in choices_of(kind).items():
                named = getattr(getattr(self, part), key)
                if choice.kind not in (BY_COLUMN, WORD_OR_BY_COLUMN) or isinstance(named, str):
                    continue
                for name in named:
                    if name not in names:
                        place = (table, name) if kind.by_column else (table, key, name)
                        raise self._fault(
                            place, f"column {name!r} in [{table}] is not in the file.{nearest(name, names)}", name
                        )

    def _check_declared(self, names: Sequence[Any]) -> None:
        """Refuse an analysis that cannot be done on the release, and a relation of columns that are not in the file."""
        if not self.analyses.analyses and not self.relations.relations:
            return
        schema = Schema.assign(names, **self.roles.lists)
        released = schema.released_with_units if self.units.release == "pseudonym" else schema.released
        for relation in self.relations.relations:
            for name in relation.columns:
                if name not in released:
                    what = _undone(f"the relation {relation.said!r}", name, names)
                    raise blamed(relation, RoleError(what, columns=(name,)))
        for analysis in self.analyses.analyses:
            try:
                check_released(analysis, released, self.roles.unit)
            except InputError as error:
                if error.columns and error.columns[0] != analysis.unit:
                    what = _undone(f"the analysis {analysis.name!r}", error.columns[0], names)
                    raise blamed(analysis, RoleError(what, columns=error.columns)) from None
                raise

    def _fault(self, place: Place, what: str, word: str | None = None) -> InputError:
        if self.origin is None:
            return RoleError(what, columns=() if word is None else (word,))
        return self.origin.fault(place, what, word=word, kind=RoleError)

    @contextmanager
    def blamed(self) -> Iterator[None]:
        """Head what is refused within by the file and the line in which that was chosen, if it was chosen there."""
        try:
            yield
        except MicroaggError as error:
            place = None if error.placed or self.origin is None else self._place_of(error.parameter, error.columns)
            if place is None or self.origin is None:
                raise
            table = f"in {bracketed(place[0])}, " if place[0] in PARTS else ""  # k stands above all tables
            raise error.at(f"{self.origin.head(place)}{table}") from None

    def _place_of(self, parameter: str | None, columns: Sequence[Any] = ()) -> Place | None:
        """Find where the file says what is in force; the command line may have had another word."""
        if parameter is None or self.origin is None:
            return None
        if parameter == "k" and self.origin.tables.get("k") == self.k:
            return ("k",)
        for table, (part, kind) in PARTS.items():
            written, own = self.origin.tables.get(table, {}), getattr(self, part)
            for name, choice in choices_of(kind).items():
                if choice.keyword != parameter or not self.origin.sets(table, name):
                    continue
                if choice.checked(written if kind.by_column or kind.listed else written[name]) == getattr(own, name):
                    return self.origin.place(table, name, columns)
        written = self.origin.tables.get("method", {})
        if parameter in self.method.options and written.get(parameter) == self.method.options[parameter]:
            return "method", parameter
        return None


def _undone(of: str, column: Any, names: Sequence[Any]) -> str:
    """Say why something of a column cannot be done on the release."""
    what = f"column {column!r} of {of}"
    if column not in names:
        return f"{what} is not in the file.{nearest(column, names)}"
    return f"{what} is not released, so users do not have it. Release the column, or take it out there."


def _by_tree(method: Any) -> bool:
    """Return whether a method chooses the columns that form groups by a tree."""
    return isinstance(method, str) and method in BY_TREE


def method_name(keywords: Mapping[str, Any], recipe: Recipe) -> Any:
    """Return the name of the method that a recipe has with these keywords."""
    method = keywords.get("method", recipe.method)
    return method.name if isinstance(method, parts.MethodChoices) else method


def _check_option_names(options: Collection[str], method: Any, known: Collection[str]) -> None:
    """Catch a misspelt keyword before it is taken for an option of the method."""
    for name in options:
        near = difflib.get_close_matches(name, known, n=1, cutoff=0.8)
        if near and name not in options_of(method):
            raise InvalidParameter(
                f"there is no parameter {name!r}, and method {shown(method)} has no such option. Did you mean "
                f"{near[0]!r}?",
                parameter=name,
            )


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
