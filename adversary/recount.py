"""Count k and l on what was written, by plain reading: nothing of microagg is used here."""

import csv
import gzip
import io
import math
import tomllib
from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq

Columns = dict[str, list[Hashable]]
_MISSING = (None, "", "NA", "NaN", "NULL", ".")
"""What l and t take as missing."""


def columns_of(path: Path, reading: dict[str, Any], names: Sequence[str] = ()) -> Columns:
    """Read a masked file; `reading` is what the recipe says of text files, and `names` are some that it must have."""
    suffix = path.name.partition(".")[2].lower()
    if suffix.startswith(("parquet", "pq")):
        return _of_table(pq.read_table(path))
    if suffix in ("feather", "arrow"):
        return _of_table(pyarrow.feather.read_table(path, memory_map=False))
    if suffix in ("sav", "zsav", "dta"):
        return _of_statistics(path, suffix)
    text = text_in(path, reading)
    if reading.get("header") is False:  # then columns stand in the order of their numbers
        text = f"{reading.get('delimiter', ',').join(sorted(names, key=_number))}\n{text}"
    delimiters = (reading.get("delimiter", ","), "\t", ",", ";", "|")
    return max((as_named(_of_text(text, one), names) for one in delimiters), key=lambda own: len({*names} & {*own}))


def _number(name: str) -> int:
    """Return the number of a column of a file without names, which is its name."""
    return int(name.rpartition("_")[2])


def text_in(path: Path, reading: dict[str, Any]) -> str:
    """Return the text of a file, in the encoding that the recipe says."""
    content = gzip.decompress(path.read_bytes()) if path.name.lower().endswith("gz") else path.read_bytes()
    try:
        return content.decode(reading.get("encoding", "utf-8")).lstrip("\ufeff")
    except UnicodeDecodeError:  # a target of another kind than the source is written in UTF-8
        return content.decode("utf-8-sig")


def as_named(columns: Columns, names: Sequence[str]) -> Columns:
    """Give columns by the names that the recipe has for them.

    Text has an apostrophe before names that a spreadsheet might take for a formula, and no byte order mark as a name's.
    """
    known = {f"'{name}": name for name in names if name not in columns}
    known |= {name.lstrip("\ufeff"): name for name in names if name not in columns}
    return {known.get(name, name): cells for name, cells in columns.items()}


def _of_text(text: str, delimiter: str) -> Columns:
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    if not rows:
        return {}
    names, rest = rows[0], [row for row in rows[1:] if row or len(rows[0]) == 1]
    return {name: [row[i] or None if i < len(row) else None for row in rest] for i, name in enumerate(names)}


def _of_table(table: Any) -> Columns:
    return {
        name: [comparable(value) for value in values(column)]
        for name, column in zip(table.column_names, table.columns, strict=True)
    }


def values(column: Any) -> list[Any]:
    """Return the cells of a column of Arrow, or of any frame."""
    if hasattr(column, "to_native"):
        native = column.to_native()
        if isinstance(native, pa.ChunkedArray):
            return values(native)
        try:
            return list(column.to_list())
        except (OverflowError, ValueError):
            return values(column.to_arrow())
    try:
        return list(column.to_pylist())
    except (OverflowError, ValueError):  # dates that Python does not have
        whole = pa.int32() if pa.types.is_date32(column.type) or pa.types.is_time32(column.type) else pa.int64()
        return list(column.cast(whole).to_pylist())


def _of_statistics(path: Path, suffix: str) -> Columns:
    import pyreadstat

    read = pyreadstat.read_dta if suffix == "dta" else pyreadstat.read_sav
    data, about = read(str(path), user_missing=True, disable_datetime_conversion=True, output_format="dict")
    return {name: [comparable(value) if value != "" else None for value in data[name]] for name in about.column_names}


def of_database(path: Path, table: str) -> Columns:
    """Read a table of a DuckDB file."""
    import duckdb

    with duckdb.connect(str(path), read_only=True) as open_file:
        found = open_file.sql(f'SELECT * FROM "{table}"').arrow()
        return _of_table(found if hasattr(found, "column_names") else found.read_all())


def comparable(value: Any) -> Hashable:
    """Return what is equal where cells are: zeros of both signs are, and what is missing is equal to itself."""
    if isinstance(value, (str, int, bytes)):
        return value
    if isinstance(value, float):
        return None if math.isnan(value) else 0.0 if value == 0 else value
    return None if value is None or repr(value) in ("NaT", "<NA>", "nan", "NaN") else repr(value)


def classes(columns: Columns, names: Sequence[str]) -> list[tuple[Hashable, ...]]:
    """Return the combination of values of each row."""
    return list(zip(*(columns[name] for name in names), strict=True))


def fewest(columns: Columns, names: Sequence[str]) -> int | float:
    """Return the fewest rows that share a combination of values."""
    return min(Counter(classes(columns, names)).values(), default=math.inf)


def broken(columns: Columns, said: dict[str, Any]) -> list[str]:
    """Say what is broken of what was promised.

    `said` has "k", "quasi", "strata", "weight" (if released by group), "per_column", "pseudonym", "units" (of each row
    by "row", a column that tells rows apart), "in_part", "l", "entropy_l", "recursive_l" and "l_columns".
    """
    k, quasi, strata = said["k"], said["quasi"], said.get("strata", [])
    more = [*strata, *said.get("weight", [])]
    missing = [name for name in [*quasi, *more] if name not in columns]
    if missing:
        return [f"masked columns are not in what was written: {len(missing)}"]
    together = [[name, *more] for name in quasi] if said.get("per_column") else [[*quasi, *more]]
    found: list[str] = []
    if said.get("pseudonym"):
        alike = _fewest_whole_units(columns, together[0], said["pseudonym"])
        return [] if alike >= k else [f"only {alike} units have the same rows, and k is {k}"]
    for names in together:
        if (alike := fewest(columns, names)) < k:
            found.append(f"only {alike} rows share a combination of values, and k is {k}")
        if "units" in said:
            found += _units_broken(columns, names, said)
    if not said.get("per_column"):
        for name in said.get("l_columns", []):
            found += _diversity_broken(columns, together[0], name, said)
    return found


