"""Files of statistics packages (SPSS, Stata, SAS), with their labels, by pyreadstat."""

import datetime as dt
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from microagg.checks import EXACT_INTEGERS, Extra
from microagg.columns.labels import Labels, MaskedColumns
from microagg.columns.numbers import as_floats, is_text
from microagg.errors import InvalidData
from microagg.files.files import whole_file
from microagg.files.formats.kinds import TITLES, Stored, Writing, kind_of, to_path
from microagg.work import Progress

_FORMATS: dict[str, dict[str, tuple[str, ...]]] = {
    "spss": {
        "date": ("DATE", "ADATE", "EDATE", "JDATE", "SDATE", "MOYR", "QYR", "WKYR"),
        "datetime": ("DATETIME", "YMDHMS"),
    },
    "stata": {"date": ("%td", "%d"), "datetime": ("%tc",)},
    "sas": {
        "date": (
            *(f"{order}{mark}" for order in ("DDMMYY", "MMDDYY", "YYMMDD") for mark in ("", *"BCDNPS")),
            *("DATE", "WEEKDATE", "WEEKDATX", "WORDDATE", "WORDDATX", "MONYY", "JULIAN", "NLDATE"),
            *("E8601DA", "B8601DA", "IS8601DA"),
        ),
        "datetime": (
            *("DATETIME", "DTDATE", "DTMONYY", "DATEAMPM", "MDYAMPM", "NLDATM"),
            *("E8601DT", "E8601DN", "B8601DT", "B8601DN", "IS8601DT"),
        ),
    },
}
_DEFAULTS = {"spss": {"date": "DATE11", "datetime": "DATETIME23.2"}, "stata": {"date": "%td", "datetime": "%tc"}}
_ORIGINS = {"spss": dt.date(1582, 10, 14), "stata": dt.date(1960, 1, 1), "sas": dt.date(1960, 1, 1)}
_MEASURES = ("nominal", "ordinal", "scale")
_DAY = 86400
_FIRST, _LAST = -62135596800, 253402300799  # seconds from 1970 to the years 1 and 9999: Python has no other dates
_LONGEST_NAME = {"spss": 64, "stata": 32}
_LARGEST_LONG = 2147483620  # Stata's: above it, whole numbers of four bytes stand for missing ones
_CELLS = 1 << 21  # read back at a time: about a quarter of a second, which Ctrl-C waits for
_STORED = 8  # bytes of a cell, as nothing is packed
EXTRA = Extra(
    ("polars", "pyreadstat"),
    "files of SPSS, Stata and SAS need pyreadstat and polars. Run: pip install 'microagg[stats]'",
)


def require_extra() -> Any:
    """Import pyreadstat, and make sure of polars, which it takes tables from."""
    EXTRA.load("polars")
    return EXTRA.load("pyreadstat")


def cannot_be_read(path: Path, kind: str) -> InvalidData:
    """Return the error of a file that is damaged, or none of its kind."""
    return InvalidData(
        f"{path.name!r} cannot be read as a file of {TITLES[kind]}. It may be incomplete, or of another kind; write "
        "it again."
    )


def read(address: Any, reading: Mapping[str, Any], progress: Progress | None) -> Stored:
    """Return what a file holds, read by a child process."""
    from microagg.files.formats.apart import read_apart  # which calls what is below

    path = to_path(address)
    table, labels = read_apart(path, kind_of(path), progress)
    return Stored(table, labels=labels)


