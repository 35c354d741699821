"""The help of the app's pages, made from the documentation: python -m tests.app.help_text writes it anew.

The package has no docs folder, so what pages show of it is kept beside their templates; a test holds both equal.
"""

import html
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HOME = ROOT / "src" / "microagg" / "app" / "templates" / "help"

SECTIONS = {
    "open": ("app", "Open"),
    "never": ("app", "What the app never does"),
    "columns": ("app", "Columns"),
    "choosing": ("choosing", "Choosing k and a method"),
    "try": ("app", "Try"),
    "k": ("choosing", "k", "k is the", "- An intruder", "- The literature's", "- Rounding"),
    "lost": ("judging", "What was lost", "Lower is", "| figure", "A sentence of"),
    "intruder": ("judging", "What an intruder could do", "| figure"),
    "rest": ("choosing", "The rest"),
    "compare": ("app", "Compare"),
    "map": ("judging", "One score, and the map", "SI ="),
    "method": ("choosing", "The method", "- ", "The ringed"),
    "look": ("app", "Look"),
    "hidden": ("judging", "How well records are hidden"),
    "release": ("app", "Release", "The report's"),
    "committee": ("judging", "The page for the committee", "It is internal"),
    "limits": ("judging", "Limits", "- "),
    "quit": ("app", "Stopping, and going on"),
}
"""For each passage the section of the docs that it is: file, heading, and how its parts begin, if not all."""


def passage(name):
    """Give a passage of the help."""
    return _section(*SECTIONS[name])


def _section(name, heading, *begins):
    text = (ROOT / "docs" / f"{name}.md").read_text("utf-8")
    found = re.search(rf"^#+ {re.escape(heading)}\n(.*?)(?=^#|\Z)", _without_code(text), re.MULTILINE | re.DOTALL)
    assert found, f"docs/{name}.md has no section {heading!r}"
    blocks = [one for one in _blocks(found[1]) if not one.startswith("![")]
    for begin in begins:
        assert any(one.startswith(begin) for one in blocks), f"{begin!r} begins no passage of {heading!r}"
    shown = [one for one in blocks if not begins or one.startswith(begins)]
    return f"<h2>{_inline(heading)}</h2>\n{''.join(map(_as_html, shown))}".replace("</ul>\n<ul>\n", "")


def _without_code(text):
    return re.sub(r"^```.*?^```\n", "\n", text, flags=re.MULTILINE | re.DOTALL)


def _blocks(text):
    """Cut a section into paragraphs, items of lists and tables."""
    return [one.strip() for one in re.split(r"\n\s*\n|\n(?=- )", text) if one.strip()]


def _as_html(block):
    if block.startswith("|"):
        rows = [line.strip("|").split("|") for line in block.split("\n")[2:]]
        pairs = [(_inline(one.strip()), _inline(said.strip())) for one, said in rows]
        return "<dl>\n" + "".join(f"<dt>{one}</dt><dd>{said}</dd>\n" for one, said in pairs) + "</dl>\n"
    if block.startswith("- "):
        return f"<ul>\n<li>{_inline(' '.join(block[2:].split()))}</li>\n</ul>\n"
    return f"<p>{_inline(' '.join(block.split()))}</p>\n"


def _inline(text):
    text = html.escape(text, quote=False)
    text = re.sub(r"; \[more\]\([^)]+\)", "", text)
    text = re.sub(r"\[([^\]]+)\]\([^)]+\)", r"*\1*", text)  # pages lead nowhere else
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", text)
    return re.sub(r"(?<!\*)\*([^*]+)\*(?!\*)", r"<em>\1</em>", re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", text))


if __name__ == "__main__":
    HOME.mkdir(exist_ok=True)
    for name in SECTIONS:
        (HOME / f"{name}.html").write_text(passage(name), "utf-8")
