"""What the pages say of errors and of changes."""

import re
from dataclasses import replace
from typing import Any

from microagg.jobs.messages import Told, told

_FIELDS = {
    "overwrite": "“replace the earlier output”",
    "output": "the output folder",
    "to": "the target",
    "recipe": "the recipe",
    "engine": "the command line's --engine",
}

# A word for programmers; only where it begins the advice, since names of columns may hold it.
_PASSED = re.compile(r"(^|[.:;,?] |\b(?:[Oo]r|and) )([Pp])ass (?=\S)")
_FOR_CHECKS = re.compile(r" \(n_samples=\d+\)")  # words that scikit-learn's checks of estimators look for
_COUNTED = re.compile(r"(?<![\w.,=])\d{4,}(?= (?:of \d|different|values?\b|records?\b|rows?\b|units?\b|groups?\b))")


def as_field(parameter: str, value: Any) -> str:
    """Name a choice as the pages label its field."""
    label = _FIELDS.get(parameter, f"“{label_of(parameter)}”")
    if value is None or isinstance(value, bool):
        return label if value is not False else f"{label} off"
    shown = ", ".join(map(str, value)) if isinstance(value, list) else value
    return f"{label} = {shown}"


def label_of(keyword: str) -> str:
    """Return what a choice is called."""
    from microagg.recipe.words import LABELS  # whose package is heavy

    return LABELS.get(keyword, keyword.replace("_", " "))


def set_out(text: str) -> str:
    """Write the numbers of a sentence as the report does: thousands apart, and no line ends before a percent sign."""
    from microagg.judge.text import FIXED, count

    text = re.sub(r"(?<=[\s(])-(?=\d)", "−", text)
    return _COUNTED.sub(lambda found: count(int(found[0])), re.sub(r"(?<=\d) %", f"{FIXED}%", text))


def said_of_name(error: BaseException) -> str:
    """Say what is wrong with the name of a new file, where a page has no box to replace one."""
    found = said(error)
    return "A file of this name exists. Give another name." if found.parameter == "overwrite" else found.text


def said(error: BaseException) -> Told:
    """Say what an error means, for a page: without the name of its class where the words are ours."""
    found = told(error, as_field)
    text = _PASSED.sub(lambda word: f"{word[1]}{'Choose' if word[2] == 'P' else 'choose'} ", found.text)
    return replace(found, text=set_out(_FOR_CHECKS.sub("", text.removeprefix(f"{found.kind}: "))))
