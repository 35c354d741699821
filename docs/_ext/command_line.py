"""The directive `commands`: every command of `microagg` with its arguments and options, read from the program."""

import inspect
import re
from pathlib import PurePath
from typing import Any, get_type_hints

from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.statemachine import StringList
from sphinx.util.nodes import nested_parse_with_titles
from typer.models import ArgumentInfo

from microagg.cli import app as program


def commands(app: Any = program, before: str = "microagg") -> dict[str, Any]:
    """Return the function of every command by its full name."""
    found = {}
    for command in app.registered_commands:
        name = command.name or command.callback.__name__.rstrip("_").replace("_", "-")
        found[f"{before} {name}"] = command.callback
    for group in app.registered_groups:
        found |= commands(group.typer_instance, f"{before} {group.name or group.typer_instance.info.name}")
    return found


def parameters(function: Any) -> list[tuple[str, str, bool, str]]:
    """List a command's parameters: how each is written, its help with the default, if it is an argument, its panel."""
    hints = get_type_hints(function, include_extras=True)
    found = []
    for name, parameter in inspect.signature(function).parameters.items():
        info = hints[name].__metadata__[0]
        default = parameter.default
        argument = isinstance(info, ArgumentInfo)
        words = info.help.replace("`", "``").replace("|", r"\|")  # else the name of a substitution begins
        if default is inspect.Parameter.empty:
            words += "" if argument else " Required."
        elif default is not None and default is not False:
            words += f" By default ``{default if isinstance(default, PurePath) else str(default)}``."
        # Typer takes the first spelling for a default, until it parses.
        spelt = [one for one in (info.default, *(info.param_decls or ())) if str(one).startswith("-")]
        if argument:
            spelt = [name.upper()]
        elif not spelt:
            spelt = [f"--{name.replace('_', '-')}"]
        found.append((", ".join(spelt), words, argument, getattr(info, "rich_help_panel", None) or ""))
    return found


def described(name: str, function: Any) -> list[str]:
    """Describe one command in reStructuredText."""
    about, *more = re.sub(r"\[/?bold\]", "``", inspect.getdoc(function)).split("\n\n")
    listed = parameters(function)
    usage = " ".join([name, *(spelt for spelt, _, argument, _ in listed if argument), "[OPTIONS]"])
    lines = [name, "=" * len(name), "", about, "", ".. code-block:: text", "", f"   {usage}", ""]
    lines += [line for text in more for line in (text, "")]
    for panel in dict.fromkeys(own for *_, own in listed):
        lines += [f".. rubric:: {panel}", ""] if panel else []
        for spelt, words, _, own in listed:
            if own == panel:
                lines += [", ".join(f"``{one}``" for one in spelt.split(", ")), f"   {words}", ""]
    return lines


class Commands(Directive):
    """A section for each command."""

    def run(self) -> list[Any]:
        """Make the sections."""
        lines = [line for name, function in commands().items() for line in described(name, function)]
        section = nodes.section()
        section.document = self.state.document
        nested_parse_with_titles(self.state, StringList(lines, source="microagg.cli"), section)
        return section.children


def setup(app) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_directive("commands", Commands)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
