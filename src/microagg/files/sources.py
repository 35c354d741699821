"""Tables wherever they are kept: one way in and one way out for files of every kind, and for databases.

The name says the kind: ``.csv``, ``.tsv`` and ``.txt`` (also with ``.gz`` or ``.zst``), ``.parquet`` and ``.pq`` (a
file, or a folder of them), ``.feather`` and ``.arrow``, SPSS ``.sav`` and ``.zsav``, Stata ``.dta``, SAS ``.sas7bdat``
(read only), Excel ``.xlsx``, and addresses that start with ``duckdb://``, ``postgresql://`` or ``postgres://``.

What is read is what is stored. A text file is read as text, every column, so that codes keep their zeros, dates their
form and long numbers their digits: what is not masked is written as it was read. `Source.typed` makes numbers of the
columns that are to be masked.
"""

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from microagg.base.frozen import frozen
from microagg.checks import check_jobs
from microagg.columns.labels import Labels, MaskedColumns, declared_values, without_declared_missing
from microagg.columns.numbers import Marks, named_numbers, to_be_numbers, to_numbers, without_marks
from microagg.columns.traces import without_traces, without_views
from microagg.errors import InvalidData, RoleError
from microagg.files import databases
from microagg.files.addresses import check_target, file_digest, kind_at
from microagg.files.batches import Batches
from microagg.files.databases import is_database
from microagg.files.formats.dialect import Dialect, dialect_for, text_details
from microagg.files.formats.kinds import FORMAT, Writing, kind_of, refuse_options, to_path
from microagg.files.formats.text import read_text
from microagg.files.promise import Promise, check_written
from microagg.files.stores import Place, Where, check_there, kept_address, where
from microagg.work import Progress, in_parallel

if TYPE_CHECKING:
    from microagg.files.joining import Joined

Reader = Callable[[list[str]], Iterator[pa.Table]]
"""Reads some columns of what was written, a part at a time."""


