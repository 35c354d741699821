"""Two files, of persons and of their households, that are masked together and written apart again."""

import pyarrow as pa

from adversary.case import Case
from adversary.text import written
from adversary.values import CALM, LEVELS, ODD, Column, Random, chance, numbers, one_of


def draw(rng: Random) -> Case:
    """Draw a file of persons, one of households, and a command line that masks both."""
    level = one_of(rng, LEVELS)
    homes = int(rng.integers(4, 25))
    keys = [f"h{number:02d}" for number in rng.permutation(homes)]
    own = [keys[int(x)] for x in rng.integers(0, homes, int(rng.integers(homes, 60)))]
    if chance(rng, 0.85):  # each household has a person, and as many as k others have
        own = [key for key in keys for _ in range(1 if chance(rng, 0.7) else 2)]
    odd = ODD if level != CALM else CALM
    persons = [_keyed("home", own), _number(rng, "age", len(own), CALM), _words(rng, "job", len(own))]
    households = [_keyed("home", keys), _number(rng, "rooms", homes, odd), _words(rng, "area", homes)]
    if level != CALM:
        households = _changed(rng, households)
    k = int(rng.integers(2, 4))
    quasi = ["age", "rooms"] + (["job"] if chance(rng, 0.4) else []) + (["area"] if chance(rng, 0.4) else [])
    words = ["mask", "persons.csv", "--households", "homes.csv", "--unit", "home", "--unit-release", "pseudonym"]
    words += ["-k", str(k), "--quasi", ",".join(quasi), "--rest", one_of(rng, ["keep", "drop"])]
    words += one_of(
        rng, [[], ["--json"], ["--household", "rooms"], ["--missing", "state"], ["--on", "home"], ["--same-order"]]
    )
    delimiter = one_of(rng, [",", ";"])
    files = {
        "persons.csv": written(rng, persons, delimiter, CALM).encode(),
        "homes.csv": written(rng, households, one_of(rng, [",", ";"]), CALM).encode("utf-8", "replace"),
    }
    return Case("joined", files, [words], {"k": k, "quasi": quasi, "apart": "home"})


def _keyed(name: str, cells: list[str]) -> Column:
    return Column(name, cells, pa.string(), "unit")


def _number(rng: Random, name: str, n: int, level: int) -> Column:
    return Column(name, *numbers(rng, n, level), "number")


def _words(rng: Random, name: str, n: int) -> Column:
    return Column(name, [one_of(rng, ["red", "green"]) for _ in range(n)], pa.string(), "category")


def _changed(rng: Random, columns: list[Column]) -> list[Column]:
    """Let the households not fit: one twice, one missing, one without a key, a name that persons have too."""
    way = one_of(rng, ["twice", "missing", "no key", "name", "none", "none"])
    for column in columns:
        if way in ("twice", "missing"):
            column.cells = [*column.cells, column.cells[0]] if way == "twice" else column.cells[1:]
    if way == "no key":
        columns[0].cells[0] = ""
    if way == "name":
        columns[1].name = "age"
    return columns
