"""Addresses of tables in databases: taken apart, compared, and shown without what is secret."""

import os
import re
from dataclasses import field
from pathlib import Path
from urllib.parse import SplitResult, unquote, urlsplit

from microagg.base.frozen import frozen
from microagg.errors import InvalidParameter
from microagg.files.stores import is_store, shown_address, without_endpoint

DUCKDB = "duckdb"
POSTGRESQL = "postgresql"
_SCHEMES = {"duckdb": DUCKDB, "postgresql": POSTGRESQL, "postgres": POSTGRESQL}
# With a driver's name, as SQLAlchemy has it, or without slashes, it is refused: as an address, not as a file's name.
_DATABASE = re.compile(r"(duckdb|postgres|postgresql)(\+\w*)?:", re.IGNORECASE)
_ANY_ADDRESS = re.compile(r"(?!file:)[A-Za-z][\w+.-]+://")
# What says where, and nothing else: a list of what is secret would never be whole.
_SHOWN = ("host", "hostaddr", "port", "dbname", "sslmode", "table")
_OTHER_MACHINE = re.compile(r"[\\/]{2}")
_LOCAL = ("", "localhost", "127.0.0.1", "::1")
_FORMS = "duckdb:///file.db?table=t or postgresql://user@host:5432/database?table=schema.t"


@frozen()
class Address:
    """A table and where it is.

    Attributes
    ----------
    kind : str
        "duckdb" or "postgresql".
    table : str
        The table's name, as it is stored.
    schema : str or None
        The name of its schema, if one was given.
    shown : str
        The address without credentials.
    path : Path
        The file of DuckDB, symbolic links followed: DuckDB keeps its journal beside the name that it is given.
    uri : str
        What libpq gets, with credentials.
    place : tuple of str
        What is different for each PostgreSQL database.
    """

    kind: str
    table: str
    schema: str | None
    shown: str
    path: Path = Path()
    uri: str = field(default="", repr=False)
    place: tuple[str, ...] = ()


def table_exists(shown: str) -> InvalidParameter:
    """Say that a table is there, as `check_absent` says it of files."""
    return InvalidParameter(
        f"the table {shown!r} exists. Name another, or allow it to be replaced: --force, or overwrite=True."
    )


def is_source(shown: str) -> InvalidParameter:
    """Say that a table is read, and so not written over."""
    return InvalidParameter(
        f"the target {shown!r} is the source itself, or a table that the source is read from. The source is never "
        "overwritten. Choose another name."
    )


def may_be_source(shown: str, why: str) -> InvalidParameter:
    """Say that a table might be the source, and so is not written over."""
    return InvalidParameter(
        f"the table {shown!r} exists, and it cannot be found out whether it is the source: {why}. The source is "
        "never overwritten. Choose another name, or remove the table yourself if it is not the source."
    )


def is_database(address: object) -> bool:
    """Return whether an address is one of a database, well formed or not.

    Examples
    --------
    >>> is_database("duckdb:///survey.db?table=persons"), is_database("survey.csv")
    (True, False)
    """
    return isinstance(address, str) and _DATABASE.match(address) is not None


def without_credentials(address: str) -> str:
    """Return what of an address may be shown or stored: no user, no password, and of its parameters only the place.

    Of a malformed address, in which a password may stand anywhere, the scheme alone is given; a file's path stays
    unchanged. An address of a store is refused where it may hold a secret, so that it is shown whole.

    Examples
    --------
    >>> without_credentials("postgresql://ann:secret@host/db?table=t&sslpassword=secret")
    'postgresql://host/db?table=t'
    """
    if is_store(address):
        return shown_address(address)
    if not is_database(address):
        found = _ANY_ADDRESS.match(address)
        return found.group() if found else address
    try:
        return parse(address).shown
    except InvalidParameter:
        return _scheme_of(address) + "://"


