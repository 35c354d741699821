"""The same run once more: as a command line, and as a Python script."""

import shlex
from pathlib import Path

from microagg.io.databases import without_credentials


def command(
    address: str,
    recipe: str | Path,
    output: str | Path,
    *,
    to: str | None = None,
    engine: str = "memory",
    overwrite: bool = False,
) -> str:
    """Give the command line that masks a file by a recipe again."""
    words = ["microagg", "mask", without_credentials(address), "--recipe", str(recipe), "-o", str(output)]
    if to is not None:
        words += ["--to", without_credentials(to)]
    if engine != "memory":
        words += ["--engine", engine]
    return shlex.join([*words, "--force"] if overwrite else words)


def script(
    address: str,
    recipe: str | Path,
    target: str | Path,
    *,
    households: str | Path | None = None,
    overwrite: bool = False,
) -> str:
    """Give a Python script that masks a file by a recipe again and writes the same masked file.

    `households` is the place of the second file that is written where the recipe joins two.
    """
    more = "" if households is None else f", households={str(households)!r}"
    more += ", overwrite=True" if overwrite else ""
    return (
        f"import microagg as ma\n\n"
        f"recipe = ma.Recipe.read({str(recipe)!r})\n"
        f"source = ma.read({without_credentials(address)!r}, recipe=recipe)\n"
        f"release = ma.protect(source, recipe=recipe)\n"
        f"ma.write(release, {str(target)!r}{more})\n"
        f"print(release)\n"
    )
