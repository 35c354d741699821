"""The same run once more: as a command line, and as a Python script."""

import os
import shlex
from collections.abc import Sequence
from pathlib import Path

from microagg.files.databases import in_recipes, is_database, without_credentials
from microagg.files.formats.kinds import to_path
from microagg.files.stores import is_store
from microagg.recipe import Recipe


def command(
    address: str,
    recipe: str | Path,
    output: str | Path,
    to: str | None = None,
    scratch: str | None = None,
    *,
    engine: str = "memory",
    overwrite: bool = False,
    households: str | None = None,
) -> str:
    """Return the command line that masks a file by a recipe again; `households` is what its file cannot say."""
    words = ["microagg", "mask", without_credentials(address), "--recipe", str(recipe), "-o", str(output)]
    if households is not None:
        words += ["--households", households]
    if to is not None:
        words += ["--to", without_credentials(to)]
    if engine != "memory":
        words += ["--engine", engine, "--same-order"]
    if scratch is not None:
        words += ["--scratch", without_credentials(scratch)]
    return one_line([*words, "--force"] if overwrite else words)


def app_command(address: str, recipe: str | Path, output: str | Path | None) -> str:
    """Return the command line that goes on in a browser with a recipe."""
    words = ["microagg", "app", without_credentials(address), "--recipe", str(recipe)]
    return one_line(words if output is None else [*words, "-o", str(output)])


def one_line(words: Sequence[str]) -> str:
    """Join words to a command on one line; a name may hold line breaks, which would show as lines of their own."""
    return " ".join(shlex.quote(word) if word.isprintable() else f"$'{_escaped(word)}'" for word in words)


def _escaped(word: str) -> str:
    """Return a word as shells read it within $'...'."""
    return "".join(
        char if char.isprintable() and char not in "'\\" else "".join(f"\\x{byte:02x}" for byte in os.fsencode(char))
        for char in word
    )


def unsaid(recipe: Recipe) -> str | None:
    """Return the address of households, where the file of a recipe cannot hold all of it."""
    address = recipe.join.households
    if address is None or in_recipes(address) == address:
        return None
    return without_credentials(address)


def script(
    address: str,
    recipe: str | Path,
    target: str | Path,
    *,
    households: str | Path | None = None,
    overwrite: bool = False,
    joined: str | None = None,
) -> str:
    """Return a Python script that masks a file by a recipe again and writes the same masked file.

    `households` is the place of the second file that is written where the recipe joins two, and `joined` the address
    that it is read from, where the recipe's file cannot hold it.
    """
    other = "" if joined is None else f", households={joined!r}"
    more = "" if households is None else f", households={str(households)!r}"
    more += ", overwrite=True" if overwrite else ""
    return (
        f"import microagg as ma\n\n"
        f"recipe = ma.Recipe.read({str(recipe)!r})\n"
        f"source = ma.read({without_credentials(address)!r}, recipe=recipe{other})\n"
        f"release = ma.protect(source, recipe=recipe)\n"
        f"ma.write(release, {str(target)!r}{more})\n"
        f"print(release)\n"
    )


def again_folder(folder: Path) -> Path:
    """Name the folder that what was written to another is written to once more."""
    return folder.with_name(f"{folder.name}_again")


def shell(address: str, recipe: Recipe) -> str:
    """Return a script of the shell that does a run again by the recipe beside it, in a folder of its own."""
    lines = ["#!/bin/sh", *(f"# {line}" for line in _ABOUT), "# To choose the folder: sh again.sh FOLDER"]
    lines += ['here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd) || exit', "folder=${1:-${here%/*}_again}"]
    if _start(recipe) is not None:
        lines += [
            "case $folder in /*) ;; *) folder=$PWD/$folder ;; esac",
            f"cd -- {shlex.quote(str(_start(recipe)))} || exit",
        ]
    other = unsaid(recipe)
    words = shlex.join(["microagg", "mask", lasting(address), *([] if other is None else ["--households", other])])
    return "\n".join([*lines, f'exec {words} --recipe "$here/recipe.toml" -o "$folder"']) + "\n"


def program(address: str, recipe: Recipe) -> str:
    """Return a Python script that does a run again by the recipe beside it, in a folder of its own."""
    start, other = _start(recipe), unsaid(recipe)
    more = "" if other is None else f", households={other!r}"
    return (
        f"# {_ABOUT[0]}\n# {_ABOUT[1]}\n# To choose the folder: python again.py FOLDER\n"
        f"{'' if start is None else 'import os' + chr(10)}import sys\nfrom pathlib import Path\n\n"
        f"import microagg as ma\nfrom microagg import jobs\n\n"
        f"here = Path(__file__).resolve().parent\n"
        f"output = here.parent\n"
        f'folder = Path(sys.argv[1]).absolute() if sys.argv[1:] else output.with_name(f"{{output.name}}_again")\n'
        f"{'' if start is None else f'os.chdir({str(start)!r})' + chr(10)}"
        f'opened = jobs.open_file({lasting(address)!r}, ma.Recipe.read(here / "recipe.toml"){more})\n'
        f"release = jobs.judge(jobs.mask(opened))\n"
        f"jobs.write(release, opened, folder)\n"
        f"print(release)\n"
    )


_ABOUT = (
    "Makes the same masked file, reports and recipe again, identical to the byte, with the recipe",
    "beside this script, in another folder beside this output.",
)


def lasting(address: str) -> str:
    """Return an address that holds wherever a script is started."""
    is_remote = is_database(address) or is_store(address)
    return without_credentials(address) if is_remote else str(to_path(address).absolute())


def _start(recipe: Recipe) -> Path | None:
    """Return the folder to start in, where the recipe names a file as seen from there."""
    households = recipe.join.households
    stays = households is None or is_store(households) or Path(households).is_absolute()
    return None if stays else Path.cwd()