def in_recipes(address: str) -> str:
    """Return what of an address a recipe may hold: no server, endpoint or identity to which a secret would be sent.

    A recipe may come from somebody else. What is needed besides comes from the environment, or the command line.

    Examples
    --------
    >>> in_recipes("postgresql://ann@host:5432/db?table=t&sslmode=disable"), in_recipes("homes.csv")
    ('postgresql:///db?table=t', 'homes.csv')
    """
    if is_store(address):
        return without_endpoint(address)
    if not is_database(address) or parse(address).kind == DUCKDB:
        return address
    parts = urlsplit(address)
    table = next(pair for pair in parts.query.split("&") if unquote(pair.partition("=")[0]) == "table")
    return f"{parts.scheme}://{parts.path}?{table}"


def check_in_recipe(address: str) -> None:
    """Refuse an address in a recipe by which a secret of the reader would be sent to somebody."""
    if _OTHER_MACHINE.match(address):
        raise InvalidParameter(
            "a path begins with two slashes, and may be one of another machine, to which your password would be sent. "
            "Name a file of this machine.",
            parameter="households",
        )
    kept = in_recipes(address)
    if kept != address:
        raise InvalidParameter(
            f"an address names a server, an endpoint, a user or a way to connect. A recipe may come from somebody "
            f"else, and your keys or passwords would be sent there. Write {kept!r} in the recipe. Set the rest in the "
            f"environment (such as AWS_ENDPOINT_URL, HADOOP_CONF_DIR or PGHOST), or pass the whole address on the "
            f"command line: --households.",
            parameter="households",
        )


def table_name(address: str) -> str | None:
    """Return the table that an address names, without where it is; None if the address is malformed.

    Examples
    --------
    >>> table_name("postgresql://host:5432/db?table=public.persons")
    'persons'
    """
    try:
        return parse(address).table
    except InvalidParameter:
        return None


def database_file(address: str) -> Path | None:
    """Return the file that an address of DuckDB names; None of a server, and of a malformed address.

    Examples
    --------
    >>> database_file("duckdb:////data/survey.db?table=persons").name
    'survey.db'
    """
    try:
        place = parse(address)
    except InvalidParameter:
        return None
    return place.path if place.kind == DUCKDB else None


def same_table(first: str, second: str) -> bool:
    """Return whether two addresses are of one table by their spelling; the databases are not asked.

    Paths are resolved, a schema that is not named is the usual one (main, public), and a server at this machine is one
    by any name.

    Examples
    --------
    >>> same_table("duckdb:///a.db?table=t", "duckdb:///./a.db?table=MAIN.T")
    True
    """
    if not (is_database(first) and is_database(second)):
        return False
    return _identity(parse(first)) == _identity(parse(second))


def _identity(address: Address) -> tuple[object, ...]:
    if address.kind == DUCKDB:  # to which upper and lower case are one
        return DUCKDB, address.path, (address.schema or "main").lower(), address.table.lower()
    return POSTGRESQL, address.place, address.schema or "public", address.table


def parse(address: str) -> Address:
    """Take an address apart; no part of one that is refused is shown, as it may be a password."""
    scheme = _scheme_of(address)
    if scheme not in _SCHEMES or not address[len(scheme) :].startswith("://"):
        raise InvalidParameter(f"the address does not begin like one that is known. Write {_FORMS}.")
    kind = _SCHEMES[scheme]
    parts = _split(address)
    if parts is None:
        raise InvalidParameter(f"the {kind} address cannot be understood. Write {_FORMS}.")
    if parts.fragment or address.count("@") > 1 or address.count("@") > parts.netloc.count("@"):
        # An unescaped character of a password has cut it in two.
        raise InvalidParameter(
            f"the {kind} address has a '#', or an '@' that is not the end of the user and password. Write them as "
            "%23 and %40, and '/' and '?' within a password as %2F and %3F."
        )
    if "\0" in unquote(address) or "\n" in address or "\r" in address:
        raise InvalidParameter(f"the {kind} address holds a control character. Write {_FORMS}.")
    pairs = [(unquote(pair.partition("=")[0]), pair) for pair in parts.query.split("&") if pair]
    tables = [unquote(pair.partition("=")[2]) for name, pair in pairs if name == "table"]
    if len(tables) != 1 or not tables[0]:
        given = "names no table" if not any(tables) else f"names {len(tables)} tables"
        raise InvalidParameter(f"the {kind} address {given}, and one is needed. End it with ?table=name.")
    schema, table = _names(tables[0])
    shown = "&".join(pair for name, pair in pairs if name in _SHOWN)
    others = [(name, pair) for name, pair in pairs if name != "table"]
    if kind == DUCKDB:
        return _duckdb(parts.netloc, parts.path, len(others), schema, table, shown)
    _check_length(table, schema)
    values = {name: unquote(pair.partition("=")[2]) for name, pair in others}
    host = parts.netloc.rpartition("@")[2]
    return Address(
        POSTGRESQL,
        table,
        schema,
        f"postgresql://{host}{parts.path}?{shown}",
        uri=_uri(parts.netloc, parts.path, others),
        place=_place(parts.hostname, parts.port, unquote(parts.path[1:]), unquote(parts.username or ""), values),
    )


