"""The pictures: drawn without Matplotlib, whole, without ids, every name escaped, numbers as they are read."""

import math
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

import microagg as ma
from microagg.judge.parts import Bar, Correlations, Distribution, JudgedTree, RecordRisk
from microagg.measures.criterion import Criterion
from microagg.report import build, pictures
from microagg.report.alternatives import MapRow, MapSection
from microagg.report.html import render_section
from microagg.report.pictures.scales import Scale, cut_short, exact, labels, round_values, text_width, ticks

BAD = '</svg><script>alert("1")</script> {{ 7 * 7 }}'
BINS = Distribution("a & b", (0.0, 10.0, 20.0, 30.0), (10.0, 60.0, 30.0), (5.0, 70.0, 25.0), 0.0)
CHANGES = Correlations((BAD, "b"), ((0.0, -0.2), (-0.2, 0.0)), ((BAD, "b", -0.2),), 0.2)
RECORDS = RecordRisk((0.0, 10.0, 20.0), (75.0, 25.0), (), 20.0, quantiles=(("the highest chance", 18.0),))
TREE = JudgedTree("normal", (BAD, "b", "c", "alone"), ((0, 1, None), (1, 2, 0.5)), (1,), "")


G_IL = Criterion("G_IL", "%", title="information loss")


def _row(method, k, g_il, g_dr, best=False):
    return MapRow(method, k, 1.0, best, "", {"G_IL": g_il, "G_DR": g_dr})


def _map(rows, frontier, axis=G_IL, head="The lowest score"):
    return MapSection(tuple(rows), tuple(frontier), "", (), axis, head)


MAP = _map((_row(BAD, 3, 5.0, 9.0), _row(BAD, 5, 8.0, 4.0)), ((5.0, 9.0), (8.0, 4.0)))
DRAWN = {
    "distribution": pictures.distribution(BINS),
    "correlations": pictures.correlations(CHANGES),
    "records": pictures.record_risk(RECORDS),
    "tree": pictures.tree(TREE),
    "map": pictures.risk_map(MAP),
}


@pytest.mark.parametrize("name", DRAWN)
def test_a_picture_is_one_sound_element_and_harms_no_page(name):
    root = ET.fromstring(DRAWN[name])
    assert (root.tag, root.attrib["role"]) == ("svg", "img")
    assert len(root.attrib["aria-label"]) > 20
    tags = {element.tag for element in root.iter()}
    assert tags <= {"svg", "g", "path", "rect", "circle", "text", "title"}
    for element in root.iter():
        assert not {"id", "href", "src"} & set(element.attrib)
        assert not any(key.startswith("on") for key in element.attrib)
    assert "<script" not in DRAWN[name]
    assert not re.search(r"\b(nan|inf|None)\b", DRAWN[name])


@pytest.mark.parametrize("name", ["correlations", "tree", "map"])
def test_a_long_or_odd_name_is_told_whole_and_escaped(name):
    assert "{{ 7 * 7 }}" in DRAWN[name]
    root = ET.fromstring(DRAWN[name])
    assert any(BAD in (title.text or "") for title in root.iter("title"))


def test_who_cannot_see_a_picture_is_told_what_it_shows():
    told = {name: ET.fromstring(drawn).attrib["aria-label"] for name, drawn in DRAWN.items()}
    assert told["distribution"] == (
        "a & b, before and after masking, in 3 bins. Most records: 10 to 20: 60\u00a0% before, 70\u00a0% after."
    )
    assert "The largest" in told["correlations"]
    assert "−0.20" in told["correlations"]
    assert "18\u00a0%" in told["records"]
    assert "4 columns" in told["tree"]
    assert "“b”" in told["tree"]


def test_what_colour_tells_something_else_tells_too():
    cells = ET.fromstring(
        pictures.correlations(Correlations(("a", "b"), ((0.0, 0.3), (-0.3, 0.0)), (("a", "b", 0.3),), 0.3))
    ).findall("rect")
    assert len({cell.attrib["rx"] for cell in cells}) == 2  # squares rose, discs fell
    marks = re.findall(r'class="mark-\d" transform="[^"]*" d="([^"]*)"', pictures.risk_map(_map_of(7)))
    assert len(set(marks)) == 7


