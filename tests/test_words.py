"""What a person reads is in plain words: none of those that docs/contributing.md says not to write."""

import ast
import re
from pathlib import Path
from typing import NamedTuple

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from microagg.cli import app
from microagg.measures.definitions import DEFINITIONS

ROOT = Path(__file__).parent.parent
GLOSSARY = ROOT / "docs" / "contributing.md"
HEADING = "## Words"

HELP = "--help"
AREAS = ("src/microagg", "README.md", "SECURITY.md", "CONTRIBUTING.md", "docs", HELP)
"""The files and folders that are held to it; `HELP` stands for what every command's --help prints."""

_NAME = re.compile(r"[A-Za-z_][\w.-]*")  # an identifier, a JSON key, a word of a recipe: no sentence
_FENCE = re.compile(r"^(```+|~~~+).*?^\1\s*?$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"(`+)[^`].*?\1", re.DOTALL)
_ADDRESS = re.compile(r"\]\([^)\s]*\)|<https?:[^>]*>")
_PARAMETER = re.compile(r"^ *[\w*, ]+ : .*$|^ *(>>>|\.\.\.) .*$", re.MULTILINE)  # of a docstring: names and code
_TAG = re.compile(r"\{%.*?%\}|\{\{.*?\}\}|\{#.*?#\}", re.DOTALL)
_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'")
_SCRIPT = re.compile(r"//[^\n]*|/\*.*?\*/|(\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)", re.DOTALL)
_FILLED_IN = re.compile(r"\$\{[^}]*\}")
_FIGURE = re.compile("|".join(re.escape(name) for name in DEFINITIONS if " " in name))  # by which programs find it
_OPENING = '"""'  # before an entry: only as the first word of a docstring
_FORMER = "_former.py"  # sentences of older recipes, by which these are known


class Text(NamedTuple):
    """A piece of text, the line of its file on which it begins, and whether it is a docstring."""

    line: int
    text: str
    docstring: bool = False


def entries(page):
    """Return the words and phrases of the left column of the glossary, each with what to write in its place."""
    section = page.split(f"\n{HEADING}\n", 1)[1].split("\n## ", 1)[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line[:1] == "|"]
    assert rows[0] == ["do not write", "write"], rows[0]
    return {entry.strip(" `"): instead for left, instead in rows[2:] for entry in left.split(",")}


def pattern(entry):
    """Return what finds an entry: whole words, in any case, over the end of a line too."""
    words = r"\s+".join(map(re.escape, entry.removeprefix(_OPENING).split()))
    return re.compile(rf"(?<![\w-]){words}(?![\w-])", re.IGNORECASE)


WORDS = {entry: (pattern(entry), instead) for entry, instead in entries(GLOSSARY.read_text()).items()}


def blank(found):
    """Return as many lines as were found, without their text."""
    return "\n" * found.group().count("\n") or " "


def of_python(source):
    """Find docstrings and string constants; an f-string is one text, with a mark for each value."""
    tree = ast.parse(source)
    parts = {id(one) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for one in node.values}
    owners = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    opening = [node.body[0] for node in ast.walk(tree) if isinstance(node, owners) and node.body]
    docstrings = {id(one.value) for one in opening if isinstance(one, ast.Expr)}
    typed = [one for node in ast.walk(tree) for name in ("annotation", "returns") if (one := getattr(node, name, None))]
    parts |= {id(one) for node in typed for one in ast.walk(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield Text(node.lineno, "".join(one.value if isinstance(one, ast.Constant) else "…" for one in node.values))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in parts:
            text = "" if _NAME.fullmatch(node.value) else node.value
            yield Text(node.lineno, _CODE.sub(blank, _PARAMETER.sub(blank, text)), id(node) in docstrings)


def of_template(source):
    """Find the text of a template, and the sentences that stand in quotation marks inside its tags."""
    yield Text(1, _TAG.sub(blank, source))
    for tag in _TAG.finditer(source):
        for one in _QUOTED.finditer(tag.group()):
            if not _NAME.fullmatch(one.group()[1:-1]):
                yield Text(source.count("\n", 0, tag.start() + one.start()) + 1, one.group()[1:-1])


def of_script(source):
    """Find the strings of a script."""
    for one in _SCRIPT.finditer(source):
        text = _FILLED_IN.sub("…", (one.group(1) or "")[1:-1])
        if text and not _NAME.fullmatch(text):
            yield Text(source.count("\n", 0, one.start()) + 1, text)


def of_page(source):
    """Find the prose of a page: no code, no addresses, and not the glossary itself."""
    head, heading, rest = source.partition(f"\n{HEADING}\n")
    if heading:
        table, *more = re.split(r"(?=\n## )", rest, maxsplit=1)
        source = head + "\n" * (heading + table).count("\n") + "".join(more)
    for one in (_FENCE, _CODE, _ADDRESS):
        source = one.sub(blank, source)
    yield Text(1, source)


READERS = {".py": of_python, ".j2": of_template, ".html": of_template, ".js": of_script, ".md": of_page}


def hits(texts, words=WORDS):
    """Yield the line of each hit, what stands there, and what to write."""
    for line, whole, docstring in texts:
        text = _FIGURE.sub(blank, whole)
        for entry, (found, instead) in words.items():
            for one in found.finditer(text):
                if not entry.startswith(_OPENING) or (docstring and not text[: one.start()].strip()):
                    yield line + text.count("\n", 0, one.start()), one.group(), instead


def files(area):
    place = ROOT / area
    found = [place] if place.is_file() else sorted(place.rglob("*"))
    suffixes = {".md"} if area == "docs" else {*READERS}
    return [path for path in found if path.suffix in suffixes and path.is_file() and path.name != _FORMER]


def help_texts(command, words=()):
    """Yield what --help prints for a command and for all below it, each with the words that call it."""
    yield words, CliRunner().invoke(app, [*words, "--help"], env={"COLUMNS": "1000"}).output
    for name, one in getattr(command, "commands", {}).items():
        yield from help_texts(one, (*words, name))


def found_in(area):
    """Return every hit of an area: where, what, and what to write."""
    if area == HELP:
        said = [(" ".join(("microagg", *words, HELP)), [Text(1, text)]) for words, text in help_texts(get_command(app))]
    else:
        said = [(str(one.relative_to(ROOT)), READERS[one.suffix](one.read_text())) for one in files(area)]
    return [
        f"{where}:{line}: do not write {what!r}, write {instead}"
        for where, texts in said
        for line, what, instead in hits(texts)
    ]


@pytest.mark.parametrize("area", AREAS)
def test_what_a_person_reads_is_in_plain_words(area):
    found = found_in(area)
    assert not found, "\n".join(found)


def test_every_area_is_there():
    assert all(area == HELP or files(area) for area in AREAS)


SAMPLES = {
    of_python: 'def f():\n    """Return a figure.\n\n    A line with\n    {} in it.\n    """\n',
    of_template: "<p>{{% if one %}}\nA line with {} in it.</p>\n",
    of_script: "// code\nconst text = `A line with {} in it: ${{figure}}.`;\n",
    of_page: "# A page\n\nA line with {} in it.\n",
}


@pytest.mark.parametrize("entry", WORDS)
@pytest.mark.parametrize("reader", SAMPLES)
def test_each_entry_is_found(entry, reader):
    if entry.startswith(_OPENING):
        texts = of_python(f'def f():\n    {entry} a figure."""\n')
    else:
        texts = reader(SAMPLES[reader].format(entry))
    assert any(what == entry.removeprefix(_OPENING) for _, what, _ in hits(texts))


@pytest.mark.parametrize("entry", WORDS)
def test_each_entry_is_found_in_any_case_and_over_the_end_of_a_line(entry):
    text = "\n".join(entry.removeprefix(_OPENING).split()).upper()
    assert pattern(entry).search(f"{text} at the start")


def test_a_hit_has_its_line():
    words = {"alike": (pattern("alike"), "the same")}
    page = "# A page\n\n```sh\nalike\n```\n\n`alike` is code, these are alike.\n"
    assert [line for line, *_ in hits(of_page(page), words)] == [7]
    source = '"""One."""\n\nSAID = f"{SAID} are alike"\n'
    assert [line for line, *_ in hits(of_python(source), words)] == [3]


def test_names_and_code_are_no_sentences():
    words = {"told": (pattern("told"), "said")}
    source = (
        '"""One.\n\nAttributes\n----------\ntold : int\n\n>>> told = 1\n"""\nKEY = found["told"]\ntold: "told | None"\n'
    )
    assert not list(hits(of_python(source), words))
    assert not list(hits(of_template('<p class="a">{{ model.told }}{% if "told" in model %}.{% endif %}</p>'), words))
    assert list(hits(of_template('<p>{{ "It is told." if model.public }}</p>'), words))
    assert not list(hits(of_page(f"# A page\n\n{HEADING}\n\n| told | said |\n\n## Next\n"), words))
    assert list(hits(of_page(f"# A page\n\n{HEADING}\n\n| told | said |\n\n## Next\n\nIt is told.\n"), words))
