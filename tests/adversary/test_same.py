"""The campaign of sameness: a small one, and that a difference is noticed."""

import pyarrow as pa
import pytest

import microagg as ma
from adversary import same
from adversary.same import CASES, Counts, digests, made, permutations, rows_of


def test_a_difference_is_counted_and_told():
    counts = Counts()
    counts.check("threads", "mdav", True)
    counts.check("threads", "cbfs", False)
    counts.check("order of columns", "mdav", False, promised=False)
    assert counts.promised == {"threads": [2, 1]}
    assert counts.differing == ["threads: cbfs"]
    text = str(counts)
    assert "DIFFERS threads: cbfs" in text
    assert text.index("not promised") < text.index("order of columns")


def test_one_other_byte_is_another_digest(tmp_path):
    (tmp_path / "a").write_bytes(b"1,2\n")
    (tmp_path / "b").write_bytes(b"1,3\n")
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "0").write_bytes(b"1,2\n")
    found = digests({"a": tmp_path / "a", "b": tmp_path / "b", "parts": tmp_path / "parts"})
    assert found["a"] == found["parts"] != found["b"]


def test_rows_are_compared_whatever_their_order_and_type():
    table = pa.table({"b": [1, 2, None], "a": ["x", "y", "z"]})
    text = pa.table({"a": ["z", "x", "y"], "b": ["", "1.0", "2"]})
    assert rows_of(table) == rows_of(text)
    assert rows_of(table) != rows_of(table.slice(0, 2))
    assert rows_of(table) != rows_of(pa.table({"b": [2, 1, None], "a": ["x", "y", "z"]}))


def test_groups_by_the_order_of_rows_are_noticed(monkeypatch):
    class Released:
        def __init__(self, data):
            self.data = data

    def by_row(table, recipe):  # noqa: ARG001
        return Released(table.select(["id"]).append_column("group", pa.array([i // 4 for i in range(table.num_rows)])))

    counts = Counts()
    monkeypatch.setattr(ma, "protect", by_row)
    permutations(counts, made(), ["mdav"], 2)
    assert counts.promised == {"order of rows": [2, 0]}


def test_every_case_is_a_recipe_and_there_are_enough():
    assert all(same.recipe_of(case).k == 4 for case in CASES.values())
    environments = len(CASES) * len(same.ENVIRONMENTS)
    assert environments + len(CASES) * (len(same.ROW_GROUPS) + same.PERMUTATIONS) > 194


@pytest.mark.campaign
def test_other_threads_files_and_orders_give_the_same(tmp_path):
    names, counts, table = ["blocks"], Counts(), made(200)
    wanted = {title: same.ENVIRONMENTS[title] for title in ("1 thread of Numba", "another folder")}
    same.environments(counts, table, tmp_path / "environments", names, wanted)
    same.sources(counts, table, tmp_path / "sources", names)
    same.engines(counts, table, tmp_path / "engines", names, ("disk",))
    same.once_more(counts, table, tmp_path / "again", names[:1])
    same.permutations(counts, table, names, 2)
    assert counts.differing == []
    assert sum(number for number, _ in counts.promised.values()) > 12
