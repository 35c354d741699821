"""What the report finds of a release, as plain values: for a terminal, a program or another page."""

from typing import Any

from microagg.report.parts import Finding, ReportModel
from microagg.report.text import FIXED, THIN

_LEVELS = {"bad": "broken", "look": "warning", "note": "note", "good": "note"}
"""How grave a finding is: the promise does not hold, somebody should look at it, or it is merely stated."""


def findings_of(model: ReportModel) -> list[dict[str, Any]]:
    """Return what a report finds, the gravest first: its level, its topic, a line and the whole text."""
    return [_plain(one) for one in model.verdict.findings]


def recoded_of(model: ReportModel) -> list[dict[str, Any]]:
    """Return the columns that were recoded before they were masked: the rule in words, and the cells that changed."""
    return [{"column": one.column, "rule": one.rule, "cells_changed": one.changed} for one in model.recoded]


def bound_of(model: ReportModel) -> list[str]:
    """Return a line that says how little any grouping could lose, or why that is not known."""
    return [_spaced(model.loss.bound_text)] if model.loss.bound_text else []


def results_of(model: ReportModel) -> list[str]:
    """Return a line that says how many results of researchers survive; empty if that is not known."""
    return [_spaced(f"{one.name}: {one.value}") for one in model.verdict.lines if one.name == "Results"]


def to_tick(model: ReportModel) -> tuple[list[Finding], list[Finding]]:
    """Return what somebody must look at before the file goes out, the gravest first, and the rest of the checklist.

    What the verdict and the checklist both have is listed once.
    """
    listed = {one.topic for one in model.checklist}
    grave = [one for one in model.verdict.findings if one.state in ("bad", "look") and one.topic not in listed]
    grave += [one for one in model.checklist if one.state in ("bad", "look")]
    rest = [one for one in model.checklist if one.state not in ("bad", "look")]
    return sorted(grave, key=lambda one: one.state != "bad"), rest


def _plain(one: Finding) -> dict[str, Any]:
    texts = {"line": one.short or one.text, "text": one.text}
    return {"level": _LEVELS[one.state], "topic": one.topic, **{key: _spaced(text) for key, text in texts.items()}}


def _spaced(text: str) -> str:
    """Return a text with plain spaces, which every terminal has."""
    return text.replace(THIN, " ").replace(FIXED, " ")


def warnings_among(findings: list[dict[str, Any]]) -> list[str]:
    """Return a line for each finding that somebody should look at."""
    return [one["line"] for one in findings if one["level"] != "note"]