def read_statistics(path: Path, kind: str) -> tuple[pa.Table, Labels]:
    """Read a file of a statistics package: numbers and text as stored, dates as dates where none is lost by it.

    A damaged file may crash the process: those of others are read by `read_apart`.
    """
    package = EXTRA.load("pyreadstat")
    read = {"spss": package.read_sav, "stata": package.read_dta, "sas": package.read_sas7bdat}[kind]
    try:
        stored, meta = read(str(path), output_format="dict", user_missing=True, disable_datetime_conversion=True)
    except Exception as error:  # pyreadstat's own errors are plain Exceptions
        if isinstance(error, MemoryError):
            raise
        raise cannot_be_read(path, kind) from None
    formats = {name: text for name, text in meta.original_variable_types.items() if text}
    columns, tags = {}, {}
    for name, values in stored.items():
        if meta.readstat_variable_types.get(name) == "string":
            texts = pa.array(values, pa.string(), from_pandas=True)
            # None of the packages has another missing text than an empty one.
            columns[name] = pa.chunked_array([pc.if_else(pc.equal(texts, ""), pa.scalar(None, pa.string()), texts)])
            continue
        if meta.missing_user_values.get(name):
            tags[name] = pa.array([value if isinstance(value, str) else None for value in values], pa.string())
            values = [None if isinstance(value, str) else value for value in values]
        is_whole = meta.readstat_variable_types.get(name, "").startswith("int")
        numbers = pa.array(values, pa.int64() if is_whole else pa.float64(), from_pandas=True)
        columns[name] = pa.chunked_array([_to_dates(numbers, kind, formats.get(name, ""))])
    labels = Labels(
        kind=kind,
        columns={name: text for name, text in meta.column_names_to_labels.items() if text},
        values={name: dict(texts) for name, texts in meta.variable_value_labels.items()},
        formats=formats,
        measures=dict(meta.variable_measure) if kind == "spss" else {},
        widths=dict(meta.variable_display_width) if kind == "spss" else {},
        missing={name: list(ranges) for name, ranges in meta.missing_ranges.items()},
        tags=tags,
    )
    return pa.table(columns), labels


def write(table: pa.Table, path: Path, how: Writing) -> None:
    """Write a file of SPSS or Stata, with the labels of its columns, whichever rows of the original are left.

    Labels of values that no row has are left out. A masked column of categories keeps all else that the file says of
    it. One of means keeps its label, and what is said of the codes for missing values that it still has: means have no
    value labels, and none where a missing value is declared. Stata's .a to .z are known by row: the labels of the
    source and what is masked have those of the table's rows.
    """
    package, kind, original, labels = require_extra(), kind_of(path), how.like.table, how.like.labels
    import polars as pl

    _check_names(table.column_names, kind)
    said = _said(table, original, labels or Labels(kind), kind, how.masked)
    formats, widths, tags = dict(said.formats), dict(said.widths), said.tags
    series, value_labels = [], {}
    for name in table.column_names:
        column, sort = _to_stored(table[name], name, kind)
        if sort:
            formats.setdefault(name, _DEFAULTS[kind][sort])
        elif pa.types.is_string(column.type):
            _narrow(formats, widths, name, column)
        if name in tags:
            mixed = [
                tag if number is None else number
                for number, tag in zip(column.to_pylist(), tags[name].to_pylist(), strict=True)
            ]
            series.append(pl.Series(name, mixed, dtype=pl.Object))
        else:
            series.append(pl.Series(name, pl.from_arrow(column)))
        if name in said.values:
            used = {*column.unique().to_pylist(), *(tags[name].unique().to_pylist() if name in tags else ())}
            fitting = _fitting(said.values[name], column.type, kind, name in tags)
            # The label of a value that no row has any more discloses something of rows that were left out.
            value_labels[name] = {value: text for value, text in fitting.items() if value in used}
    options: dict[str, Any] = {
        "column_labels": dict(said.columns),
        "variable_value_labels": {name: texts for name, texts in value_labels.items() if texts},
        "variable_format": formats,
    }
    if kind == "spss":
        options |= {"missing_ranges": dict(said.missing), "variable_measure": dict(said.measures)}
        options |= {"compress": path.suffix.lower() == ".zsav", "variable_display_width": widths}
    else:
        listed = {name: sorted(set(column.drop_null().to_pylist())) for name, column in tags.items()}
        options |= {"version": 14, "missing_user_values": listed}
    write_to = package.write_sav if kind == "spss" else package.write_dta
    with whole_file(path, check=how.check) as fresh:
        try:
            write_to(pl.DataFrame(series), str(fresh), **options)
        except Exception as error:  # pyreadstat's own errors are plain Exceptions, and may show cells
            if isinstance(error, (MemoryError, OSError)):
                raise
            raise InvalidData(
                f"{path.name!r} cannot be written: {TITLES[kind]} cannot hold a name, a label or a value of the table. "
                f"Shorten names and labels, or write Parquet instead."
            ) from None
        _forget_time(fresh, kind)


