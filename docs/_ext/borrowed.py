"""Pages that Sphinx cannot take from where they are: they are lent to it while it runs.

Each experiments/NAME/RESULTS.md is on the site as experiments/NAME, where there is one: Sphinx reads below docs
alone. docs/search.md is on the site as searching: search.html is where Sphinx puts the form to search the site.
"""

import os
import re
import shutil
from pathlib import Path

DOCS = Path(__file__).parent.parent
EXPERIMENTS, LENT = DOCS.parent / "experiments", DOCS / "experiments"
SEARCH, SEARCHING = DOCS / "search.md", DOCS / "searching.md"
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s#:]+)(#[^)\s]*)?\)")
TO_SEARCH = re.compile(r"(\]\((?:\.\./)*)search\.md")
NAMED = re.compile(r"^# ", re.MULTILINE)


def results(path: Path) -> str:
    """Give the text of an experiment's page, with links that lead somewhere from docs/experiments too."""

    def relink(match: re.Match[str]) -> str:
        picture, words, target, anchor = match.groups(default="")
        goal = (path.parent / target).resolve()
        if goal.name == "RESULTS.md" and goal.parent.parent == EXPERIMENTS.resolve():
            new = f"{goal.parent.name}.md{anchor}"
        elif goal.exists() and (picture or (goal.suffix == ".md" and goal.is_relative_to(DOCS.resolve()))):
            new = os.path.relpath(goal, LENT.resolve()) + anchor
        else:
            return words  # a file of the repository that is not on the site
        return f"{picture}[{words}]({new})"

    text = path.read_text("utf-8")
    return LINK.sub(relink, text if NAMED.search(text) else f"# {path.parent.name}\n\n{text}")


def lend(app, config) -> None:  # noqa: ARG001
    """Copy the pages there are."""
    take_back(app)
    SEARCHING.write_text(SEARCH.read_text("utf-8"), "utf-8")
    for path in sorted(EXPERIMENTS.glob("*/RESULTS.md")):
        LENT.mkdir(exist_ok=True)
        (LENT / f"{path.parent.name}.md").write_text(results(path), "utf-8")


def adapt(app, docname, source) -> None:  # noqa: ARG001
    """Point links to where pages are, and take from the lists of pages what nobody has written yet."""
    text = TO_SEARCH.sub(r"\1searching.md", source[0])
    if docname == "guide":
        text = text.replace("\nsearch\n", "\nsearching\n")
    if docname == "results":
        absent = [line for line in ("experiments/*", "errata") if not any(DOCS.glob(f"{line}.md"))]
        text = "\n".join(line for line in text.split("\n") if line not in absent)
    source[0] = text


def take_back(app, error=None) -> None:  # noqa: ARG001
    """Leave docs as it was."""
    SEARCHING.unlink(missing_ok=True)
    shutil.rmtree(LENT, ignore_errors=True)


def setup(app) -> dict[str, bool]:
    """Tell Sphinx."""
    app.connect("config-inited", lend)
    app.connect("source-read", adapt)
    app.connect("build-finished", take_back)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
