"""What every case must keep; each check gives what is wrong in words."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from adversary import recount
from adversary.case import Case
from adversary.running import Outcome

PATIENCE = 20.0
"""Seconds of a processor that a case may take."""

_LEFT = (".part", ".microagg-", ".making-microagg-")
_FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""What a spreadsheet may take for the beginning of a formula; the wide signs in some languages."""
_USUAL = "\n\t\u200c\u200d"


def snapshot(folder: Path) -> dict[str, bytes | None]:
    """Return all that lies in a folder: the content of files, None for folders."""
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


def wrong_of(
    case: Case, done: Outcome, before: dict[str, bytes | None], after: dict[str, bytes | None], scratch: list[str]
) -> Iterator[str]:
    """Say what a command has broken, but for its promise."""
    if done.fault:
        yield f"a fault, not a sentence: {done.fault.strip().splitlines()[-1][:300]}"
    if done.code not in (0, 1, 2):
        yield f"exit code {done.code!r}"
    for warning in done.warned:
        yield f"a warning of Python: {warning[:300]}"
    if codes := sorted({char for char in done.said if not char.isprintable() and char not in _USUAL}):
        yield f"control characters in what is said: {codes}"
    if "does not fit into memory" in done.said or "Error: something could not be read" in done.said:
        yield f"a sentence that does not tell what is wrong: {done.err.strip().splitlines()[-1][:200]}"
    if done.code != 0 and not done.fault and not done.err.strip():
        yield "refused without a word"
    yield from files_wrong(done, before, after, scratch)
    if done.code != 0:
        yield from (f"a cell in a message: {secret!r}" for secret in case.secrets if secret in done.said)
    elif "--json" in done.words:
        yield from _json_wrong(done)


def files_wrong(
    done: Outcome, before: dict[str, bytes | None], after: dict[str, bytes | None], scratch: list[str]
) -> Iterator[str]:
    """Say which files were changed, left over or not written."""
    changed = [name for name in before if name not in after or after[name] != before[name]]
    if changed and "--force" not in done.words:
        yield f"what was there was changed: {changed}"
    fresh = sorted({*after} - {*before})
    if done.code != 0 and fresh:
        yield f"refused, and something was written: {fresh[:5]}"
    if done.code == 0 and not fresh and done.words[0] in ("mask", "inspect") and "--force" not in done.words:
        yield "done, and nothing was written"
    if left := [
        name for name in fresh if any(part.startswith(_LEFT) or part.endswith(_LEFT) for part in Path(name).parts)
    ]:
        yield f"something was left over: {left[:5]}"
    if scratch:
        yield f"left in the folder for temporary files: {scratch[:5]}"


def _json_wrong(done: Outcome) -> Iterator[str]:
    try:
        json.loads(done.out)
    except ValueError:
        yield "what --json prints is no JSON"


def option(words: list[str], *names: str) -> str | None:
    """Return the value of an option on a command line."""
    for at, word in enumerate(words[:-1]):
        if word in names:
            return words[at + 1]
    return None


def masked_file(done: Outcome, folder: Path) -> Path | None:
    """Find the masked file that a command has written."""
    output = folder / (option(done.words, "-o", "--output") or "out")
    found = [path for path in output.rglob("*") if path.is_file() and path.name.partition(".")[0].endswith("masked")]
    return found[0] if len(found) == 1 else None


def placed(words: list[str], outcomes: list[Outcome], folder: Path) -> list[str]:
    """Return a command line that names what the first command has written."""
    if not outcomes:
        return words
    masked = masked_file(outcomes[0], folder)
    recipe = recount.recipe_file(folder / (option(outcomes[0].words, "-o", "--output") or "out"))
    places = {"{masked}": masked, "{recipe}": recipe}
    return [str(places[word].relative_to(folder)) if places.get(word) else word for word in words]


def other_than_before(outcomes: list[Outcome], folder: Path) -> list[str]:
    """Say whether a recipe that was used again has given another file."""
    one, two = masked_file(outcomes[0], folder), masked_file(outcomes[-1], folder)
    same = one is not None and two is not None and one.read_bytes() == two.read_bytes()
    return [] if same else ["the recipe, used again, gives another file"]


