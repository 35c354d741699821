"""The experiments on dependence trees: their figures parse, their smallest cases run, and what agreed still does."""

import re

import numpy as np
import pytest

from experiments._table import (
    DIFFERS,
    EQUAL,
    NOT_HAD,
    WITHIN,
    Row,
    format_results,
    of_made_data,
    read_expected,
    read_results,
    unmatched,
)
from experiments.ama import run as ama
from experiments.emad import claims, losses, trees
from experiments.emad import run as emad

FOLDERS = ("ama", "emad")


@pytest.mark.parametrize(("folder", "least"), [("ama", 98), ("emad", 483)])
def test_the_papers_figures_parse(folder, least):
    expected = read_expected(folder)
    assert len(expected) >= least
    assert all(e.where and e.page and e.what for e in expected)
    assert all(e.expected or e.note for e in expected)


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_committed_results_answer_every_figure(folder):
    title, rows, notes = read_results(folder)
    assert unmatched(folder, rows) == []
    assert format_results(title, rows, notes) == (emad.HERE.parent / folder / "RESULTS.md").read_text(encoding="utf-8")
    assert all(row.reason for row in rows if row.verdict in (DIFFERS, NOT_HAD))


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_figures_were_drawn(folder):
    place = emad.HERE.parent / folder
    names = re.findall(r"\]\((\./\w+\.\w+)\)", (place / "RESULTS.md").read_text(encoding="utf-8"))
    assert names
    assert all((place / name).stat().st_size > 100 for name in names)


def committed(folder, pattern):
    found = [row for row in read_results(folder)[1] if re.search(pattern, f"{row.where}, {row.what}")]
    assert found
    return found


@pytest.mark.parametrize(
    ("folder", "pattern", "count"),
    [
        ("emad", r"^Table [5-8], (Tarragona|Census)[^:]*: (choices|possibilities)", 50),  # all top degrees
        ("emad", r"^Table 4( by CBFS.*)?, (Tarragona|Census), 3 columns: columns of", 8),
        ("emad", r"^Table 4, (Tarragona|Census), 3 columns: (lowest|highest) IL", 4),
        ("emad", r"^Table [78], (Tarragona|Census)[^:]*: [\d-]+$", 24),
        ("ama", r"distance of A", 15),
        ("ama", r"^Running.*key attributes$", 1),
    ],
)
def test_what_was_reproduced_is_equal(folder, pattern, count):
    rows = [row for row in committed(folder, pattern) if row.expected]
    assert len(rows) >= count - count // 3
    assert [row.what for row in rows if row.verdict != EQUAL] == []


def test_losses_by_cbfs_agree_within_two_percent():
    rows = committed(
        "emad", r"^Table (4|5|7|8) by CBFS.*(Tarragona|Census)(, 3 columns: (lowest|highest|mean) IL|.*: [\d-]+$)"
    )
    assert all(row.verdict in (EQUAL, WITHIN) for row in rows)
    for file, best, mean in (("Tarragona", 20.67, 25.17), ("Census", 15.67, 21.21)):
        at = f"^Table 4 by CBFS.*{file}, 3 columns: "
        assert float(committed("emad", at + "lowest IL")[0].shown) == pytest.approx(best, abs=0.006)
        assert float(committed("emad", at + "mean IL")[0].shown) == pytest.approx(mean, abs=0.006)


def test_the_smallest_cases_of_ama_run():
    for e in read_expected("ama"):
        if e.where.startswith("Running"):
            (row,) = ama.example(e)
            assert (row.verdict == DIFFERS) == ("given" in e.what or "degree" in e.what)
        elif e.where == "Theorem 2":
            (row,) = ama.theorem(e)
            odd = "5 " in e.what or "7 " in e.what or "9 " in e.what
            assert (row.verdict == DIFFERS) == ("path" in e.what and odd)
        elif e.where in ama.SMALL:
            (row,) = ama.SMALL[e.where](e)
            assert row.verdict == EQUAL
    assert ama.measure("AMA", 400, 5, 6).keys == 2
    assert ama.measure("MA", 400, 5, 6).loss < ama.measure("AMA", 400, 5, 6).loss


def test_the_loss_as_printed_leaves_out_the_last_group():
    Z = np.random.default_rng(0).standard_normal((30, 4))
    Z = (Z - Z.mean(axis=0)) / Z.std(axis=0)
    free, errors = np.arange(30), []
    while free.size:
        seed = free[np.argmax((Z[free, :2] ** 2).sum(axis=1))]
        group = free[np.argsort(((Z[free, :2] - Z[seed, :2]) ** 2).sum(axis=1))[:3]]
        errors.append(((Z[group] - Z[group].mean(axis=0)) ** 2).sum())
        free = np.setdiff1d(free, group)
    assert losses.loss_as_printed(Z, (1, 2)) == pytest.approx(100 * sum(errors[:-1]) / Z.size)


