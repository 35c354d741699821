"""What may stand in a recipe, and what a recipe says."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from microagg import partition
from microagg.aggregate import AGGREGATES
from microagg.blocking import BLOCKINGS
from microagg.checks import nearest
from microagg.errors import InputError, InvalidParameter, RoleError
from microagg.partition.refine import EFFORTS
from microagg.prepare.dependence import MEASURES
from microagg.prepare.scaling import SCALES
from microagg.recipe_file._lines import Comments, Place, line_of

METHODS = (*partition.METHODS, "ama")
"""Every method by name; "ama" is one of them with choices of its own."""

NAMES = "a list of names"


@dataclass(frozen=True)
class Key:
    """What may stand behind a key: its kind, the words or the least number allowed, and what it means."""

    kind: str
    said: str = ""
    words: tuple[str, ...] = ()
    least: int | None = None

    @property
    def remark(self) -> str:
        """What is written beside it in a recipe."""
        return ": ".join(part for part in (", ".join(self.words), self.said) if part)


_NAME, _WORD, _NUMBER, _TEXT, _FLAG = "a name", "a word", "a whole number", "a text", "true or false"

TABLES: dict[str, dict[str, Key]] = {
    "": {"k": Key(_NUMBER, "at least so many records share each combination of released values", least=2)},
    "roles": {
        "quasi": Key(NAMES, "masked: columns that together could identify a person"),
        "identifiers": Key(NAMES, "dropped: they identify a person by themselves"),
        "confidential": Key(NAMES, "released as they are: sensitive, and not known to an intruder"),
        "strata": Key(NAMES, "released as they are; groups stay within their values"),
        "keep": Key(NAMES, "released as they are: harmless"),
        "drop": Key(NAMES, "left out"),
        "weight": Key(_NAME, "released as it is: a sampling weight"),
        "unit": Key(_NAME, "dropped; every group holds k different ones"),
    },
    "method": {"name": Key(_NAME, "how groups are formed", METHODS)},
    "masking": {
        "scale": Key(_WORD, "how columns are made comparable", SCALES),
        "aggregate": Key(_WORD, "what a group releases", AGGREGATES),
        "integers": Key(_WORD, "how whole numbers are released", ("float", "round")),
        "missing": Key(_WORD, "what becomes of records that lack a value", ("error", "drop")),
        "per_column": Key(_FLAG, "whether k holds for each column only, as with univariate and ranking"),
    },
    "select": {
        "by": Key(_WORD, "how the columns that form the groups are chosen", ("emad", "ama")),
        "columns": Key(NAMES, "the columns that form the groups"),
        "count": Key(_NUMBER, "how many columns emad takes", least=1),
        "measure": Key(_WORD, "the measure of dependence", MEASURES),
        "width": Key("a number or a list of them", "of the categories that columns are cut into"),
        "bins": Key(_NUMBER, "how many categories columns are cut into", least=2),
    },
    "blocks": {
        "by": Key(_WORD, "how a large file is cut", ("auto", "none", *BLOCKINGS)),
        "max_block": Key(_NUMBER, "the most records of a block", least=4),
    },
    "refine": {
        "effort": Key("a word or a whole number", "or the moves to try", tuple(EFFORTS), least=1),
        "seed": Key(_NUMBER, "of the moves", least=0),
    },
    "read": {
        "delimiter": Key(_TEXT, "between fields"),
        "encoding": Key(_TEXT),
        "decimal": Key(_TEXT, "the decimal mark"),
        "thousands": Key(_TEXT, "between thousands; empty for nothing"),
        "header": Key(_FLAG, "whether the first row holds the names of the columns"),
    },
    "risk": {
        "keys": Key(NAMES, "the masked columns that an intruder knows, beside the strata; all where this is left out"),
        "sample": Key(_NUMBER, "records that linkage is estimated on", least=2),
        "seed": Key(_NUMBER, "of the sample", least=0),
    },
    "output": {
        "reorder": Key(_FLAG, "whether the released rows are sorted, so that their order tells nothing"),
        "excel_safe": Key(_FLAG, "whether text is kept from acting as a spreadsheet's formula"),
    },
}
"""What may stand in each table of a recipe; "" is the top. The method's own options join its name."""

_WRITTEN_AS = {"method": ("method", "name"), "select": ("select", "by"), "blocks": ("blocks", "by")}
"""Where the arguments of `protect` stand that have another name there."""

_OF_PROTECT = ("masking", "method", "select", "blocks", "refine")


def known_keys(table: str, method: str) -> dict[str, Key]:
    """Give what may stand in a table; beside a method's name that is its options."""
    if table != "method":
        return TABLES[table]
    own = partition.METHODS["mdav" if method == "ama" else method]
    return TABLES[table] | {
        option: Key("a number" if isinstance(own.defaults[option], float) else _WORD, said)
        for option, said in own.options.items()
    }


