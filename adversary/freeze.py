"""Keep what a version does, and see what another does otherwise: `python -m adversary freeze FOLDER`.

Kept are the inputs, command lines, exit codes, output and the SHA-256 of everything that is written, of cases that mask
for the most part, of files of recipes of former versions, of Dask, of labels by every method, and of real surveys where
`MICROAGG_DATA` has them. Each case is run twice: what differs then is not compared. `--against` runs the kept cases by
the present code, and names each difference. `--hashes` writes one line for each synthetic case, which says nothing of
data.
"""

import argparse
import gzip
import hashlib
import json
import multiprocessing
import os
import re
import secrets
import shutil
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import microagg as ma
from adversary import checks, fuzz, running, same
from adversary.case import Case
from adversary.children import ROOT

SEED = 41
MASKING, OTHERS = 1400, 600
"""Cases that mask a file, and cases that do something else or are refused."""

Kept = dict[str, str]
"""What came of a case: by name, the exit code, what was said, and the SHA-256 of each file that was written."""

_TIMES = re.compile(r'("seconds[a-z_]*": )[0-9.e+-]+|[0-9.]+ s\b')
_BEFORE = ROOT / "tests" / "recipe" / "written_before"
_DASK = [(name, k) for name in ("blocks", "blocks, weights", "blocks, kinds", "blocks, missing") for k in range(2, 9)]
_DASK += [("blocks", 9), ("blocks, kinds", 9)]
_SURVEYS = {
    "eusilc": [
        "--unit",
        "db030",
        "--weight",
        "rb050",
        "--weight-release",
        "group",
        "--confidential",
        "pl030",
        "-k",
        "5",
    ],
    "psid": ["--unit", "id", "-k", "3"],
    "yrbss": ["--confidential", "helmet_12m", "--l", "2", "-k", "3"],
}
_QUASI = {
    "eusilc": "age,rb090,db040,pb220a,py010n,hy090n,eqIncome",
    "psid": "experience,weeks,education,wage,occupation,industry,south,smsa,married,union",
    "yrbss": "age,gender,grade,height,weight,physically_active_7d",
}


def main(arguments: list[str]) -> int:
    """Keep, or compare; 1 if something differs."""
    parser = argparse.ArgumentParser(prog="python -m adversary freeze", description=__doc__)
    parser.add_argument("folder", type=Path, help="outside the repository: what is kept, or was")
    parser.add_argument("--against", action="store_true", help="run the kept cases again, and compare")
    parser.add_argument("--masking", type=int, default=MASKING, help="cases that mask a file")
    parser.add_argument("--others", type=int, default=OTHERS, help="cases that do not")
    parser.add_argument("--only", default="", help="cases whose name begins with this")
    parser.add_argument("--hashes", type=Path, help="a file for one line a synthetic case")
    given = parser.parse_args(arguments)
    if given.against:
        return _compare(given.folder, given.only)
    if given.folder.resolve().is_relative_to(ROOT):
        parser.error(f"{given.folder} is in the repository; choose a folder outside it")
    given.folder.mkdir(parents=True)
    drawn = _fuzz_names(given.masking, given.others) if "fuzz".startswith(given.only[:4]) else ()
    names = [*drawn, *_other_names()]
    kept = _run([name for name in names if name.startswith(given.only)])
    again = _run(list(kept))
    unstable = {name: [key for key in kept[name] if again[name].get(key) != kept[name][key]] for name in kept}
    content = {name: {"kept": own, "unstable": unstable[name]} for name, own in kept.items()}
    with gzip.open(given.folder / "kept.json.gz", "wt", encoding="utf-8") as file:
        json.dump(content, file, indent=0)
    _keep_inputs(given.folder, list(kept))
    if given.hashes:
        synthetic = [name for name in kept if not name.startswith("survey")]
        given.hashes.write_text("".join(f"{name} {_digest(kept[name], unstable[name])}\n" for name in synthetic))
    masked = sum(any("masked" in key for key in own) for own in kept.values())
    shaky = sum(map(bool, unstable.values()))
    print(
        f"{len(kept)} cases kept, {masked} of them wrote a masked file; {shaky} have parts that differ between two runs"
    )
    return 0


def _compare(folder: Path, only: str) -> int:
    """Run the kept cases again, and print what differs."""
    with gzip.open(folder / "kept.json.gz", "rt", encoding="utf-8") as file:
        content = json.load(file)
    names = [name for name in content if name.startswith(only)]
    now = _run(names)
    differing = 0
    for name in names:
        kept, unstable = content[name]["kept"], content[name]["unstable"]
        keys = sorted({*kept, *now[name]} - {*unstable})
        others = [key for key in keys if kept.get(key) != now[name].get(key)]
        differing += bool(others)
        for key in others:
            print(f"DIFFERS {name}: {key}\n  kept: {_short(kept.get(key))}\n  now:  {_short(now[name].get(key))}")
    print(f"{len(names)} cases, {differing} differ")
    return int(differing > 0)


def _short(text: str | None) -> str:
    return "nothing" if text is None else text[-400:].replace("\n", "\n        ")


def _digest(kept: Kept, unstable: Iterable[str]) -> str:
    stable = {key: value for key, value in kept.items() if key not in unstable}
    return hashlib.sha256(json.dumps(stable, sort_keys=True).encode()).hexdigest()[:20]


def _fuzz_names(masking: int, others: int) -> Iterator[str]:
    """Name cases of the fuzzing campaign until there are enough of each sort, as their first run shows it."""
    number, wanted = 0, {True: masking, False: others}
    while any(wanted.values()):
        numbers = range(number, number + 400)
        found = _run([f"fuzz {one}" for one in numbers])
        for one in numbers:
            masks = any("masked" in key for key in found[f"fuzz {one}"]) or "released" in found[f"fuzz {one}"]
            if wanted[masks]:
                wanted[masks] -= 1
                yield f"fuzz {one}"
        number += 400


