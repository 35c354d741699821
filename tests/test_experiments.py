"""The experiments' frame, their smallest cases, and what their committed results must say."""

import collections
import importlib
import re

import pyarrow as pa
import pytest

import microagg as ma
from experiments import _table
from experiments.__main__ import main, names
from experiments._claims import ALMOST_DOUBLE, ALMOST_TRIPLE, NO_END, Claim, least_seconds, lines
from experiments._table import Row, Time, format_results, read_expected, read_results, unmatched, write_times


def committed(name):
    """Read RESULTS.md, which a full run writes; without it there is nothing to judge."""
    if not (_table.HERE / name / "RESULTS.md").exists():
        pytest.skip(f"experiments/{name}/RESULTS.md is not written yet: python -m experiments {name}")
    return read_results(name)


every = pytest.mark.parametrize("name", names())


@every
def test_expected_figures_parse(name):
    found = read_expected(name)
    assert found
    assert all(e.where and e.page and e.what for e in found)


@every
def test_results_are_in_the_written_form_and_none_is_missing(name):
    title, rows, notes = committed(name)
    assert format_results(title, rows, notes) == (_table.HERE / name / "RESULTS.md").read_text(encoding="utf-8")
    assert not unmatched(name, rows)
    printed = {(e.where, e.what): e.expected for e in read_expected(name)}
    assert all(row.expected == printed.get((row.where, row.what), row.expected) for row in rows)
    assert not any(row.verdict == _table.SKIPPED for row in rows)


def row(expected, ours, tolerance="", reason=""):
    return Row("table 1", "1", "IL", expected, ours, tolerance, reason)


@pytest.mark.parametrize(
    ("given", "shown", "difference", "verdict"),
    [
        (row("5.6535", 5.65352), "5.6535", "+0.0000", "equal"),
        (row("5.6535", 5.65364), "5.6536", "+0.0001", "equal"),
        (row("5.6535", 5.65371), "5.6537", "+0.0002", "differs"),
        (row("10.00", 10.2, "2 %"), "10.20", "+2.00 %", "within tolerance"),
        (row("10.00", 9.79, "2 %"), "9.79", "−2.10 %", "differs"),
        (row("10.02", 11.5, "1.5"), "11.50", "+1.48", "within tolerance"),
        (row("16384", 16384), "16384", "+0", "equal"),
        (row("16384", 16385), "16385", "+1", "differs"),
        (row("4", 5, "1"), "5", "+1", "within tolerance"),
        (row("1 512.68", 1512.7), "1512.70", "+0.02", "differs"),
        (row("yes", "yes"), "yes", "", "equal"),
        (row("yes", "no"), "no", "", "differs"),
        (row("", 1 / 3), "0.333333", "", "not printed"),
        (row("1", None, reason="no such file"), "", "", "not to be had"),
        (row("1", None, reason="skipped: too large"), "", "", "skipped"),
    ],
)
def test_verdicts(given, shown, difference, verdict):
    assert (given.shown, given.difference, given.verdict) == (shown, difference, verdict)


def test_what_differs_needs_a_reason_and_a_cell_is_one_cell():
    with pytest.raises(ValueError, match="no reason is given"):
        format_results("t", [row("1.0", 2.0)])
    with pytest.raises(ValueError, match="no reason is given"):
        format_results("t", [row("1.0", None)])
    with pytest.raises(ValueError, match="may stand in a cell"):
        format_results("t", [row("1.0", 2.0, reason="a | b")])


def test_every_expected_figure_needs_a_row(tmp_path):
    (tmp_path / "expected.csv").write_text("where,page,what,expected,note\ntable 1,1,IL,1.0,\ntable 1,1,SSE,2,\n")
    with pytest.raises(ValueError, match="no row for table 1: SSE"):
        _table.write_results(tmp_path, "t", [row("1.0", 1.0)])
    both = [row("1.0", 1.0), Row("table 1", "1", "SSE", "2", None, "", "lost")]
    path = _table.write_results(tmp_path, "t", both, ["A note."])
    first = path.read_bytes()
    assert _table.write_results(tmp_path, *[read_results(tmp_path)[i] for i in (0, 1, 2)]).read_bytes() == first
    assert "equal: 1; not to be had: 1." in first.decode()
    assert "| IL | 30 | 0.5 | 60 |" in write_times(tmp_path, "t", [Time("table 1", "IL", 30, 0.5)]).read_text()


