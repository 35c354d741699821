"""Cells within quotes: real notes come through, records behind a stray quote do not."""

import codecs
import csv
import io

import pyarrow as pa
import pytest

from microagg.errors import InvalidData
from microagg.files.batches import Batches
from microagg.files.sources import read_source
from tests.io.tables import check_message, write_bytes


def both_ways(path, **options):
    """Read a file as a whole and in parts; both must give the same."""
    whole = read_source(path, **options).table
    parts = Batches(path, options)
    assert parts.count() == whole.num_rows
    assert pa.concat_tables(parts.tables()).to_pydict() == whole.to_pydict()
    return whole


def refusals(path, **options):
    """Give the messages with which a file is refused as a whole and in parts."""
    found = []
    for read in (lambda: read_source(path, **options), lambda: Batches(path, options).count()):
        with pytest.raises(InvalidData) as caught:
            read()
        check_message(caught, path.parent)
        found.append(str(caught.value))
    return found


def records(note_20, note_60, header="person,age,income,note"):
    """Give a file of 100 records with these notes in two of them; the note stands where the header says."""
    place = header.split(",").index("note")
    lines = [header]
    for number in range(100):
        fields = [f"secret{number}", str(20 + number % 50), str(1000 + number)]
        fields.insert(place, {20: note_20, 60: note_60}.get(number, "fine"))
        lines.append(",".join(fields))
    return ("\n".join(lines) + "\n").encode()


@pytest.mark.parametrize("header", ["person,age,income,note", "note,person,age,income", "person,note,age,income"])
@pytest.mark.parametrize(
    ("first", "second"),
    [
        ('"quoted badly', '"quoted badly'),
        ('"quoted badly', '"'),
        ('"', '"'),
        ('"quoted ""badly""', '"'),
    ],
)
def test_two_stray_quotes_are_no_cell(tmp_path, header, first, second):
    path = write_bytes(tmp_path / "d.csv", records(first, second, header))
    for message in refusals(path):
        assert "line 22" in message
        assert "Close the quote" in message


@pytest.mark.parametrize("header", ["person,age,income,note", "note,person,age,income", "person,note,age,income"])
def test_stray_quotes_of_neighbours_are_no_cell(tmp_path, header):
    place = header.split(",").index("note")
    lines = [header]
    for number in range(30):
        fields = [f"secret{number}", str(20 + number), str(1000 + number)]
        fields.insert(place, '"' if number in (7, 8) else "fine")
        lines.append(",".join(fields))
    path = write_bytes(tmp_path / "d.csv", "\r\n".join(lines).encode())
    assert all("line 9" in message for message in refusals(path))


def test_one_stray_quote_is_not_closed(tmp_path):
    path = write_bytes(tmp_path / "d.csv", records('"quoted badly', "fine"))
    assert all("line 22 that is opened and not closed" in message for message in refusals(path))


def test_a_closing_quote_ends_its_cell(tmp_path):
    path = write_bytes(tmp_path / "d.csv", b'a,b\n1,"two\nlines" and secret\n')
    assert all("line 2" in message and "more text follows" in message for message in refusals(path))


CORPUS = {
    "plain": "person,age,note\n1,30,fine\n2,31,well\n",
    "line breaks": 'person,age,note\n1,30,"fine,\nwell\n\nand so on"\n2,31,"a\r\nb"\n',
    "line breaks in the first column": 'note,person,age\n"one\ntwo",1,30\nthree,2,31\n',
    "line breaks in the middle": 'person,note,age\n1,"first line,\nsecond line\nthird",30\n2,x,31\n',
    "a letter": 'person,age,sex,town,note\n1,30,f,Wien,"Dear Sir,\n\nas agreed, the form.\n\nYours, A"\n2,31,m,Graz,\n',
    "semicolons": 'person;wage;note\n1;1,5;"a;b\nc"\n2;2,25;d\n',
    "semicolons and commas": 'person;wage;note\n1;1,5;"a, b, c\nd, e, f"\n2;2,25;g\n',
    "doubled quotes": 'person,note,age\n1,"he said ""no""",30\n2,"""",31\n3,"a ""b\nc"" d",32\n',
    "quotes within fields": 'size,price\n5" pipe,10\n6" pipe,"1""2"\n',
    "text behind a quote": 'name,age\n"abc"def,30\nx,31\n',
    "empty and quoted empty": 'person,note,age\n1,,30\n2,"",31\n',
    "all quoted": '"person","note"\n"1","a\nb"\n"2","c"\n',
    "tabs": 'person\tnote\n1\t"a\tb\nc"\n2\td\n',
    "no line end at the end": 'person,note\n1,"a\nb"\n2,"c\nd"',
    "quoted names": '"person","a ""note""\nof two lines"\n1,x\n2,y\n',
    "one column": 'note\n"a\nb"\nc\n',
}


@pytest.mark.parametrize(
    ("encoding", "bom"),
    [
        ("utf-8", b""),
        ("utf-8", codecs.BOM_UTF8),
        ("cp1252", b""),
        ("utf-16-le", codecs.BOM_UTF16_LE),
        ("utf-16-be", codecs.BOM_UTF16_BE),
        ("utf-32-le", codecs.BOM_UTF32_LE),
    ],
)
@pytest.mark.parametrize("name", CORPUS)
def test_real_files_are_read(tmp_path, name, encoding, bom):
    """What Python's reader makes of each file is what ours does."""
    text = CORPUS[name].replace("fine", "größer") if encoding != "ascii" else CORPUS[name]
    path = write_bytes(tmp_path / "d.csv", bom + text.encode(encoding))
    delimiter = {"semicolons": ";", "semicolons and commas": ";", "tabs": "\t"}.get(name, ",")
    header, *rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    told = {} if bom or encoding in ("utf-8", "cp1252") else {"encoding": encoding}
    table = both_ways(path, **told)
    assert table.column_names == header
    assert [[cell or "" for cell in row] for row in zip(*table.to_pydict().values(), strict=True)] == rows
