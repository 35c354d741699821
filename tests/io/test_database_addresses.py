"""Addresses of tables: what is refused, what is shown, and when two are the same."""

import sys

import pytest

from microagg.errors import InvalidParameter
from microagg.files.databases import (
    check_table_target,
    is_database,
    read_table,
    same_table,
    without_credentials,
    write_table,
)
from microagg.files.formats import duckdb as _duckdb
from tests.io.database_cases import AWKWARD, refused


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://hush:hush@host/db",
        "postgresql://hush:hush@host/db?table=",
        "postgresql://hush:hush@host/db?table=a&table=b",
        "postgresql://hush:hu@sh@host/db?table=t",
        "postgresql://hush:hu/sh@host/db?table=t",
        "postgresql://hush:hu?sh@host/db?table=t",
        "postgresql://hush:hu#sh@host/db?table=t",
        "postgresql://hush:hush/db?table=t",
        "postgresql://hush:hush@[host/db?table=t",
        "postgresql://hush:hush@host/db?table=a.b.c",
        "postgresql://hush:hush@host/db?table=.b",
        "postgresql://hush:hush@host/db?table=a.",
        "postgresql://hush:hush@host/db?table=%22a",
        "postgresql://hush:hush@host/db?table=a%00b",
        "postgresql://hush:hush@host/db?table=%ff",
        "postgresql+psycopg2://hush:hush@host/db?table=t",
        "postgresql:hush:hush@host/db?table=t",
        "duckdb://hush.db?table=t",
        "duckdb:///hush.db",
        "duckdb:///?table=t",
        "duckdb:///hush/?table=t",
        "duckdb:///hush.db?table=t&password=hush",
    ],
)
def test_malformed_addresses_are_refused_and_not_shown(address):
    assert is_database(address)
    for work in (read_table, lambda at: check_table_target(at, True), lambda at: write_table(AWKWARD, at, True)):
        refused(InvalidParameter, work, address)
    assert "hush" not in without_credentials(address)


def test_addresses_are_shown_without_credentials():
    assert not is_database("postgresql.csv")
    assert without_credentials("folder/a@b.csv") == "folder/a@b.csv"
    assert without_credentials("mysql://hush:hush@host/db") == "mysql://"
    full = "postgres://me:hush@host:1/db?sslmode=require&user=hush&password=hush&table=s.t&sslkey=hush&options=hush"
    assert without_credentials(full) == "postgresql://host:1/db?sslmode=require&table=s.t"
    assert "hush" not in repr(_duckdb.Address("postgresql", "t", None, "", uri="hush"))


def test_the_same_table_is_known_by_other_addresses(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "b.db").symlink_to(tmp_path / "a.db")
    assert same_table("duckdb:///a.db?table=t", f"duckdb:///{tmp_path}/b.db?table=main.T")
    assert not same_table("duckdb:///a.db?table=t", "duckdb:///a.db?table=u")
    assert same_table("postgres://a:b@HOST/db?table=t", "postgresql://c@host:5432/db?table=public.t&sslmode=require")
    assert same_table("postgresql://localhost/db?table=t", "postgresql:///x?dbname=db&table=t")
    assert not same_table("postgresql://host/db?table=t", "postgresql://host/db?table=T")
    assert not same_table("postgresql://host/db?table=t", "postgresql://host/db2?table=t")
    assert not same_table("t.csv", "t.csv")


@pytest.mark.parametrize("address", ["duckdb:///a.db?table=t", "postgresql://hush:hush@host/db?table=t"])
def test_a_missing_extra_is_named(address, monkeypatch):
    monkeypatch.setitem(sys.modules, "duckdb", None)
    monkeypatch.setitem(sys.modules, "adbc_driver_postgresql.dbapi", None)
    for work in (read_table, lambda at: check_table_target(at, True), lambda at: write_table(AWKWARD, at, True)):
        assert "pip install 'microagg[sql]'" in refused(InvalidParameter, work, address)