def _said(table: pa.Table, original: pa.Table, labels: Labels, kind: str, masked: MaskedColumns) -> Labels:
    """Return what is still true of the columns of a table, of all that the file of the original says."""
    known = [name for name in table.column_names if name in original.column_names]
    kept = [name for name in known if name not in masked.names or name in masked.categories]
    same_kind = labels.kind == kind
    shown = [name for name in known if name in kept or _shows_means(table, original, name, labels)]
    values = {name: labels.values[name] for name in kept if name in labels.values}
    for name in [name for name in known if name in labels.values and name not in kept]:
        states = {*masked.codes.get(name, ()), *(masked.tags[name].unique().to_pylist() if name in masked.tags else ())}
        values[name] = {value: text for value, text in labels.values[name].items() if value in states}
    told = [name for name in labels.tags if name not in masked.names and name not in masked.untold]
    tagged = {name: labels.tags[name] for name in told} | dict(masked.tags)
    told_apart = same_kind and kind == "stata"
    measures = {name: labels.measures.get(name, "unknown") for name in kept}
    # Means of codes are no codes.
    measures |= {name: "scale" for name in labels.measures if _is_number(table, name) and name not in kept}
    declared = [name for name in known if name in labels.missing and (name in kept or name in masked.codes)]
    return Labels(
        kind,
        columns={name: labels.columns[name] for name in table.column_names if name in labels.columns},
        values=values,
        formats={name: labels.formats[name] for name in shown if name in labels.formats} if same_kind else {},
        measures={name: text for name, text in measures.items() if text in _MEASURES},
        widths={name: labels.widths[name] for name in kept if name in labels.widths},
        missing={name: labels.missing[name] for name in declared},
        tags={name: tagged[name] for name in known if name in tagged} if told_apart else {},
    )


def _narrow(formats: dict[str, str], widths: dict[str, int], name: str, column: Any) -> None:
    """Show text no wider than the longest that is released, or than usual: a wider one discloses longer text."""
    longest = pc.max(pc.utf8_length(column)).as_py() or 0
    found = re.fullmatch("%([-~]?)([0-9]+)s", formats.get(name, ""))
    if found:
        formats[name] = f"%{found[1]}{min(int(found[2]), max(longest, 9))}s"
    if name in widths:
        widths[name] = min(widths[name], max(longest, 8))


def _is_number(table: pa.Table, name: str) -> bool:
    if name not in table.column_names:
        return False
    dtype = table[name].type
    return bool(pa.types.is_floating(dtype) or pa.types.is_integer(dtype))


def _shows_means(table: pa.Table, original: pa.Table, name: str, labels: Labels) -> bool:
    """Return whether the format of a column whose values have changed still serves: not if it hides decimals."""
    if not (_is_number(table, name) and _is_number(original, name)):
        return bool(table[name].type == original[name].type)  # dates
    hides = re.search(r"^[A-Z]+[0-9]*$|\.0[fc]*$", labels.formats.get(name, ""))
    return not hides or pc.all(pc.equal(table[name], pc.floor(table[name]))).as_py() is not False


