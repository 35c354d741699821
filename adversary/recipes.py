"""Recipes: right ones, wrong ones, and ones that are no TOML."""

from pathlib import Path
from typing import Any

from adversary.case import Case
from adversary.choices import draw_plan
from adversary.spelling import as_recipe
from adversary.text import written
from adversary.values import CALM, ODD, WILD, Random, chance, draw_columns, one_of, secrets_of

LINES = [
    "k = 0", "k = -1", "k = 1e308", "k = true", 'k = "3"', "k = 99999999999999999999", "k = [3]", "k = nan",
    "k = 1979-05-27", "[roles]", "[roles.quasi]", "quasi = 5", "quasi = [1, 2]", 'quasi = "a"', "quasi = [[]]",
    "quasi = []", 'quasi = ["a]", "]"]', "[[roles]]", "[nothing]", "x = 1", "[method]\nname = 3",
    '[method]\nname = "mdav"\ngamma = 1', "[masking]\nspike = inf", "[masking]\nrounding = {a0 = 3}",
    "[masking]\nrounding = {a0 = 1e400}", "[kinds]\na0 = [1, 1]", "[kinds]\na0 = {spike = nan}",
    "[recode]\na0 = {width = 0}", "[recode]\na0 = {cuts = []}", "[recode]\na0 = {join = {x = []}}",
    "[recode]\na0 = {width = 1, cuts = [1]}", "[diversity]\nl = 1", "[diversity]\nt = 1.5",
    "[diversity]\nrecursive = [1]", "[diversity]\nrecursive = [1, 2, 3]", "[units]\nwave = 3",
    "[weights]\nrelease = 5", "[blocks]\nmax_block = 1", "[refine]\neffort = 0",
    "[refine]\neffort = 1000000000000000000000", "[[relation]]", '[[relation]]\nholds = "a0 = "',
    '[[relation]]\nholds = "a0 = a0 * a0"', "[relation]\nholds = 3", '[[analysis]]\nkind = "no"',
    '[[analysis]]\nkind = "mean"\ncolumns = 5', '[[analysis]]\nkind = "linear"\nformula = "a0 ~ __import__(1)"',
    "[analysis]", "[taxonomy]\na0 = 'no such.csv'", "[taxonomy]\na0 = {x = []}", "[missing]\ncodes = 3",
    "[missing]\ncodes = {a0 = [1, 1]}", "[read]\ndelimiter = ''", "[read]\nencoding = 'no such'",
    "[read]\ndelimiter = 'ab'", "[risk]\nsample = -1", "[output]\nkind = 'xyz'", "[compare]\nks = [1]",
    "[compare]\nx = 2", "[join]\nhouseholds = 'in.csv'", "[join]\non = 'x'", "[importance]\na0 = -1", "a.b.c = 1",
    "\x00", "\ufeff", "= 1", "[", "]]", '"""', "'''", "#" * 3000, "a = " + "[" * 500, '"\x1b[31m" = 1',
    "[roles]\n[roles]", "\\u0000",
]  # fmt: skip


def draw(rng: Random) -> Case:
    """Draw a recipe that is somewhat wrong: read by itself, or used on a small file."""
    columns = draw_columns(rng, one_of(rng, [CALM, CALM, ODD]), arrow=False)
    plan = draw_plan(rng, columns, WILD)
    text = _changed(rng, as_recipe(plan.k, plan.choices))
    content = text.encode("utf-8", "surrogatepass" if chance(rng, 0.1) else "replace")
    if chance(rng, 0.1):
        content = content.replace(b"\n", b"\r\n")
    if chance(rng, 0.05):
        content = one_of(rng, [b"", b"\xff\xfe" + content, rng.bytes(60), text.encode("utf-16")])
    if chance(rng, 0.6):
        return Case("recipe", {"asked.toml": content}, act=lambda: _read_twice(Path("asked.toml")))
    files = {"in.csv": written(rng, columns, ";", CALM).encode("utf-8", "replace"), "asked.toml": content}
    command = one_of(rng, ["mask", "mask", "compare", "tree"])
    return Case("recipe", files, [[command, "in.csv", "--recipe", "asked.toml"]], {}, secrets_of(columns))


def _changed(rng: Random, text: str) -> str:
    lines = text.split("\n")
    for _ in range(int(rng.integers(0, 3))):
        at = int(rng.integers(len(lines) + 1))
        way = one_of(rng, ["insert", "insert", "lose", "double", "cut", "swap"])
        if way == "insert":
            lines.insert(at, one_of(rng, LINES))
        elif at < len(lines):
            one = lines[at]
            place = int(rng.integers(len(one) + 1))
            other = {
                "lose": [],
                "double": [one, one],
                "cut": [one[:place]],
                "swap": [one[:place] + one_of(rng, "\"'[]{}=,.#\x00é0") + one[place:]],
            }
            lines[at : at + 1] = other[way]
    return "\n".join(lines)


def _read_twice(path: Path) -> Any:
    """Read a recipe; what is written of it must read as the same."""
    import microagg as ma

    recipe = ma.Recipe.read(path)
    again = ma.Recipe.parse(recipe.text())
    assert again == recipe, "a recipe that is written and read again is another"
    return None