@frozen()
class Source:
    """A table and where it came from.

    Attributes
    ----------
    table : pyarrow.Table
        As stored. Of text files every column is text: null where a field is empty, ``""`` where it is empty within
        quotes.
    name : str
        To show and store: the file's name, without its folder, or a database's address, without credentials.
    kind : str
        ``"csv"`` (of any text file), ``"parquet"``, ``"feather"``, ``"spss"``, ``"stata"``, ``"sas"``, ``"excel"``,
        ``"duckdb"`` or ``"postgresql"``.
    details : mapping of str to str
        What was found or asked for, to show a person: the delimiter, the encoding, the marks of numbers.
    labels : Labels or None
        What a statistics package keeps beside the values.
    address : str or Path or None
        Where it was read from, a database's with its credentials: it is never written over.
    sha256 : str or None
        The checksum of the file, or of the digests of a folder's files; None of a database.
    joined : Joined or None
        Where the table was joined from a file of persons and one of households: both of them.

    Examples
    --------
    >>> source = Source(pa.table({"code": ["007", "010"], "wage": ["1.5", "2"]}), "pay.csv", "csv")
    >>> source.typed(["wage"]).schema.types
    [DataType(string), DataType(double)]
    """

    table: pa.Table
    name: str
    kind: str
    details: Mapping[str, str] = field(default_factory=dict)
    labels: Labels | None = None
    dialect: Dialect | None = field(default=None, repr=False)
    address: str | Path | None = field(default=None, repr=False)
    sha256: str | None = field(default=None, repr=False)
    joined: "Joined | None" = field(default=None, repr=False)
    _parsed: dict[str, pa.ChunkedArray] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def path(self) -> Path | None:
        """The file or folder that was read; None of a database."""
        return self.address if isinstance(self.address, Path) else None

    def take(self, rows: Any) -> "Source":
        """Return some of its rows, in this order."""
        taken = self.tagged(rows)
        return replace(taken, table=self.table.take(rows), joined=self.joined and self.joined.take(rows))

    def tagged(self, rows: Any) -> "Source":
        """Return it with labels as a file of these rows has them; None for rows that are not known."""
        return replace(self, labels=self.labels and self.labels.tagged(rows))

    @property
    def options(self) -> dict[str, Any]:
        """The choices by which a text file or a sheet is read in the same way again; of joined files, those of both."""
        if self.joined is not None:
            own, other = self.joined.persons.options, self.joined.households.options
            return {name: value for name, value in own.items() if other.get(name) == value}
        if self.kind == "excel":
            found: dict[str, Any] = {"sheet": self.details["sheet"]} if "sheet" in self.details else {}
            return found | ({"header": False} if self.details.get("header") == "none" else {})
        return {} if self.dialect is None else self.dialect.options()

    def typed(self, names: Sequence[str] | None = None) -> pa.Table:
        """Return the table with columns of text turned into numbers: int64 where all are whole and fit, else float64.

        Only a text file has its numbers as text; the columns of others are numbers where they were stored as such.
        In a column of numbers an empty field is missing, and so are ``NA``, ``NaN``, ``NULL`` and ``.``; in SPSS, what
        the file declares missing. Pass the names of the columns to be masked: only text is sure to be written as it
        was read.

        Parameters
        ----------
        names : sequence of str, optional
            The columns to turn; others stay unchanged. By default every column that is all numbers, unless one has
            leading zeros or is too long for int64, as codes are; a column without any value stays text.

        Returns
        -------
        pyarrow.Table

        Raises
        ------
        InvalidData
            If one of the columns named is not all numbers.
        RoleError
            If one of them is not in the table.

        Examples
        --------
        >>> source = Source(pa.table({"code": ["007", "010"], "wage": ["1.5", "NA"]}), "pay.csv", "csv")
        >>> source.typed().schema.types
        [DataType(string), DataType(double)]
        """
        table = self.table
        turned = table.column_names if names is None else names
        for name in turned:
            if name not in table.column_names:
                raise RoleError(f"{self.name!r} has no column {name!r}. Check its spelling.")

        def numbers(name: str, check: Callable[[], None]) -> pa.ChunkedArray | None:
            check()
            return self._numbers(name, named=names is not None)

        for name, column in zip(turned, in_parallel(numbers, turned, check_jobs(None)), strict=True):
            if column is not None:
                table = table.set_column(table.column_names.index(name), name, column)
        return table

    def typed_for(
        self, kinds: Mapping[str, Any], names: Sequence[str], codes: Mapping[str, Collection[Any]] | None = None
    ) -> pa.Table:
        """Return the table with those of the columns `names` turned into numbers that are such, or are said to be.

        `kinds` says of which kind columns are, as recipes do. One of another kind than a number keeps the values that
        it has; what nothing is said of is turned where all of it is numbers, and none of them looks like a code. What
        SPSS declares missing is missing, but for the values that `codes` has of a column.
        """
        if self.labels is not None:
            return self._without_declared({name: (codes or {}).get(name, ()) for name in names})
        must, may = to_be_numbers(kinds, names)
        table = self.typed(must)
        found = {name: self._numbers(name, named=False) for name in may}
        if self.kind == "csv":  # R writes NA for a missing date as for a missing number
            found |= {name: without_marks(table[name]) for name in names if kinds.get(name) == "date"}
        for name, column in found.items():
            if column is not None:
                table = table.set_column(table.column_names.index(name), name, column)
        return table

    def _without_declared(self, kept: Mapping[str, Collection[Any]]) -> pa.Table:
        table, declared = self.table, self.labels.missing if self.labels else {}
        for name in kept.keys() & declared.keys():
            column = without_declared_missing(table[name], declared[name], kept[name])
            table = table.set_column(table.column_names.index(name), name, column)
        return table

    def declared_missing(self, names: Sequence[str]) -> dict[str, tuple[Any, ...]]:
        """Return the values of columns that SPSS declares missing, where a column has any, and at most thirty."""
        declared = self.labels.missing if self.labels else {}
        found = {name: declared_values(self.table[name], declared[name]) for name in names if name in declared}
        return {name: values for name, values in found.items() if values}

    def _numbers(self, name: str, *, named: bool) -> pa.ChunkedArray | None:
        if name not in self._parsed:  # what is a number without being named is the same number where it is
            numbers = self._parse(name, named=named)
            if numbers is None:
                return None
            self._parsed[name] = numbers
        return self._parsed[name]

    def _parse(self, name: str, *, named: bool) -> pa.ChunkedArray | None:
        if self.joined is not None and self.labels is None and name in self.joined.of_households:
            return self.joined.numbers(name, named=named)
        column = self.table[name]
        if self.kind != "csv":
            declared = self.labels.missing.get(name) if self.labels else None
            return without_declared_missing(column, declared) if declared else None
        marks = self.dialect.marks if self.dialect else Marks()
        return named_numbers(column, marks, name, self.name) if named else to_numbers(column, marks, codes=False)