def _other_names() -> list[str]:
    """Name all cases that are not drawn."""
    surveys = [name for name in _SURVEYS if (Path(os.environ.get("MICROAGG_DATA", "")) / f"{name}.csv").is_file()]
    return [
        *(f"recipe {path.stem}" for path in sorted(_BEFORE.glob("*.toml"))),
        *(f"same {name}" for name in same.CASES),
        *(f"labels {method} {k}" for method in ma.recipe.choices("method")["method"][1].words for k in (2, 3, 5, 10)),
        *(f"dask {number}" for number in range(len(_DASK))),
        *(f"survey {name}" for name in surveys),
    ]


def _run(names: list[str]) -> dict[str, Kept]:
    """Run cases in two processes; those of Dask in one, since it has processes of its own."""
    alone = [name for name in names if name.startswith("dask")]
    shared = [name for name in names if name not in alone]
    with multiprocessing.get_context("spawn").Pool(2, maxtasksperchild=40) as pool:
        found = dict(pool.imap_unordered(_outcome, shared, chunksize=20))
    found |= {name: _outcome(name)[1] for name in alone}
    return {name: found[name] for name in names}


def _outcome(name: str) -> tuple[str, Kept]:
    """Run one case, by its name."""
    secrets.randbelow = lambda _: 7  # the seed of draws that a recipe does not name
    if name.startswith("labels"):
        return name, _labels(*name.split()[1:])
    case = _case(name)
    kept: Kept = {}
    with running.at_home() as (home, _):
        case.write(home)
        if case.act is not None:
            done = running.call(case.act)
            return name, {"code": str(done.code), "err": done.err, **_released(done.released)}
        outcomes: list[running.Outcome] = []
        for place, words in enumerate(case.commands):
            if outcomes and (outcomes[-1].code != 0 or outcomes[0].words[0] not in ("mask", "inspect")):
                break
            before = checks.snapshot(home)
            done = running.command(checks.placed(words, outcomes, home))
            outcomes.append(done)
            said = {"code": str(done.code), "out": done.out, "err": done.err}
            kept |= {f"{place} {key}": _TIMES.sub(r"\1", text.replace(str(home), "")) for key, text in said.items()}
            after = checks.snapshot(home)
            written = {path: content for path, content in after.items() if before.get(path) != content and content}
            kept |= {f"{place} {path}": hashlib.sha256(content).hexdigest() for path, content in written.items()}
    return name, kept


def _released(table: Any) -> Kept:
    if table is None:
        return {}
    text = f"{type(table)}{table.to_dict() if hasattr(table, 'to_dict') else table.to_pydict()}"
    return {"released": hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()}


def _labels(method: str, k: str) -> Kept:
    """Return the groups of a survey by a method, with strata and without, and of normal columns."""
    survey = ma.datasets.survey(600, seed=3).drop_columns(["person", "weight"])
    each = {"per_column": True} if method in ("univariate", "ranking") else {}
    found = {}
    for title, more in {"whole": {"keep": ["region"]}, "strata": {"strata": ["region"]}}.items():
        release = ma.protect(survey, k=int(k), method=method, **each, **more)
        found[title] = hashlib.sha256(np.ascontiguousarray(release.groups).tobytes()).hexdigest()
        found[f"{title}, recipe"] = release.recipe.text()
        found[f"{title}, loss"] = repr(release.information.percent)
    return found


def _case(name: str) -> Case:
    """Return the case of a name."""
    sort, _, rest = name.partition(" ")
    if sort == "fuzz":
        return fuzz.drawn(SEED, int(rest))
    if sort == "recipe":
        text = (_BEFORE / f"{rest}.toml").read_bytes()
        files = {"recipe.toml": text, "survey.csv": _written(ma.datasets.survey(400), "survey.csv")}
        return Case(
            name, files, [["mask", "survey.csv", "--recipe", "recipe.toml", "--rounding", "auto", "--public", "--json"]]
        )
    if sort == "survey":
        content = (Path(os.environ["MICROAGG_DATA"]) / f"{rest}.csv").read_bytes()
        masking = ["mask", f"{rest}.csv", "--quasi", _QUASI[rest], "--rest", "drop", "--public", "--json"]
        guessed = ["mask", f"{rest}.csv", "--recipe", "guessed.toml", "-o", "guessed", "--public"]
        commands = [["inspect", f"{rest}.csv", "-k", "3", "-o", "guessed.toml"], guessed, [*masking, *_SURVEYS[rest]]]
        return Case(name, {f"{rest}.csv": content}, commands)
    engine: list[str] = []
    case, k = rest, 4
    if sort == "dask":
        (case, k), engine = _DASK[int(rest)], ["--engine", "dask", "--same-order"]
    files = {
        "t.parquet": _written(same.made(), "t.parquet"),
        "r.toml": same.recipe_of(same.CASES[case]).text().encode(),
    }
    return Case(name, files, [["mask", "t.parquet", "--recipe", "r.toml", "-k", str(k), "--json", "--public", *engine]])


def _written(table: Any, name: str) -> bytes:
    with running.at_home() as (home, _):
        ma.write(table, home / name)
        return (home / name).read_bytes()


def _keep_inputs(folder: Path, names: list[str]) -> None:
    """Keep the files and command lines of each case that has some."""
    for name in names:
        if name.startswith(("labels", "survey")):
            continue
        case = _case(name)
        if case.act is None:
            with gzip.open(
                folder / f"{name.replace(' ', '-').replace(',', '')}.json.gz", "wt", encoding="utf-8"
            ) as file:
                file.write(case.as_json())
    shutil.copy(Path(__file__), folder)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
