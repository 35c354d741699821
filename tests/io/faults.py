"""Writers that spoil the first value of a column without a word, one for each way in which a table is written."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from microagg.files.formats import duckdb as _duckdb
from microagg.files.formats import excel
from microagg.files.formats import postgresql as _postgresql
from microagg.files.formats import text as _text


def spoilt(table, name):
    """Give the table with another first value in a column."""
    values = table[name].to_pylist()
    place = table.column_names.index(name)
    return table.set_column(place, name, pa.chunked_array([pa.array([values[0] + 1, *values[1:]], table[name].type)]))


def spoil_text(patch, name):
    as_text = _text._as_text
    patch.setattr(_text, "_as_text", lambda table, *rest: as_text(spoilt(table, name), *rest))


def spoil_parquet(patch, name, fault=spoilt):
    write = pq.ParquetWriter.write_table

    def faulty(writer, table, **more):
        write(writer, fault(table, name) if name in table.column_names else table, **more)

    patch.setattr(pq.ParquetWriter, "write_table", faulty)


def spoil_feather(patch, name):
    new_file = pa.ipc.new_file

    class Faulty:
        def __init__(self, *arguments, **more):
            self.writer = new_file(*arguments, **more)

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self.writer.close()

        def write_table(self, table):
            self.writer.write_table(spoilt(table, name))

    patch.setattr(pa.ipc, "new_file", Faulty)


def spoil_statistics(patch, name):
    package = pytest.importorskip("pyreadstat")
    for function in ("write_sav", "write_dta"):
        write = getattr(package, function)

        def faulty(frame, path, write=write, **more):
            values = frame[name].to_list()
            changed = frame[name].__class__(name, [values[0] + 1, *values[1:]], dtype=frame[name].dtype)
            write(frame.with_columns(changed), path, **more)

        patch.setattr(package, function, faulty)


def spoil_excel(patch, name):
    write = excel.write
    patch.setattr(excel, "write", lambda table, *rest: write(spoilt(table, name), *rest))


def spoil_duckdb(patch, name):
    create = _duckdb._create
    patch.setattr(_duckdb, "_create", lambda at, table, *rest: create(at, spoilt(table, name), *rest))


def spoil_postgresql(patch, name):
    storable = _postgresql._storable
    patch.setattr(_postgresql, "_storable", lambda table: storable(spoilt(table, name)))


FAULTS = {
    ".csv": spoil_text,
    ".tsv": spoil_text,
    ".csv.gz": spoil_text,
    ".csv.zst": spoil_text,
    ".parquet": spoil_parquet,
    ".feather": spoil_feather,
    ".arrow": spoil_feather,
    ".sav": spoil_statistics,
    ".zsav": spoil_statistics,
    ".dta": spoil_statistics,
    ".xlsx": spoil_excel,
}