def _split(address: str) -> SplitResult | None:
    """Split an address; not raised from here, an error does not carry on the text that urlsplit complains of."""
    try:
        parts = urlsplit(address)
        _ = parts.port, unquote(address, errors="strict")
    except ValueError:
        return None
    return parts


def _scheme_of(address: str) -> str:
    return address.partition(":")[0].lower()


def _duckdb(netloc: str, path: str, others: int, schema: str | None, table: str, shown: str) -> Address:
    if netloc or len(path) < 2 or path.endswith("/"):
        raise InvalidParameter(
            "the duckdb address names no file after its third slash. Write duckdb:///file.db?table=t for a file here, "
            "duckdb:////folder/file.db?table=t for one anywhere."
        )
    if others:
        raise InvalidParameter(f"the duckdb address has {others} parameter(s) other than table. Leave them out.")
    # Made absolute, no name is taken for a kind of database, such as one in memory or on the network.
    file = Path(os.path.realpath(unquote(path[1:])))
    return Address(DUCKDB, table, schema, f"duckdb://{path}?{shown}", path=file)


def _names(name: str) -> tuple[str | None, str]:
    """Split schema.table; a part in double quotes may hold a dot."""
    parts = re.findall(r'("(?:[^"]|"")+"|[^."][^.]*)(\.|$)', name)
    if "".join(part + end for part, end in parts) != name or not 1 <= len(parts) <= 2 or name.endswith("."):
        raise InvalidParameter(
            "the table of the address is neither a name nor schema.name. Put a name that holds a dot or begins with a "
            'quote into double quotes: ?table=schema."a.b".'
        )
    plain = [part[1:-1].replace('""', '"') if part.startswith('"') else part for part, _ in parts]
    return (plain[0] if len(plain) == 2 else None), plain[-1]


def _check_length(table: str, schema: str | None) -> None:
    """Refuse what PostgreSQL would cut off: it might then be the name of another table."""
    longest = max(len(name.encode()) for name in (table, schema or ""))
    if longest > 63:
        raise InvalidParameter(f"a name of {longest} bytes: PostgreSQL keeps 63. Shorten the table's or schema's name.")


def _uri(netloc: str, path: str, others: list[tuple[str, str]]) -> str:
    kept = [pair for name, pair in others if name != "client_encoding"]
    kept.append("client_encoding=UTF8")  # Arrow's; else the server sends its own
    if "connect_timeout" not in dict(others) and "PGCONNECT_TIMEOUT" not in os.environ:
        kept.append("connect_timeout=15")
    return f"postgresql://{netloc}{path}?{'&'.join(kept)}"


def _place(host: str | None, port: int | None, database: str, user: str, values: dict[str, str]) -> tuple[str, ...]:
    """Find host, port and database as libpq does."""
    where = values.get("host") or unquote(host or "") or values.get("hostaddr") or os.environ.get("PGHOST", "")
    who = values.get("user") or user or os.environ.get("PGUSER", "")
    which = values.get("dbname") or database or os.environ.get("PGDATABASE", "") or who
    local = where.lower() in _LOCAL or where.startswith(("/", "@"))
    number = values.get("port") or port or os.environ.get("PGPORT") or 5432
    return ("" if local else where.lower()), str(number), which