def read_source(address: str | os.PathLike[str], *, progress: Progress | None = None, **reading: Any) -> Source:
    r"""Read a table from a file, a folder of Parquet files, or a database.

    Parameters
    ----------
    address : str or path
    delimiter, encoding, decimal, thousands : str, optional
        How a text file is written (``thousands=""``: nothing separates them). By default it is found out from its
        first megabyte, and is in `Source.details`.
    header : bool, optional
        Whether the first row of a text file holds the names of its columns. By default it does, and a row that may be
        a record is refused: it would be published as names. Without a header columns are called column_1, column_2, ...
        So of a sheet of Excel.
    sheet : str, optional
        Which sheet of an Excel file to read; by default the first that is not hidden.
    progress : callable, optional
        Called while a file of SPSS, Stata, SAS or Excel is read, as progress(0, 0); what it raises stops that.

    Returns
    -------
    Source

    Raises
    ------
    InvalidData
        If there is no such file, or it cannot be read, or has no records, or a column has no name, or two have the
        same, or the first row may be a record, or a cell within quotes may hold records.
    InvalidParameter
        If the address is of no known kind, or an option does not fit it.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "pay.csv"
    ...     _ = path.write_text("code;wage\n007;1,5\n010;2,25\n")
    ...     source = read_source(path)
    >>> source.details["delimiter"], source.details["decimal"], source.typed()["wage"].to_pylist()
    (';', ',', [1.5, 2.25])
    """
    if is_database(address):
        kind = kind_at(address)
        refuse_options(reading, kind)
        table, name = databases.read_table(str(address))
        return Source(_checked(table, name), name, kind, address=str(address))
    kind, path = kind_at(address), where(address)
    check_there(path)
    refuse_options(reading, kind)
    digest = None if kind == "csv" else file_digest(address)  # text is read at once, and summed up as it is
    stored = FORMAT[kind].module.read(address, reading, progress)
    if stored.sha256 is None and file_digest(address) != digest:  # the checksum would be of other bytes than the table
        raise InvalidData(f"{path.name!r} changed while it was read. Run again when nobody writes to it.")
    found = _checked(stored.table, path.name)
    checksum = stored.sha256 or digest
    return Source(
        found, path.name, kind, dict(stored.details), stored.labels, stored.dialect, kept_address(path), checksum
    )


def read_beginning(address: str | os.PathLike[str], records: int, **reading: Any) -> Source:
    """Read the first records of a Parquet or text file."""
    if kind_at(address) == "csv":
        path = to_path(address)
        table, dialect = read_text(path, records, **reading)
        return Source(table, path.name, "csv", text_details(path, dialect), None, dialect, path)
    file, tables, found = Batches(address), [], 0
    for table in file.tables():
        tables.append(table)
        found += table.num_rows
        if found >= records:
            break
    table = pa.concat_tables(tables or [file.schema.empty_table()]).slice(0, records)
    return Source(table, file.path.name, "parquet", {}, None, None, kept_address(file.path))