def test_a_figure_given_twice_or_other_columns_are_refused(tmp_path):
    (tmp_path / "expected.csv").write_text("where,page,what,expected,note\na,1,b,1,\na,1,b,2,\n")
    with pytest.raises(ValueError, match="says twice"):
        read_expected(tmp_path)
    (tmp_path / "expected.csv").write_text("where,what\na,b\n")
    with pytest.raises(ValueError, match="has the columns"):
        read_expected(tmp_path)


def test_an_unknown_experiment_is_named(capsys):
    with pytest.raises(SystemExit):
        main(["nothing"])
    assert "no experiment nothing" in capsys.readouterr().err


def ours(name):
    return {(row.where, row.what): row for row in committed(name)[1]}


def same_but_for_what_was_skipped(name, rows):
    """Whatever a small run gives is what stands in RESULTS.md."""
    committed = ours(name)
    ran = [row for row in rows if row.verdict not in (_table.SKIPPED, _table.NOT_HAD)]
    for row in ran:
        stored = committed[row.where, row.what]
        assert (row.shown, row.verdict) == (stored.shown, stored.verdict), row.what
    return len(ran)


@pytest.mark.campaign
@pytest.mark.casc
def test_the_real_files_of_the_iamat_papers_give_the_committed_figures():
    module = importlib.import_module("experiments.iamat.run")
    rows = module.run(True, 1100)
    assert not unmatched("iamat", rows)
    assert same_but_for_what_was_skipped("iamat", rows) == 21 + 30 + 12 + 13  # tables II and III, figure 1, words
    assert len(module.times()) == 14


@pytest.mark.casc
def test_the_real_file_of_the_orthant_paper_gives_the_committed_figures(monkeypatch):
    module = importlib.import_module("experiments.orthants.run")
    monkeypatch.setattr(module.real, "one_at_a_time", lambda *_: 1.0)
    monkeypatch.setattr(module.real, "ORDERS", 1)
    rows = module.run(True, 5000)
    assert not unmatched("orthants", rows)
    assert same_but_for_what_was_skipped("orthants", rows) == 12 + 7  # table 5 and section 3.3
    assert module.claims == []


@pytest.mark.campaign
@pytest.mark.parametrize("name", ["iamat", "orthants"])
def test_figures_are_drawn_the_same_from_the_committed_results(name, tmp_path, monkeypatch):
    module = importlib.import_module(f"experiments.{name}.run")
    rows = committed(name)[1]
    (tmp_path / name).mkdir()
    monkeypatch.setattr(module, "HERE", tmp_path)
    first = {path.name: path.read_bytes() for path in module.draw(rows)}
    assert first == {path.name: path.read_bytes() for path in module.draw(rows)}
    assert sorted(first) == sorted(path.name for path in (_table.HERE / name).glob("*.svg"))


REPRODUCED = [
    ("iamat", "IAMAT table II", "Tarragona, k=3: IAMAT IL", "15.6023"),
    ("iamat", "IAMAT table II", "Tarragona, k=4: IAMAT IL", "19.2426"),
    ("iamat", "IAMAT table II", "Tarragona, k=5: IAMAT IL", "22.5741"),
    ("iamat", "IAMAT table II", "Census, k=3: IAMAT IL", "5.3639"),
    ("iamat", "IAMAT table II", "Census, k=4: IAMAT IL", "7.2170"),
    ("iamat", "IAMAT table II", "Census, k=5: IAMAT IL", "8.8428"),
    ("orthants", "2^d-tree table 5", "EIA, L=200, k=3: univariate SSE", "503.4"),
    ("orthants", "2^d-tree table 5", "EIA, L=100, k=3: 2^d-tree SSE", "453.7"),
    ("orthants", "2^d-tree table 5", "EIA, L=200, k=3: 2^d-tree SSE", "460.7"),
    ("orthants", "2^d-tree table 5", "EIA, L=100, k=5: 2^d-tree SSE", "689.0"),
    ("orthants", "2^d-tree table 5", "EIA, L=200, k=5: 2^d-tree SSE", "711.4"),
    ("orthants", "2^d-tree table 4", "d=2: 2^d-tree SSE", "4.53"),
    ("orthants", "2^d-tree table 4", "d=3: 2^d-tree SSE", "533.3"),
    ("orthants", "2^d-tree table 4", "d=4: 2^d-tree SSE", "6317"),
    ("orthants", "2^d-tree table 4", "d=5: 2^d-tree SSE", "30754"),
    ("orthants", "2^d-tree table 4", "d=10: 2^d-tree SSE", "916509"),
]