def _fewest_whole_units(columns: Columns, names: Sequence[str], unit: str) -> int | float:
    rows = defaultdict(list)
    for owner, row in zip(columns[unit], classes(columns, names), strict=True):
        rows[owner].append(repr(row))
    return min(Counter(tuple(sorted(own)) for own in rows.values()).values(), default=math.inf)


def broken_apart(files: Sequence[Columns], unit: str, names: Sequence[str], k: int) -> list[str]:
    """Say whether fewer than k units are alike in their rows of all files together."""
    rows = defaultdict(list)
    for number, columns in enumerate(files):
        if unit not in columns:
            return [f"a masked file has no column {unit!r}"]
        own = [name for name in names if name in columns]
        for owner, row in zip(columns[unit], classes(columns, [unit, *own]), strict=True):
            rows[owner].append((number, repr(row[1:])))
    alike = min(Counter(tuple(sorted(own)) for own in rows.values()).values(), default=math.inf)
    return [] if alike >= k else [f"only {alike} units are alike in all files, and k is {k}"]


def _units_broken(columns: Columns, names: Sequence[str], said: dict[str, Any]) -> list[str]:
    if said.get("damaged"):
        return []  # units, or what tells rows apart, may have changed before they were read: nobody knows whose rows
    owners = [said["units"].get(row) for row in columns[said["row"]]]
    found: dict[Hashable, Counter[Hashable]] = defaultdict(Counter)
    for owner, row in zip(owners, classes(columns, names), strict=True):
        found[row][owner] += 1
    k, wrong = said["k"], []
    if any(len(own) < k for own in found.values()):
        wrong.append(f"fewer than {k} units share a combination of values")
    if said.get("in_part") and any(max(own.values()) * k > sum(own.values()) for own in found.values()):
        wrong.append(f"a unit holds more than 1/{k} of the rows that share a combination of values")
    return wrong


def _is_missing(value: Hashable) -> bool:
    return (value.strip() if isinstance(value, str) else value) in _MISSING


def _diversity_broken(columns: Columns, names: Sequence[str], name: str, said: dict[str, Any]) -> list[str]:
    found: dict[Hashable, Counter[Hashable]] = defaultdict(Counter)
    for value, row in zip(columns[name], classes(columns, names), strict=True):
        if not _is_missing(value):
            found[row][value] += 1
        else:
            found[row].update()  # rows whose values are all missing have none
    wrong = []
    if said.get("l") and any(len(own) < said["l"] for own in found.values()):
        wrong.append(f"a confidential column has fewer than {said['l']} values among rows that are alike")
    if any(_is_missing(value) for value in columns[name]):
        return wrong  # how missing values count for the others, the documents say by kind
    if said.get("entropy_l") and any(_entropy(own) < said["entropy_l"] - 1e-9 for own in found.values()):
        wrong.append(f"a confidential column has less than entropy_l = {said['entropy_l']} among rows that are alike")
    if said.get("recursive_l"):
        c, rank = said["recursive_l"]
        for own in found.values():
            counts = sorted(own.values(), reverse=True)
            if counts[0] >= c * sum(counts[int(rank) - 1 :]):
                wrong.append("a confidential column breaks recursive_l among rows that are alike")
                break
    return wrong


def _entropy(counts: "Counter[Hashable]") -> float:
    total = sum(counts.values())
    return math.exp(-sum(n / total * math.log(n / total) for n in counts.values()))


def recipe_file(folder: Path) -> Path | None:
    """Return the place of the recipe that a run has written, the fullest where there are several."""
    return max(folder.rglob("recipe.toml"), key=lambda path: path.stat().st_size, default=None)


def recipe_in(folder: Path) -> dict[str, Any]:
    """Return the recipe that a run has written."""
    path = recipe_file(folder)
    return {} if path is None else tomllib.loads(path.read_text("utf-8"))


def promised(recipe: dict[str, Any], chosen: dict[str, Any]) -> dict[str, Any]:
    """Return what was promised: what the case has chosen, and for the rest what the written recipe says."""
    roles, diversity = recipe.get("roles", {}), recipe.get("diversity", {})
    weight = roles.get("weight", [])
    by_group = recipe.get("weights", {}).get("release") == "group"
    said = {
        "k": chosen.get("k", recipe.get("k")),
        "quasi": chosen.get("quasi", roles.get("quasi", [])),
        "strata": chosen.get("strata", roles.get("strata", [])),
        "weight": ([weight] if isinstance(weight, str) else weight) if by_group else [],
        "per_column": recipe.get("masking", {}).get("per_column", False),
        "in_part": recipe.get("units", {}).get("share", "limited") == "limited",
        "l": chosen.get("l", diversity.get("l")),
        "entropy_l": chosen.get("entropy_l", diversity.get("entropy")),
        "recursive_l": chosen.get("recursive_l", diversity.get("recursive")),
    }
    said["l_columns"] = chosen.get("l_columns") or diversity.get("l_columns") or roles.get("confidential", [])
    if not (said["l"] or said["entropy_l"] or said["recursive_l"]):
        said["l_columns"] = []
    if recipe.get("units", {}).get("release") == "pseudonym":
        said["pseudonym"] = roles.get("unit")
    elif "units" in chosen:
        said |= {"units": chosen["units"], "row": chosen["row"], "damaged": chosen.get("damaged", False)}
    return said