def write_target(
    table: pa.Table,
    address: str | os.PathLike[str],
    like: Source,
    *,
    masked: MaskedColumns | Collection[str] = (),
    overwrite: bool = False,
    excel_safe: bool = False,
    promise: Promise | None = None,
    then: Callable[[Reader], None] | None = None,
) -> None:
    """Write a table, whole or not at all, in the manner of the source it comes from.

    Text files keep the delimiter, the encoding and the decimal mark of a source of the same kind; numbers are written
    as the shortest text that reads back as the same number. Files of SPSS and Stata keep labels and formats; a masked
    column keeps its own label, and those of its values if it is one of categories. The same table gives the same bytes.

    Parameters
    ----------
    table : pyarrow.Table
    address : str or path
    like : Source
    masked : MaskedColumns or collection of str
        The columns whose values are no longer the source's.
    overwrite : bool
    excel_safe : bool
        Of text files: put an apostrophe before text and names that start with ``=``, ``+``, ``-``, ``@``, also behind
        spaces and what is not seen, or with a tab, a carriage return or a line feed, which a spreadsheet may take for a
        formula. Numbers stay unchanged.
    promise : Promise, optional
        What must hold of the table, such as `Release.promise`. Its columns are read back from what was written and
        counted before the file gets its name, or the transaction ends.
    then : callable, optional
        Of files: called with what reads columns back, before the file gets its name; what it raises keeps it from that.

    Raises
    ------
    InvalidParameter
        As by `check_target`.
    InvalidData
        If the kind of file cannot hold the table.
    PromiseBroken
        If what was written does not keep the promise. Nothing is left of it.
    RoleError
        If the table does not have a column that the promise is about.
    """
    check_target(address, like.address, overwrite=overwrite)
    masked = masked if isinstance(masked, MaskedColumns) else MaskedColumns(masked)
    if promise is not None:
        promise.check_columns(table.column_names)
    table = _without_traces(table)
    if is_database(address):
        read = None if like.address is None else str(like.address)
        databases.write_table(table, str(address), overwrite, read, promise)
        return
    path = where(address)
    kind = kind_at(address)
    dialect = dialect_for(path, like.path, like.dialect)

    def count(fresh: Where) -> None:
        def read(names: list[str]) -> Iterator[pa.Table]:
            return read_back(fresh, path, table.schema, names, dialect)

        if promise is not None:
            check_written(promise, read(promise.columns), table.num_rows, path.name)
        if then is not None:
            then(read)

    try:
        FORMAT[kind].module.write(table, path, Writing(like, dialect, masked, excel_safe, count))
    except pa.ArrowException:  # whose message may show a cell
        raise InvalidData(
            f"{path.name!r} cannot be written: a column is of a kind that {kind} cannot hold. Write another format, "
            f"or leave that column out."
        ) from None
    except OSError as error:
        raise InvalidData(
            f"{path.name!r} cannot be written ({os.strerror(error.errno) if error.errno else 'the system refused'}). "
            "Nothing was left behind. Free some space, or choose another folder."
        ) from None


def read_back(
    path: Where, target: Where, schema: pa.Schema, names: list[str], dialect: Dialect | None = None
) -> Iterator[pa.Table]:
    """Read a file back that was just written and will be called `target`; values that are equal in it are equal here.

    Parameters
    ----------
    path : Path or Place
        Where the file is.
    target : Path or Place
        It shows its kind.
    schema : pyarrow.Schema
        Of the table that was written. Names may have been changed in the file, so that columns of text are known by
        their places.
    names : list of str
        The columns to read, in this order.
    dialect : Dialect, optional
        In which a text file was written.
    """
    kind = "parquet" if isinstance(target, Place) else kind_of(target)
    found: Iterator[pa.Table] = FORMAT[kind].module.read_back(path, target, schema, names, dialect)
    return found


def _checked(table: pa.Table, name: str) -> pa.Table:
    if len(set(table.column_names)) < table.num_columns:
        raise InvalidData(f"{name!r} has two columns with the same name. Rename one of them.")
    if table.num_rows == 0 or table.num_columns == 0:
        raise InvalidData(f"{name!r} has no records. Pass at least k of them.")
    return without_views(table).replace_schema_metadata(None)


def _without_traces(table: pa.Table) -> pa.Table:
    """Drop metadata, and what no row has."""
    table = without_views(table)
    schema = pa.schema([field.remove_metadata() for field in table.schema])
    return pa.Table.from_arrays([without_traces(column) for column in table.columns], schema=schema)