def test_relabelled_bits_are_learnt_alike():
    shares = {name: trees.control_share(name, 150, 30) for name in trees.CONTROLS}
    assert abs(shares["related"] - shares["unrelated, edges as strong as in the related"]) <= 25
    assert shares["related"] > shares["unrelated"]


@pytest.mark.casc
def test_the_smallest_cases_of_emad_run():
    wanted = {
        ("Table 7", "Tarragona, width 100 000: choices"),
        ("Table 8", "Census: 4-10-5"),
        ("Table 6", "Census, width 1 000: 1-10-7-12"),
        ("Table 5", "Census, width 5 000: 2-10-8"),
    }
    rows = {}
    for e in read_expected("emad"):
        if (e.where, e.what) in wanted:
            rows[e.where] = emad.ANSWERS[e.where](e, True)[0]
    assert [rows[f"Table {t}"].verdict for t in (6, 7, 8)] == [EQUAL] * 3
    assert rows["Table 5"].shown == "16.2322"  # printed 16.2332


def test_what_only_made_data_show_is_not_judged():
    row = Row("Table 4", "4", "mean IL", "39.7095", 40.891, "5 %", "ten files give 39 to 42")
    told = of_made_data(row)
    assert (told.verdict, told.tolerance, told.shown) == (NOT_HAD, "", "")
    assert told.reason.endswith("on a file made in its place: 40.8910 (ten files give 39 to 42)")


@pytest.mark.parametrize(
    ("folder", "made", "sizes"),
    [("emad", r", Sim_\d", r"^Table 4, .*: subsets$"), ("ama", r"^(Table 4|Figure 5|Figure 6|Section 5)", "^$")],
)
def test_no_made_file_is_judged(folder, made, sizes):
    """The number of subsets is arithmetic: it needs no file."""
    for row in committed(folder, made):
        judged = re.search(sizes, f"{row.where}, {row.what}")
        assert (row.verdict == EQUAL) if judged else (row.verdict == NOT_HAD), row.what


def test_the_records_that_a_measure_needs_rest_on_an_interval(monkeypatch):
    found = np.zeros((40, len(claims.SIZES)), dtype=bool)
    ahead = found.copy()
    ahead[:20, 3] = True
    mixed = found.copy()
    mixed[0, 3] = True
    files = {"emim": found, "chi2": ahead, "normal": mixed}
    monkeypatch.setattr(claims, "trees_found", lambda _, measure, __: files[measure])
    words = ("fewer", "more")
    assert claims.judged(("related",), "chi2", "emim", words, 40)[0] == "fewer"
    assert claims.judged(("related",), "emim", "chi2", words, 40)[0] == "more"
    assert claims.judged(("related",), "normal", "emim", words, 40)[0] == "no difference shown"
    said = claims.judged(("related",), "chi2", "emim", words, 40)[1]
    assert "+6.25 points" in said
    assert "200: +50.0" in said


def test_both_measures_see_the_same_files():
    first, second = (claims.trees_found("related", measure, 3) for measure in ("emim", "chi2"))
    assert first.shape == second.shape == (3, len(claims.SIZES))
    assert first[:, -1].all()
    assert second[:, -1].all()


@pytest.mark.parametrize(("ratio", "word"), [(2.1, "more"), (1.9, "no clear difference"), (0.4, "less")])
def test_a_word_on_time_needs_a_wide_margin(ratio, word):
    assert claims.against(ratio, "more", "less") == word
    assert ama.trend([1.0, 1.05], ama.MARGIN) == "stays level"
    assert ama.trend([1.0, 1.3], ama.MARGIN) == "rises"


@pytest.mark.parametrize("rho", [0.1, -0.6, 0.8])
def test_measures_of_normal_pairs_are_the_known_ones(rho):
    emim, chi2 = trees.normal_pair(rho)
    assert emim == pytest.approx(-0.5 * np.log(1 - rho**2), rel=1e-6)
    assert chi2 == pytest.approx(rho**2 / (1 - rho**2), rel=1e-6)


def test_time_by_brute_force_does_not_hang_on_the_values():
    """The note says so; a factor of two would show a search that skips records."""
    rng = np.random.default_rng(0)
    files = [ama.census(20_000)[:, :5], rng.random((20_000, 5))]
    least = []
    for X in files:
        Z = (X - X.mean(axis=0)) / X.std(axis=0)
        least.append(claims.seconds(lambda Z=Z: ama.ma.MDAV(20, search="brute").fit_predict(Z), 5))
    assert 0.5 < least[0] / least[1] < 2