def _map_of(methods):
    facts = [_row(f"m{j}", 3, 1.0 + j, 9.0 - j) for j in range(methods)]
    return _map(facts, [(one.figures["G_IL"], one.figures["G_DR"]) for one in facts])


def test_bars_are_as_high_as_their_share_and_as_low_as_they_are_wide():
    one = Distribution("a", (0.0, 1.0, 2.0, 4.0), (), (20.0, 40.0, 40.0), None)
    path = ET.fromstring(pictures.distribution(one)).findall("path")
    assert path[0].attrib["class"] == "masked"
    floor, top = 92.0, float(re.search(r"V([\d.]+)H", path[0].attrib["d"])[1])
    ends = [float(re.search(r"V([\d.]+)H", end.attrib["d"])[1]) for end in path[1:3]]
    assert [(floor - level) / (floor - top) for level in ends] == pytest.approx([0.5, 0.5], abs=0.01)


def test_a_bar_far_above_the_others_is_cut_off_and_told():
    drawn = pictures.distribution(Distribution("a", (0.0, 1.0, 2.0, 3.0), (90.0, 6.0, 4.0), (88.0, 7.0, 5.0), 0.0))
    assert "↑ 90\u00a0% → 88\u00a0%" in drawn
    assert "↑" not in DRAWN["distribution"]


def test_each_bin_is_told_where_one_points_at_it():
    titles = [title.text for title in ET.fromstring(DRAWN["distribution"]).iter("title")]
    assert titles == [
        "below 10: 10\u00a0% before, 5\u00a0% after",
        "10 to 20: 60\u00a0% before, 70\u00a0% after",
        "20 or more: 30\u00a0% before, 25\u00a0% after",
    ]
    shares = (30.0, 40.0, 30.0)
    whole = Distribution("a", (0.5, 1.5, 2.5, 3.5), shares, shares, None)
    titles = [title.text for title in ET.fromstring(pictures.distribution(whole)).iter("title")]
    assert [title.split(":")[0] for title in titles] == ["up to 1", "2", "3 or more"]
    merged = Distribution("a", (0.5, 1.5, 2.5, 3.5), (), shares, None)  # in public, of halves
    titles = [title.text for title in ET.fromstring(pictures.distribution(merged)).iter("title")]
    assert [title.split(":")[0] for title in titles] == ["below 1.5", "1.5 to 2.5", "2.5 or more"]


def test_a_map_of_nothing_finite_is_not_drawn_and_one_release_is():
    endless, alone = _row("a", 3, None, 1.0), _row("a", 3, 5.0, 5.0, best=True)
    assert pictures.risk_map(_map((endless,), ())) == ""
    drawn = pictures.risk_map(_map((alone, endless), ((5.0, 5.0),)))
    assert "The lowest score: a, k = 3." in drawn
    assert "information loss, G_IL (%)" in drawn


def test_where_more_is_better_the_map_has_more_on_the_left():
    within = Criterion("within", "%", "higher", "estimates within their intervals")
    rows = [MapRow("a", k, 1.0, k == 3, "best", {"within": 90.0 - k, "G_DR": 10.0 - k}) for k in (3, 9)]
    drawn = pictures.risk_map(_map(rows, (), within, "The best by within"))
    marks = [one for one in ET.fromstring(drawn).iter("path") if one.find("title") is not None]
    said = [one.find("title").text for one in marks]
    places = [float(re.search(r"translate\(([\d.]+)", one.get("transform"))[1]) for one in marks]
    assert said == ["a, k = 3: within 87\u00a0%, risk 7\u00a0%", "a, k = 9: within 81\u00a0%, risk 1\u00a0%"]
    assert places[0] < places[1]
    assert "within (%); higher is better" in drawn
    assert "risk against within of 2 releases. The best by within: a, k = 3." in drawn