def promise_broken(case: Case, done: Outcome, folder: Path) -> list[str] | None:
    """Say what is broken of the promise in what was written; None where nothing could be counted."""
    output = folder / (option(done.words, "-o", "--output") or "out")
    recipe = recount.recipe_in(output)
    if not recipe:
        return ["no recipe was written"]
    said = recount.promised(recipe, case.chosen)
    wrong: list[str] = []
    if "apart" in case.chosen:
        return _apart_broken(case, output, recipe)
    target = option(done.words, "--to")
    try:
        if target is not None and target.startswith("duckdb:///"):
            columns = recount.of_database(folder / "target.db", "t")
        else:
            path = folder / target if target is not None else masked_file(done, folder)
            if path is None:
                return ["no masked file was found"]
            columns = recount.columns_of(path, recipe.get("read", {}), _named(said))
            wrong += released_wrong(case, path, recipe, columns)
    except Exception as error:  # noqa: BLE001 - whatever it is, others cannot read the file
        return [f"what was written cannot be read: {type(error).__name__}: {error}"]
    return [*wrong, *recount.broken(columns, said)]


def _apart_broken(case: Case, output: Path, recipe: dict[str, Any]) -> list[str]:
    """Say what is broken of the promise in two files that were written apart."""
    unit, read = case.chosen["apart"], recipe.get("read", {})
    found = [path for path in output.rglob("*.csv") if path.name.partition(".")[0].endswith("masked")]
    if len(found) != 2:
        return ["the two masked files were not found"]
    files = [recount.columns_of(path, read, [unit]) for path in found]
    return recount.broken_apart(files, unit, case.chosen["quasi"], case.chosen["k"])


def released_wrong(case: Case, path: Path, recipe: dict[str, Any], columns: recount.Columns) -> list[str]:
    """Say what is in a masked file that may not be: traces of rows left out, and formulas where it should be safe."""
    content = path.read_bytes()
    wrong = [f"what was left out is in the file: {word!r}" for word in case.absent if word.encode() in content]
    is_text = path.name.partition(".")[2].split(".")[0] in ("csv", "tsv", "txt")
    if is_text and recipe.get("output", {}).get("excel_safe"):
        text = recount.text_in(path, recipe.get("read", {}))
        begun = [name for name in columns if name.startswith(_FORMULAS) and f"'{name}" not in text]
        begun += [cell for own in columns.values() for cell in own if _acts(str(cell))]
        wrong += [f"{len(begun)} cells act as formulas in a spreadsheet"] if begun else []
    return wrong


def _acts(text: str) -> bool:
    """Return whether a spreadsheet may take a cell for a formula; a number is none."""
    if not text.startswith(_FORMULAS):
        return False
    try:
        float(text.replace(",", ".").replace(" ", ""))
    except ValueError:
        return True
    return False


def _named(said: dict[str, Any]) -> list[str]:
    """Return the columns that are counted."""
    alone = [said[key] for key in ("pseudonym", "row") if said.get(key)]
    return [*said["quasi"], *said["strata"], *said["weight"], *said["l_columns"], *alone]


def frame_broken(case: Case, released: Any) -> list[str]:
    """Say what is broken of the promise in a table that was released in memory."""
    import narwhals as nw

    table = nw.from_native(released, eager_only=True)
    columns = {name: [recount.comparable(value) for value in recount.values(table[name])] for name in table.columns}
    chosen = case.chosen
    roles = {key: chosen[key] for key in ("quasi", "strata", "unit", "confidential", "weight") if key in chosen}
    if "quasi" not in roles:
        return []
    recipe = {
        "roles": roles,
        "weights": {"release": chosen.get("weight_release")},
        "masking": {"per_column": chosen.get("per_column", False)},
        "units": {"release": chosen.get("unit_release", "drop"), "share": chosen.get("unit_share", "limited")},
    }
    return recount.broken(columns, recount.promised(recipe, chosen))