@pytest.mark.parametrize(("name", "where", "what", "figure"), REPRODUCED)
def test_figures_that_were_settled_stand_in_the_results(name, where, what, figure):
    digits = len(figure.partition(".")[2])
    assert f"{float(ours(name)[where, what].shown):.{digits}f}" == figure


EQUAL = [
    *(("iamat", "IAMAT table II", f"Census, k={k}: MDAV IL") for k in (3, 4, 5, 6)),
    *(("iamat", "IAMAT table III", f"Census, k={k}, MDAV: G_IL") for k in (3, 4, 5)),
    *(("iamat", "IAMAT table III", f"Census, k={k}, IAMAT: G_IL") for k in (3, 4, 5)),
    *(("iamat", "IAMAT figure 1", f"Census, k={k}, {method}: G_IL") for k in (3, 4, 5) for method in ("MDAV", "IAMAT")),
    *(
        ("iamat", "IAMAT table II", f"Census, k={k}: {figure}")
        for k in (3, 4, 5, 6)
        for figure in ("IAMAT IL", "improvement")
    ),
    ("iamat", "IAMAT table II", "Tarragona, k=3: IAMAT IL"),
    *(("iamat", "IAMAT table III", f"Census, k={k}, {method}: ID") for k in (3, 4, 5) for method in ("MDAV", "IAMAT")),
    *(("orthants", "2^d-tree table 5", f"EIA, k={k}: SSE without blocks") for k in (3, 5)),
]


@pytest.mark.parametrize(("name", "where", "what"), EQUAL)
def test_figures_that_the_papers_share_are_equal(name, where, what):
    assert ours(name)[where, what].verdict == "equal"


ALL_GROUPS = {
    **{f"Tarragona, k={k}": loss for k, loss in ((3, "15.6073"), (4, "19.2677"), (5, "22.6214"))},
    **{f"Census, k={k}": loss for k, loss in ((3, "5.3736"), (4, "7.2467"), (5, "8.9322"))},
}


@pytest.mark.parametrize("label", ALL_GROUPS)
def test_the_loss_of_all_groups_stands_beside_the_printed_reading(label):
    assert f"all groups counted {ALL_GROUPS[label]}" in ours("iamat")["IAMAT table II", f"{label}: IAMAT IL"].reason


def test_no_tolerance_is_allowed_on_the_papers_own_files():
    for name, files in (("iamat", ("Tarragona", "Census")), ("orthants", ("EIA",))):
        found = [row for row in committed(name)[1] if row.what.startswith(files)]
        assert len(found) >= 12
        assert not any(row.tolerance for row in found)
        assert {row.verdict for row in found} == {"equal", "differs"}


def test_what_is_not_explained_on_tarragona_says_what_was_tried():
    found = ours("iamat")
    whats = [f"Tarragona, k={k}: {method} IL" for k in (3, 4, 5) for method in ("MDAV", "IAMAT")]
    whats.remove("Tarragona, k=3: IAMAT IL")
    for what in whats:
        row = found["IAMAT table II", what]
        assert row.verdict == "differs"
        assert row.reason.startswith("tried: ")
        assert row.reason.endswith("none is the paper's")


def test_table_5_was_made_by_sorting_a_column():
    found = ours("orthants")
    for k in (3, 5):
        row = found["2^d-tree table 5", f"EIA, L=200, k={k}: univariate SSE"]
        assert abs(float(row.shown) / float(row.expected) - 1) < 0.001
        assert "column 2, blocks of L records, is nearest" in row.reason
    words = {row.what: row.shown for row in committed("orthants")[1] if row.where.endswith("section 3.3")}
    assert [words[what] for what in words if "column 2" in what] == ["yes", "yes"]
    assert [words[what] for what in words if "column 1" in what or "every column" in what] == ["no", "no", "no"]


def test_linkage_is_described_alike_wherever_it_is():
    places = [
        _table.HERE / "iamat" / "RESULTS.md",
        *(_table.HERE.parent / "docs" / f"{p}.md" for p in ("judging", "errata")),
    ]
    for place in places:
        text = " ".join(place.read_text(encoding="utf-8").split())
        assert (
            "cannot be the share of records linked to themselves: k records are identical, so at most 1 in k is."
            in text
        )
        assert "may be the share linked to the right group" in text
        assert "no reading tried gives all six figures" in text