@pytest.mark.parametrize(
    ("low", "high", "values"),
    [
        (0.0, 100.0, [0, 20, 40, 60, 80, 100]),
        (-0.5, 1.5, [-0.5, 0, 0.5, 1, 1.5]),
        (1990.2, 2011.0, [1995, 2000, 2005, 2010]),
        (1e-300, 9e-300, [2e-300, 4e-300, 6e-300, 8e-300]),
        (2.0**52, 2.0**52 + 1, [2.0**52]),
        (-1.7e308, 1.7e308, [-1e308, 0, 1e308]),
        (5.0, 5.0, [5.0]),
    ],
)
def test_ticks_are_few_and_round(low, high, values):
    assert round_values(low, high, 6) == pytest.approx(values)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([0, 20000, 40000], ["0", "20k", "40k"]),
        ([0, 2500, 5000, 7500], ["0", "2500", "5000", "7500"]),
        ([1995, 2000, 2005], ["1995", "2000", "2005"]),
        ([0, 500_000, 1_000_000], ["0", "0.5M", "1.0M"]),
        ([1_000_000, 1_000_010], ["1\u202f000\u202f000", "1\u202f000\u202f010"]),
        ([-0.5, 0.0, 0.5], ["−0.5", "0", "0.5"]),
        ([0, 2e-5], ["0", "2e−05"]),
        ([0, 1e300], ["0", "1e+300"]),
    ],
)
def test_an_axis_is_written_alike_throughout(values, words):
    assert labels(values) == words


def test_a_label_has_room():
    close = ticks(Scale(1_000_000.0, 1_000_040.0, 0.0, 60.0), 1_000_000.0, 1_000_040.0, 5)
    assert len(close) == 1  # two of these labels are wider than the axis
    part = ticks(Scale(0.0, 100_000.0, 0.0, 300.0), 10_000.0, 25_000.0, 5)  # they lie on a seventh of the axis
    assert all(b.place - a.place > 30.0 for a, b in pairwise(part))


def test_borders_are_written_in_full():
    assert [exact(value) for value in (0.1 + 0.2, 1234.5, 12345.0, -2.0, 1e20, 0.0)] == [
        "0.3", "1234.5", "12\u202f345", "−2", "1e+20", "0",
    ]  # fmt: skip


def test_names_are_cut_where_they_would_not_fit():
    assert cut_short("income", 100.0, 11.0) == "income"
    short = cut_short("a very long name of a column", 100.0, 11.0)
    assert short.endswith("…")
    assert text_width(short, 11.0) <= 100.0
    assert len(cut_short("日本語" * 20, 100.0, 11.0)) < len(cut_short("abc" * 20, 100.0, 11.0))
    assert cut_short("W" * 50, 1.0, 11.0) == "…"


def test_a_scale_holds_whatever_float64_does():
    assert Scale(-1.7e308, 1.7e308, 0.0, 10.0)(0.0) == pytest.approx(5.0)
    assert Scale(3.0, 3.0, 0.0, 10.0)(3.0) == 5.0


def test_columns_at_the_ends_of_float64_are_drawn():
    table = pa.table({"a": np.linspace(-1.5, 1.5, 60) * 1e308, "b": np.arange(60.0) * 1e-308, "c": np.arange(60.0)})
    for public in (False, True):
        model = build(ma.protect(table, 5), public=public)
        for one in model.distributions:
            if not one.note:
                assert all(
                    math.isfinite(float(number)) for number in re.findall(r' x="([^"]*)"', pictures.distribution(one))
                )


def test_a_section_can_be_had_by_itself():
    model = build(ma.protect(ma.datasets.survey(100, seed=0).select(["age", "income"]), 5))
    assert render_section(model, "risk").startswith('<section id="risk">')
    assert render_section(model, "map").strip() == ""