def _check_names(names: list[str], kind: str) -> None:
    limit = _LONGEST_NAME[kind]
    for name in names:
        length = len(name.encode()) if kind == "spss" else len(name)
        if not (name[:1].isalpha() or name[:1] == "_") or " " in name or length > limit:
            raise InvalidData(
                f"column {name!r} has a name that {TITLES[kind]} does not take: it must start with a letter, have no "
                f"spaces and at most {limit} {'bytes' if kind == 'spss' else 'characters'}. Rename it, or write "
                f"Parquet instead."
            )


def _fitting(labels: Mapping[Any, str], dtype: pa.DataType, kind: str, tagged: bool) -> dict[Any, str]:
    """Return the value labels that a column of this type can have."""
    if pa.types.is_string(dtype):
        return {value: text for value, text in labels.items() if isinstance(value, str)} if kind == "spss" else {}
    found: dict[Any, str] = {}
    for value, text in labels.items():
        if isinstance(value, str):
            if tagged:
                found[value] = text
        elif kind == "spss" and not pa.types.is_integer(dtype):
            found[float(value)] = text
        elif float(value).is_integer():  # Stata labels whole numbers only
            found[int(value)] = text
    return found


def _to_dates(numbers: pa.Array, kind: str, shown: str) -> pa.Array:
    """Make dates of numbers that are shown as such, where every one of them comes back as the number it was."""
    sort = _sort(kind, shown)
    if sort is None:
        return numbers
    values = numbers.cast(pa.float64()).to_numpy(zero_copy_only=False)
    missing = np.isnan(values)
    seconds = np.where(missing, 0.0, values) * (_DAY if sort == "date" and kind != "spss" else 1)
    if sort == "datetime" and kind == "stata":
        seconds /= 1000
    whole = np.floor(seconds)
    offset = (_ORIGINS[kind] - dt.date(1970, 1, 1)).days * _DAY
    if np.any((whole + offset < _FIRST) | (whole + offset > _LAST)):
        return numbers
    micro = np.rint((seconds - whole) * 1e6).astype(np.int64)
    stamps = (whole.astype(np.int64) + offset) * 1_000_000 + micro
    dates = pa.array(stamps, mask=missing).cast(pa.timestamp("us"))
    if sort == "date":
        if np.any(stamps % (_DAY * 1_000_000)):
            return numbers
        dates = dates.cast(pa.date32())
    back, _ = _to_stored(pa.chunked_array([dates]), "", kind)
    return dates if back.cast(numbers.type, safe=False).equals(numbers) else numbers


def _sort(kind: str, shown: str) -> str | None:
    """Return whether a column is a date, a date with a time or neither, by the format that the package shows it in."""
    if kind == "stata":
        shown = shown.replace("%-", "%")  # set to the left
        for sort, starts in _FORMATS[kind].items():
            if shown.startswith(starts):
                # A format of its own may show the hour alone.
                return None if sort == "datetime" and len(shown) > 3 and "Y" not in shown else sort
        return None
    word = shown.rstrip("0123456789.")
    return next((sort for sort, words in _FORMATS[kind].items() if word in words), None)