@pytest.mark.parametrize(
    ("measured", "limits", "word"),
    [
        (2.0, ALMOST_DOUBLE, "yes"),
        (1.4, ALMOST_DOUBLE, "no"),
        (1.6, ALMOST_DOUBLE, None),
        (2.4, ALMOST_DOUBLE, None),
        (2.7, ALMOST_DOUBLE, "no"),
        (3.0, ALMOST_TRIPLE, "yes"),
        (0.3, (0.0, 0.5), "yes"),
        (0.48, (0.0, 0.5), None),
        (0.6, (0.0, 0.5), "no"),
        (20.0, (1.0, NO_END), "yes"),
        (1.0, (60.0, NO_END), "no"),
    ],
)
def test_a_word_about_time_needs_a_margin(measured, limits, word):
    claim = Claim("times", "a claim", measured, limits, 1.56)
    assert claim.word == word
    assert claim.reason.startswith("too near to tell") == (word is None)
    assert claim.reason.endswith("by the paper's own seconds 1.56")
    assert [line[-2:] for line in lines([claim])[1:]] == [[f"{measured:.3g}", word or "too near to tell"]]


def test_seconds_are_the_least_of_turns_and_the_first_does_not_count():
    calls = []
    found = least_seconds({"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}, 2)
    assert calls == ["a", "b"] * 3
    assert set(found) == {"a", "b"}
    assert all(0 <= seconds < 1 for seconds in found.values())


def scalability(kind):
    return [
        row
        for row in committed("iamat")[1]
        if row.where.startswith("IAMAT-C table 2") and row.what.startswith(f"{kind}, ")
    ]


def test_on_uniform_data_the_scalability_table_is_the_papers():
    found = scalability("uniform")
    assert len(found) == 3 * (10 + 8 + 8)
    assert {row.verdict for row in found} <= {"equal", "within tolerance"}
    assert {row.tolerance for row in found} == {"2 %", "1.5"}
    losses = {row.what: float(row.shown) for row in found}
    for point, mdav, iamat in (("d=10", 10.54, 9.53), ("d=40", 37.43, 34.87), ("k=10", 23.75, 21.54)):
        assert losses[f"uniform, {point}: MDAV IL"] == pytest.approx(mdav, rel=0.01)
        assert losses[f"uniform, {point}: IAMAT IL"] == pytest.approx(iamat, rel=0.01)


def test_on_normal_data_the_papers_figures_are_those_of_uniform_data():
    found = scalability("normal")
    assert len(found) == 3 * (10 + 8 + 8)
    assert all("the paper's within tolerance" in row.reason for row in found if row.verdict == "differs")
    losses = {(row.where, row.what): float(row.shown) for row in found}
    where = next(row.where for row in found if "d=10" in row.what)
    assert losses[where, "normal, d=10: MDAV IL"] == pytest.approx(12.63, rel=0.01)
    assert losses[where, "normal, d=10: IAMAT IL"] == pytest.approx(11.64, rel=0.01)


def test_iamat_loses_less_at_every_point():
    for row in scalability("uniform") + scalability("normal"):
        if row.what.endswith("improvement"):
            assert float(row.shown) > 0
    claims = [row for row in committed("iamat")[1] if "IAMAT below MDAV" in row.what]
    assert len(claims) == 8
    assert all(row.verdict == "equal" for row in claims)


@pytest.mark.campaign
@pytest.mark.casc
def test_census_gives_the_committed_costs_of_closeness():
    module = importlib.import_module("experiments.diversity.run")
    rows = module.run(True)
    assert not unmatched("diversity", rows)
    assert same_but_for_what_was_skipped("diversity", rows) == 2 * (1 + 6 * 5)


def test_what_differs_in_the_costs_of_closeness_is_how_it_is_measured():
    found = [row for row in committed("diversity")[1] if row.verdict == "differs"]
    assert found
    assert all("swap" in row.what and "over ranks" in row.reason for row in found)


def test_the_table_of_costs_follows_from_the_results():
    module = importlib.import_module("experiments.diversity.run")
    shown = (_table.HERE / "diversity" / "COSTS.md").read_text(encoding="utf-8")
    seconds = collections.defaultdict(float)
    cells = [
        [line.rsplit("|", 2)[0] for line in text.splitlines()]
        for text in (shown, module.costs(committed("diversity")[1], seconds))
    ]
    assert cells[0] == cells[1]


def test_refined_adults_lose_little_at_two_different_values():
    row = ours("diversity")["EU-SILC, pl030, k=3", "l=2: auto, refined, loss"]
    assert float(row.shown) <= 2.3


@pytest.mark.casc
def test_the_quick_ways_give_the_committed_results_of_researchers():
    module = importlib.import_module("experiments.utility.run")
    rows = module.run(True)
    assert not unmatched("utility", rows)
    assert same_but_for_what_was_skipped("utility", rows) == 6 + 3 * 11 + 3 * 7


def test_analyses_and_measures_run_on_small_files():
    survey = importlib.import_module("experiments.utility.survey")
    census = importlib.import_module("experiments.utility.census")
    people = ma.datasets.households(600, seed=0, frame="pandas")
    columns = {
        "age": "age",
        "income": "eqIncome",
        "size": "hsize",
        "sex": "rb090",
        "region": "db040",
        "status": "pl030",
    }
    columns |= {"education": "pb220a", "wage": "py010n", "rent": "hy090n", "weight": "rb050"}
    made = people[list(columns)].rename(columns=columns).assign(pb220a=people["education"].astype("str"))
    frame = pa.Table.from_pandas(made.assign(db040=people["region"].astype("str")), preserve_index=False)
    same = survey.results_of(frame, frame)
    assert (same["worst mean"], same["overlap"]) == ("0.00", "1.000")
    way = next(way for way in survey.WAYS if way.name == "nine keys")
    release = survey.release_of(way, frame)
    found = survey.results_of(frame, release.data, release.information.percent)
    assert tuple(found) == survey.FIGURES
    assert float(found["poverty"]) < float(same["poverty"])
    numbers = ma.datasets.survey(200, seed=0).select(["age", "income", "tax"])
    release = ma.protect(numbers, k=5, rounding="none", moments="covariance")
    measured = census.measures_of(numbers, release, [ma.Analysis("linear", ["tax", "age", "income"])])
    assert tuple(measured) == tuple(census.MEASURES)
    assert [measured[what] for what in ("pMSE", "correlation", "variance", "slope")] == [
        "0.0000",
        "0.000",
        "0.0",
        "0.00",
    ]


def test_tables_and_picture_of_results_follow_from_the_committed_ones(tmp_path, monkeypatch):
    module = importlib.import_module("experiments.utility.run")
    (tmp_path / "utility").mkdir()
    monkeypatch.setattr(module, "HERE", tmp_path)
    monkeypatch.setattr(module.survey, "page", [])
    for path in module.draw(committed("utility")[1]):
        assert path.read_bytes() == (_table.HERE / "utility" / path.name).read_bytes(), path.name


def keeps_all(figures):
    """Tell whether the figures of a way are all near those of the original file."""
    near = [("poverty", 14.4, 0.7), ("Gini", 26.5, 0.5), ("zeros", 38.1, 0.5), ("worst mean", 0.0, 0.5)]
    near += [("age", 0.085, 0.0025), ("age^2", -0.0009, 0.00005), ("male", 0.47, 0.01)]
    return all(abs(figures[what] - value) <= most for what, value, most in near)


def test_some_ways_keep_all_results_of_eu_silc():
    survey = importlib.import_module("experiments.utility.survey")
    found = {(row.where, row.what): row.shown for row in committed("utility")[1]}
    names = [way.name for way in survey.WAYS]
    figures = {name: {what: float(found[f"{survey.WHERE}: {name}", what]) for what in survey.FIGURES} for name in names}
    kept = [name for name in names if keeps_all(figures[name])]
    assert "strata, refined, variance, importance 2" in kept
    assert all(name.startswith("strata, refined") for name in kept)


PUBLIC_ONLY = [
    *(f"iamat/{name}.py" for name in ("base", "readings", "risk", "run", "timing", "words")),
    *(f"orthants/{name}.py" for name in ("base", "real", "run", "timing")),
    *("diversity/run.py", "utility/run.py", "utility/survey.py", "utility/census.py"),
]


@pytest.mark.parametrize("name", PUBLIC_ONLY)
def test_experiments_use_public_names_only(name):
    text = (_table.HERE / name).read_text(encoding="utf-8")
    assert not re.search(r"microagg\.(?!datasets)|from microagg|import microagg(?! as ma)", text)