@dataclass(frozen=True)
class Origin:
    """The file that a recipe was read from."""

    name: str
    text: str
    tables: Mapping[str, Mapping[str, Any]]

    def fault(
        self, place: Place, what: str, *, word: str | None = None, kind: type[InputError] = InvalidParameter
    ) -> InputError:
        """Make the error that says what is wrong and in which line."""
        line = line_of(self.text, place, word)
        return kind(f"{self.name}, line {line}: {what}" if line else f"{self.name}: {what}")


@dataclass(frozen=True)
class RecipeFile:
    """What a recipe says, checked in form; what goes with what is checked by those who act on it.

    Attributes
    ----------
    k : int
    tables : mapping
        From the name of a table to its keys and values, as in the file; those left out are empty.
    comments : Comments
        What stands beside them.
    origin : Origin or None
        Where it was read, to name the line of what is wrong.
    """

    k: int
    tables: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    comments: Comments = field(default_factory=Comments, compare=False, repr=False)
    origin: Origin | None = field(default=None, compare=False, repr=False)

    def table(self, name: str) -> dict[str, Any]:
        """Give a table's keys and values."""
        return dict(self.tables.get(name, {}))

    def masked(self, names: Sequence[str]) -> list[str]:
        """Give the columns to mask of a file that has these."""
        roles = self.table("roles")
        if "quasi" in roles:
            return list(roles["quasi"])
        others = {name for _, name in self._named()}
        return [name for name in names if name not in others]

    def arguments(self) -> dict[str, Any]:
        """Give the arguments of `protect`, beside the frame."""
        roles, method, select, blocks = (self.table(name) for name in ("roles", "method", "select", "blocks"))
        given = {"k": self.k, **roles, **self.table("masking")}
        given |= {"method": method.pop("name", "mdav"), **method}
        if "columns" in select:
            given["select"] = select["columns"]
        elif select:
            given |= {"select": select.pop("by", "emad"), **select}
        if blocks:
            given["blocks"] = blocks.pop("by", "auto")
            given |= blocks
        refine = self.table("refine")
        if refine:
            given |= {"refine": refine.get("effort", "fast"), "seed": refine.get("seed", 0)}
        return given

    def check_columns(self, names: Sequence[str]) -> None:
        """Refuse a column that the file lacks, or that has two roles or none; `names` are the file's."""
        found: dict[str, str] = {}
        # Where no name fits, the file's may be the cells of a record: they are not shown.
        is_header = any(name in names for _, name in self._named())
        for role, name in self._named():
            what = f"column {name!r} in {role}"
            if name not in names:
                hint = (is_header and nearest(name, names)) or f" The file has {len(names)} columns."
                raise self._fault(("roles", role), f"{what} is not in the file.{hint}", name)
            if name in found:
                twice = "is named twice" if found[name] == role else f"is already in {found[name]}"
                raise self._fault(("roles", role), f"{what} {twice}. Give each column one role.", name)
            found[name] = role
        masked = self.masked(names)
        left = [name for name in names if name not in found and name not in masked]
        if left:
            listed = ", ".join(map(repr, left[:10])) + (f" and {len(left) - 10} more" if len(left) > 10 else "")
            raise self._fault(
                ("roles",), f"{len(left)} column(s) of the file have no role: {listed}. Name them, under drop perhaps."
            )
        for table, key in (("select", "columns"), ("risk", "keys")):
            for name in self.table(table).get(key, []):
                if name not in masked:
                    what = f"column {name!r} in {key} of [{table}] is not masked."
                    raise self._fault((table, key), what + nearest(name, masked), name)

    @contextmanager
    def blamed(self, *tables: str) -> Iterator[None]:
        """Name the line of a choice that is refused within; `tables` are those asked, by default `protect`'s."""
        try:
            yield
        except InvalidParameter as error:
            said = re.match(r"(\w+)(=| goes with | is for )", str(error))
            place = said and self._place_of(said[1], tables or _OF_PROTECT)
            if not place or self.origin is None:
                raise
            raise self.origin.fault(place, f"in [{place[0]}], {error}") from None

    def _place_of(self, argument: str, tables: Sequence[str]) -> Place | None:
        """Find what the file itself says for an argument; the command line may have had another word."""
        same = [_WRITTEN_AS.get(argument, ("", "")), *((table, argument) for table in tables)]
        written = self.origin.tables if self.origin else {}
        for table, key in same:
            said = written.get(table, {}).get(key)
            if table in tables and said is not None and said == self.table(table).get(key):
                return table, key
        return None

    def _named(self) -> list[tuple[str, str]]:
        """List each role with each of its columns."""
        roles = self.table("roles").items()
        return [(role, name) for role, listed in roles for name in ([listed] if isinstance(listed, str) else listed)]

    def _fault(self, place: Place, what: str, word: str | None = None) -> InputError:
        if self.origin is None:
            return RoleError(what)
        return self.origin.fault(place, what, word=word, kind=RoleError)


def quoted(value: Any) -> str:
    """Write a value as TOML: its strings, numbers and lists are those of JSON, but for one character."""
    return json.dumps(value, ensure_ascii=False, default=str).replace("\x7f", "\\u007f")
