"""Tables in databases: DuckDB files, and PostgreSQL by ADBC.

An address names the database and, as the parameter ``table``, the table::

    duckdb:///file.db?table=t                   a file here; four slashes begin at the root
    postgresql://user@host:5432/db?table=s.t    the other parameters are libpq's

A name is written as the database stores it (PostgreSQL folds to lower case what is not quoted in SQL), in double quotes
if it holds a dot; what addresses reserve is written with %. Rather than into the address, a password belongs into
libpq's ``~/.pgpass``, or ``PGPASSWORD``.

What a column becomes:

- Whole numbers, floats, booleans, text, bytes, dates, times and timestamps keep their types. A column of dates or
  timestamps that holds an infinite one is read as text.
- Decimals (``DECIMAL``, ``NUMERIC``, ``MONEY``) are Arrow decimals: exact where they are not masked, and rounded means
  where they are. A ``NUMERIC`` without precision gets the one its values need. Beyond the 38 digits of Arrow they are
  text; with a NaN or infinity among them they are float64 if that shows every value exactly, and text otherwise.
- DuckDB's wider whole numbers (``HUGEINT``, which ``sum`` gives) are int64 where that holds them, then decimals, then
  text.
- Anything else (enumerations, UUIDs, JSON, intervals, lists, ...) is read as the text that the database writes.

A table is dropped only if the source is not read from it, whatever both are called: the databases are asked, before any
work and once more as the table is written.
"""

from collections.abc import Callable
from typing import Any

import pyarrow as pa

from microagg.errors import InvalidData, MicroaggError
from microagg.files.formats import duckdb as _duckdb
from microagg.files.formats import postgresql as _postgresql
from microagg.files.formats.apart import Stop, run
from microagg.files.formats.database_addresses import DUCKDB, Address, is_source, parse
from microagg.files.formats.database_addresses import check_in_recipe as check_in_recipe
from microagg.files.formats.database_addresses import database_file as database_file
from microagg.files.formats.database_addresses import in_recipes as in_recipes
from microagg.files.formats.database_addresses import is_database as is_database
from microagg.files.formats.database_addresses import same_table as same_table
from microagg.files.formats.database_addresses import table_name as table_name
from microagg.files.formats.database_addresses import without_credentials as without_credentials
from microagg.files.promise import Promise


def read_table(address: str) -> tuple[pa.Table, str]:
    """Read a table or view of a database.

    Parameters
    ----------
    address : str
        Where it is; see above.

    Returns
    -------
    table : pyarrow.Table
        Its rows: of DuckDB in their stored order. PostgreSQL has none: its rows come as the server finds them, and may
        come in another order the next time.
    shown : str
        The address without credentials.
    """
    place = parse(address)
    table = _run(place, lambda driver, stop: driver.read(place, stop))
    return table, place.shown


def check_table_target(address: str, overwrite: bool, source: str | None = None) -> None:
    """Refuse, before any work is done, a target that could not be written, or must not be.

    Parameters
    ----------
    address : str
        Where a table is to be written.
    overwrite : bool
        Whether a table of that name may be there.
    source : str, optional
        The address of the data, a file's or a table's: what it reads is never written over, by whatever name.
    """
    place = parse(address)
    read = _read_beside(place, address, source)
    _run(place, lambda driver, stop: driver.check_target(place, overwrite, read, stop))


def write_table(
    table: pa.Table,
    address: str,
    overwrite: bool,
    source: str | None = None,
    promise: Promise | None = None,
) -> None:
    """Write a new table in one transaction: whole or not at all.

    Parameters
    ----------
    table : pyarrow.Table
        What to write.
    address : str
        Where. A DuckDB file that is not there is made.
    overwrite : bool
        Whether to drop a table of that name in the same transaction, with its rights and indexes. A file of DuckDB is
        written anew for it, as it would keep the former rows.
    source : str, optional
        The address of the data, as of `check_table_target`.
    promise : Promise, optional
        What must hold of the table: its columns are read back and counted in the same transaction.
    """
    place = parse(address)
    read = _read_beside(place, address, source)
    plain = _plain(table)
    _run(place, lambda driver, stop: driver.write(plain, place, overwrite, read, stop, promise))


def _read_beside(place: Address, address: str, source: str | None) -> Address | None:
    """Return the source if it is in a database of the same kind, and so may be the target."""
    if source is None or not is_database(source):
        return None
    if same_table(source, address):
        raise is_source(place.shown)
    read = parse(source)
    return read if read.kind == place.kind else None


def _run(place: Address, work: Callable[[Any, Stop], Any]) -> Any:
    """Do something by the driver of a database, which puts its failures into our words."""
    driver: Any = _duckdb if place.kind == DUCKDB else _postgresql

    def explain(error: BaseException) -> MicroaggError | None:
        return None if isinstance(error, MicroaggError) else driver.explain(error, place)

    return run(lambda stop: work(driver, stop), explain)


def _plain(table: pa.Table) -> pa.Table:
    """Return the columns without dictionaries, whose unused values would be written with them, and without metadata."""
    names = table.column_names
    if not names or len(set(names)) < len(names) or not all(names) or any("\0" in name for name in names):
        raise InvalidData(
            "the table has no columns, two columns with the same name, or one without a name. Give "
            "each column a different name."
        )
    columns = []
    for column in table.columns:
        kind = column.type
        if isinstance(kind, pa.BaseExtensionType):
            column = pa.chunked_array([chunk.storage for chunk in column.chunks], kind.storage_type)
        elif pa.types.is_dictionary(kind):
            column = column.cast(kind.value_type)
        elif pa.types.is_null(kind):
            column = column.cast(pa.string())
        columns.append(column)
    return pa.table(columns, names=names)