def test_a_report_needs_no_matplotlib(tmp_path):
    code = (
        "import sys, microagg as ma\n"
        "table = ma.datasets.survey(100, seed=0).select(['age', 'hours', 'wage', 'income'])\n"
        "release = ma.protect(table, k=5, select='emad')\n"
        "compared = ma.compare(table, ['mdav'], [3, 5])\n"
        f"release.report({str(tmp_path / 'a.html')!r}, comparison=compared)\n"
        f"release.report({str(tmp_path / 'b.html')!r}, public=True)\n"
        "print('matplotlib' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout == "False\n"
    assert "<svg" in (tmp_path / "a.html").read_text()


def test_matplotlib_is_asked_for_by_name_before_any_work(tmp_path):
    """Where it is not installed, a release, its report and a comparison are had without it."""
    code = (
        "import sys\n"
        "class Missing:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.startswith('matplotlib'):\n"
        "            raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, Missing())\n"
        "import importlib.util\n"
        "find = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda name: None if name == 'matplotlib' else find(name)\n"
        "import microagg as ma\n"
        "from microagg.cli import app\n"
        "from typer.testing import CliRunner\n"
        "table = ma.datasets.survey(100, seed=0).select(['age', 'hours', 'wage', 'income'])\n"
        "found = ma.compare(table, ['mdav'], [3, 5])\n"
        "X = ma.datasets.uniform(60, 3, seed=0)\n"
        "tree = ma.DependenceTree().fit(X)\n"
        "for draw in (found.plot, tree.plot, tree.plot_weights, ma.OrthantTree(max_block=20, k=3).fit(X).plot):\n"
        "    try:\n"
        "        draw()\n"
        "    except ma.errors.InvalidParameter as error:\n"
        "        print(error)\n"
        "ma.write(table, 'survey.csv')\n"
        "for words in ('tree survey.csv -k 3 -o tree.svg', 'compare survey.csv -k 3 -o map.png'):\n"
        "    result = CliRunner().invoke(app, words.split())\n"
        "    print(result.exit_code, result.exception)\n"
        "print(CliRunner().invoke(app, 'mask survey.csv -k 3 --yes -o out'.split()).exit_code)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=tmp_path)
    assert done.stdout.count("pip install 'microagg[plots]'") == 6
    assert done.stdout.rstrip().endswith("\n0")
    assert {path.name for path in tmp_path.iterdir()} == {"survey.csv", "out"}
    assert "<svg" in (tmp_path / "out" / "internal" / "report.html").read_text()


CATEGORIES = Distribution(
    "sex & more", (), (), (), None,
    bars=(Bar("category", BAD, 51.0, 50.5), Bar("others", "3", 30.0, 30.0), Bar("missing", "", 19.0, 19.5)),
)  # fmt: skip
APART = Distribution(
    "wage", (0.0, 10.0, 20.0, 30.0), (10.0, 20.0, 10.0), (8.0, 24.0, 8.0), 0.0,
    bars=(Bar("spike", "0", 38.1, 36.0), Bar("missing", "", 21.9, 21.9)),
)  # fmt: skip
DATES = Distribution(
    "born", (0.0, 365.0, 730.0, 1096.0), (20.0, 50.0, 30.0), (10.0, 60.0, 30.0), 0.0,
    marks=("1970", "1971", "1972", "1973"),
)  # fmt: skip


def test_categories_are_bars_as_long_as_their_shares():
    root = ET.fromstring(pictures.distribution(CATEGORIES))
    assert root.attrib["aria-label"].endswith(
        "3 others: 30\u00a0% before, 30\u00a0% after. missing: 19\u00a0% before, 19.5\u00a0% after."
    )
    lengths = {
        kind: [float(bar.attrib["width"]) for bar in root.iter("rect") if bar.attrib.get("class") == kind]
        for kind in ("before", "after")
    }
    assert np.array(lengths["before"]) / lengths["before"][0] == pytest.approx([1, 30 / 51, 19 / 51], abs=0.01)
    assert np.array(lengths["after"]) / lengths["before"][0] == pytest.approx([50.5 / 51, 30 / 51, 19.5 / 51], abs=0.01)
    assert "<script" not in pictures.distribution(CATEGORIES)
    masked = Distribution(
        "sex", (), (), (), None, bars=(Bar("category", "f", None, 51.0), Bar("others", "", None, 49.0))
    )
    drawn = pictures.distribution(masked)
    assert 'class="before"' not in drawn
    assert "others: 49\u00a0%" in drawn


def test_what_stands_apart_is_as_high_as_its_share_of_all_records():
    root = ET.fromstring(pictures.distribution(APART))
    frame = next(bar for bar in root.iter("rect") if bar.attrib.get("class") == "frame")
    whole = float(frame.attrib["height"])
    heights = [float(bar.attrib["height"]) for bar in root.iter("rect") if bar.attrib.get("class") == "before"]
    assert np.array(heights) / whole == pytest.approx([0.381, 0.219], abs=0.001)
    texts = [text.text for text in root.iter("text")]
    assert {"zero", "missing"} <= set(texts)
    assert any(text.startswith("38.1") and text.endswith("36.0") for text in texts)
    first = float(re.match(r"M([\d.]+)", root.find("path").attrib["d"])[1])
    assert first > 2 * 58  # the bins begin beside them
    assert "zero: 38.1\u00a0% before, 36\u00a0% after." in root.attrib["aria-label"]


def test_dates_are_written_as_dates():
    root = ET.fromstring(pictures.distribution(DATES))
    assert [text.text for text in root.iter("text")] == ["1970", "1971", "1972", "1973"]
    titles = [title.text.split(":")[0] for title in root.iter("title")]
    assert titles == ["before 1971", "1971 to 1972", "1972 or later"]
    public = Distribution("born", DATES.edges, (), (20.0, 50.0, 30.0), None, marks=("", "1971", "1972", ""))
    drawn = ET.fromstring(pictures.distribution(public))
    assert [text.text for text in drawn.iter("text")] == ["1971", "1972"]


def test_long_names_of_dates_have_room():
    marks = tuple(f"2024-02-{day:02} 12:00" for day in range(1, 21))
    shares = (5.0,) * 19
    one = Distribution("seen", tuple(map(float, range(20))), shares, shares, 0.0, marks=marks)
    texts = list(ET.fromstring(pictures.distribution(one)).iter("text"))
    places = [float(text.attrib["x"]) for text in texts]
    assert 1 < len(texts) <= 3
    assert min(np.diff(places)) > text_width(marks[0], 11.0)


def test_points_of_the_map_can_be_links_with_a_name_that_is_spoken():
    links = (pictures.Link("/a?b=1&c=2", True, ("kept",)), pictures.Link("/second"))
    root = ET.fromstring(pictures.risk_map(MAP, links))
    assert root.attrib["role"] == "group"  # an image would hide what is in it
    points = [one for one in root.iter() if one.tag == "a"]
    assert [one.attrib["href"] for one in points] == ["/a?b=1&c=2", "/second"]
    assert (
        points[0].attrib["aria-label"]
        == f"{BAD}, k 3: loss 5\N{NO-BREAK SPACE}%, risk 9\N{NO-BREAK SPACE}%, efficient, kept"
    )
    assert [one.attrib.get("aria-current") for one in points] == ["true", None]
    assert len([one for one in root.iter() if one.attrib.get("class") == "pointed"]) == 1


def test_a_distribution_is_told_in_numbers_too():
    assert pictures.in_numbers(BINS) == [("below 10", 10.0, 5.0), ("10 to 20", 60.0, 70.0), ("20 or more", 30.0, 25.0)]
    named = Distribution("x", (), (), (), None, bars=(Bar("category", "a", 40.0, 45.0), Bar("missing", "", 60.0, 55.0)))
    assert pictures.in_numbers(named) == [("a", 40.0, 45.0), ("missing", 60.0, 55.0)]