def _to_stored(column: pa.ChunkedArray, name: str, kind: str) -> tuple[pa.Array, str | None]:
    """Turn a column into what a package stores; return whether it is shown as a date, or as one with a time."""
    array = column.combine_chunks()
    if isinstance(array, pa.ChunkedArray):
        array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], array.type)
    dtype = array.type
    if pa.types.is_dictionary(dtype):
        array = array.cast(dtype.value_type)
        dtype = array.type
    if is_text(dtype):
        return array.cast(pa.string()), None
    if pa.types.is_boolean(dtype):
        return array.cast(pa.int32()), None
    if pa.types.is_floating(dtype) or pa.types.is_null(dtype):
        numbers = array.cast(pa.float64())
        return pc.if_else(pc.is_nan(numbers), pa.scalar(None, pa.float64()), numbers), None
    if pa.types.is_integer(dtype):
        return _whole(array, name, kind), None
    if pa.types.is_decimal(dtype):
        return as_floats(array), None
    offset = (dt.date(1970, 1, 1) - _ORIGINS[kind]).days
    if pa.types.is_date(dtype):
        days = array.cast(pa.date32()).cast(pa.int32()).cast(pa.int64())
        return pc.multiply(pc.add(days, offset), _DAY if kind == "spss" else 1).cast(pa.float64()), "date"
    if pa.types.is_timestamp(dtype):
        stamps = array.cast(pa.timestamp("us"), safe=False).cast(pa.int64())
        values = stamps.to_numpy(zero_copy_only=False)
        missing = np.asarray(array.is_null())
        filled = np.where(missing, 0, values).astype(np.int64)
        whole = (filled // 1_000_000 + offset * _DAY).astype(np.float64)
        seconds = whole + (filled % 1_000_000) / 1e6
        if kind == "stata":
            seconds = whole * 1000 + (filled % 1_000_000) / 1e3
        return pa.array(seconds, mask=missing), "datetime"
    raise InvalidData(
        f"column {name!r} is of a kind ({type(dtype).__name__}) that {TITLES[kind]} cannot hold. Write Parquet "
        f"instead, or leave it out."
    )


def _whole(array: pa.Array, name: str, kind: str) -> pa.Array:
    bounds = pc.min_max(array).as_py()
    largest = max(abs(bounds["min"] or 0), abs(bounds["max"] or 0))
    if largest <= _LARGEST_LONG:
        return array.cast(pa.int32())
    if largest > EXACT_INTEGERS:
        raise InvalidData(
            f"column {name!r} has integers beyond 2**53, which {TITLES[kind]} cannot distinguish. Turn it into text, "
            "or write Parquet instead."
        )
    return array.cast(pa.float64())


def _forget_time(path: Path, kind: str) -> None:
    """Overwrite the time of writing, so that the same table gives the same bytes."""
    with path.open("rb+") as file:
        if kind == "spss":
            file.seek(92)
            file.write(b"01 Jan 7000:00:00")
            return
        mark = b"<timestamp>\x11"
        place = file.read(4096).find(mark)
        if place >= 0:
            file.seek(place + len(mark))
            file.write(b"01 Jan 1970 00:00")


def size(path: Path, reading: Mapping[str, Any]) -> tuple[int, int]:
    """Return the cells, as if in one column: that is what counts."""
    return path.stat().st_size // _STORED, 1


def read_back(path: Path, target: Path, schema: pa.Schema, names: list[str], _: Any) -> Iterator[pa.Table]:
    """Return some columns of a file that was just written, a part at a time."""
    package = require_extra()  # in this process: the file is our own, and none of others that may crash it
    kind = kind_of(target)
    read = {"spss": package.read_sav, "stata": package.read_dta}[kind]
    rows = max(1, _CELLS // len(names))
    start, found = 0, rows
    while found == rows:
        try:
            stored, meta = read(
                str(path),
                output_format="dict",
                usecols=names,
                row_offset=start,
                row_limit=rows,
                user_missing=True,
                disable_datetime_conversion=True,
            )
            columns = [_stored(stored[name], meta.readstat_variable_types[name], kind) for name in names]
        except Exception as error:  # pyreadstat's own errors are plain Exceptions
            if isinstance(error, MemoryError):
                raise
            raise InvalidData(f"{path.name!r} cannot be read completely.") from None
        found = len(columns[0])
        start += found
        yield pa.table(columns, names)


def _stored(values: list[Any], stored_as: str, kind: str) -> pa.Array:
    if stored_as == "string":
        return pa.array(values, pa.string(), from_pandas=True)
    if kind == "stata":  # whose missing values .a to .z come as letters
        values = [None if isinstance(value, str) else value for value in values]
    return pa.array(values, pa.float64(), from_pandas=True)
