"""Which results of researchers survive masking: EU-SILC by every way to mask it, and Census from k = 3 to 10."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from experiments._figure import grid_figure
from experiments._table import DIFFERS, HERE, Row, Time, read_expected
from experiments.utility import census, survey

TITLE = "Which results survive masking"
NOTES = [
    "EU-SILC is the file eusilc of R's package laeken, 14 827 synthetic persons in 6 000 households. k = 5 "
    "throughout. Every figure is by `ma.utility` with the five analyses that are declared in "
    "`experiments/utility/survey.py`. Gini, poverty rate (share below 0.6 of the median) and means of eqIncome by "
    "sex and region are of all persons, weighted by rb050; the weight is that of the original, since no release "
    "has it. The regression of log(py010n) on age, age² and sex is of the persons with a wage above 0, "
    "unweighted. Zeros of py010n are persons whose wage is 0 as a share of all persons, unweighted; of those who "
    "have a value, 46.6 % have 0. No analysis names a unit: intervals take persons as independent, so that they "
    "are narrower, and the judgement stricter, than by households.",
    "Nine keys: age and eqIncome numbers; hsize ordinal; rb090, db040, pl030, pb220a nominal; py010n and hy090n "
    "semi-continuous. All other columns are dropped. With strata, rb090 (sex) and db040 (region) are released as "
    "they are and groups stay within them; IL is then of seven columns, and higher for that alone. As guessed: "
    "what `microagg inspect` writes, with 23 masked columns, sex as stratum, and groups of five different "
    "households.",
    "The best way is named by a rule: it has the most estimates, of the 25 declared ones, within their 95 % "
    "intervals of the original; of several, the one whose intervals overlap most on average. The rule was written "
    "down after first trials on this file, and the settings of spikes and of importance were tried on it too; all "
    "that were tried are in the table. So the best way is the best of these on this file, and no more: two ways "
    "that differ by less than the range over ten seeds are alike. Importance 2, where no column is named, is of "
    "age, eqIncome and py010n, the numbers that the analyses are of.",
    "Census has 1 080 records and 13 columns, all masked, and nothing is rounded. Slopes: of FEDTAX, STATETAX, "
    "FICA and EMCONTRB on ERNVAL, INTVAL and POTHVAL each; the error of one is told in halves of its 95 % "
    "interval, so that 1 is the end of it. Default estimates: what `release.utility()` guesses, 8 estimates.",
    "The figures under “paper” are those of a slow program that does what the definitions say, step by step.",
]


def rows_of(found: Sequence[tuple[str, str, float | str]]) -> list[Row]:
    """Put figures beside those of `expected.csv`, and say what is expected and was not computed."""
    expected = {(e.where, e.what): e for e in read_expected("utility")}
    rows = []
    for where, what, ours in found:
        e = expected.pop((where, what), None)
        row = Row(where, "–" if e is None else e.page, what, "" if e is None else e.expected, ours)
        rows.append(replace(row, reason="by another program") if row.verdict == DIFFERS else row)
    rows += [Row(e.where, e.page, e.what, e.expected, None, "", "skipped: not in this run") for e in expected.values()]
    return rows


def run(quick: bool) -> list[Row]:
    """Return all rows; in a quick run only what takes a second or two."""
    return rows_of([*survey.figures(quick), *census.figures(quick)])


def times() -> list[Time]:
    """Return the seconds of the last run."""
    found = {**survey.seconds, **census.seconds}
    return [Time(where, what, None, took) for (where, what), took in found.items()]


def draw(rows: list[Row]) -> list[Path]:
    """Draw Census, and write the tables and the page that the documentation shows."""
    found = {(row.where, row.what): row.shown for row in rows}
    folder = HERE / "utility"
    written = [grid_figure(folder / "census.svg", census.panels(found), "k")]
    texts = {"EUSILC.md": survey.table(found), "CENSUS.md": census.table(found)}
    if survey.page:
        texts["PAGE.md"] = f"```text\n{survey.page[-1]}\n```\n"
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
        written.append(folder / name)
    return written
