"""What would help where a recipe is refused, or slow, is a button."""

import re

import pytest

from microagg.recipe import Recipe
from tests.app.client import remedies, text_of


def test_a_stratum_smaller_than_k_offers_its_size_and_names_no_stratum(client):
    page = client.post("/try/apply", k=300)
    client.settle()
    page = client.get("/try")
    assert "strata by 'region' have fewer than k=300 records (the smallest has" in text_of(page)
    smallest = client.session.exposure().smallest_stratum
    assert remedies(page) == {
        f"Set k to {smallest}": f"k={smallest}",
        "Mask “region”, so that it is no stratum": f"role-{client.row('region')}=quasi",
        "Drop “region”, so that it is no stratum": f"role-{client.row('region')}=drop",
    }
    assert remedies(client.get("/")) == remedies(page)
    client.post("/try/apply", k=700)
    whole = client.get("/try")
    assert "600 records cannot fill a group of k=700" in text_of(whole)
    assert remedies(whole) == {}  # strata are not what is in the way
    client.post("/history", to=1)
    values = set(client.session.opened.source.table["region"].to_pylist())
    assert not any(
        re.search(rf"\b{re.escape(str(value))}\b", text_of(page)) for value in values if not str(value).isdecimal()
    )
    client.post("/try/apply", k=300, remedy=f"k={smallest}")  # the field, and the button
    assert client.session.recipe.k == smallest
    client.settle()
    assert client.session.figures().k_reached >= smallest
    client.post("/history", to=1)
    page = client.post("/columns/apply", remedy=f"role-{client.row('region')}=drop")
    assert client.session.recipe.roles.strata == ()
    assert "role of region: strata → drop" in text_of(page)
    client.settle()
    assert client.session.failure() is None


@pytest.mark.campaign
def test_a_remedy_of_one_change_is_a_button_and_a_step_of_the_history(empty, tmp_path):
    rows = [f"{i // 3},{i * 7 % 50},{i * i % 61 if i else ''}" for i in range(60)]
    (tmp_path / "lacking.csv").write_text("\n".join(["house,x,y", *rows]) + "\n")
    empty.session.open(str(tmp_path / "lacking.csv"), Recipe(2).replace(quasi=["x", "y"], unit="house"))
    empty.settle()
    cases = [
        ({"masking__missing": "error"}, "Keep them, and group records with the same columns missing", "→ pattern"),
        ({"method__name": "univariate"}, "Choose mdav, which groups whole records", "method univariate → mdav"),
        ({"masking__per_column": "yes"}, "Let k hold for whole records", "k for each column only yes → no"),
        ({"k": 25}, "Set k to 20", "k 25 → 20"),
        ({"k": 25}, "Drop the unit “house”: k then counts records", "role of house: unit → drop"),
        ({"masking__missing": "error"}, "Leave those records out", "missing values error → drop"),
        ({"method__name": "univariate"}, "Accept k for each column by itself: whole records may be unique", "no → yes"),
    ]
    for fields, label, words in cases:
        empty.get("/try")
        empty.post("/try/apply", **fields, run=1)
        empty.settle()
        page = empty.get("/try")
        assert 'id="failure"' in page.text
        empty.post("/try/apply", **fields, remedy=remedies(page)[label])
        assert words in empty.session.history.now.words
        empty.settle()
        assert (empty.session.failure() is None) == (fields != {"method__name": "univariate"} or "mdav" in label)
    assert list(remedies(empty.get("/try"))) == ["Choose mdav, which groups whole records"]  # as a column has gaps


def test_what_takes_long_says_how_long_and_what_would_be_faster(client, monkeypatch):
    monkeypatch.setattr(type(client.session), "seconds", property(lambda _: 90.0))
    page = client.post("/try/apply", refine__effort="fast")
    assert "Start anyway" in page.text
    assert "This takes about 90 s" in text_of(page)
    assert [client.session.figures(), len(remedies(page))] == [None, 3]
    client.post("/try/apply", remedy="blocks.by=median&blocks.max_block=10000")
    client.post("/try/apply", remedy="select.by=emad&select.count=3")
    client.post("/try/apply", refine__effort="fast", remedy="refine.effort=")
    recipe = client.session.recipe
    assert (recipe.blocks.max_block, recipe.select.count, recipe.refine.effort) == (10000, 3, None)
    assert "choice of columns as usual → emad" in client.session.history.steps[-2].words
