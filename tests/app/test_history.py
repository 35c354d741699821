"""Undo, redo and jump give the same recipes, byte for byte; a form of a former state is told what changed."""

import pytest

from microagg.app.history import History, Stale, Step
from microagg.recipe import Recipe


def test_thirty_changes_are_undone_and_redone():
    history = History(Step(Recipe(2), "opened"))
    texts = [history.now.recipe.text()]
    for k in range(3, 33):
        history.add(Step(Recipe(k), f"k {k - 1} → {k}"))
        texts.append(history.now.recipe.text())
    for text in reversed(texts[:-1]):
        history.undo()
        assert history.now.recipe.text() == text
    assert (history.undoes, history.redoes) == ("", "k 2 → 3")
    for text in texts[1:]:
        history.redo()
        assert history.now.recipe.text() == text
    history.go(10)
    assert history.now.recipe.text() == texts[10]
    assert history.number == 91


def test_a_change_after_undo_takes_the_place_of_what_was_undone():
    history = History(Step(Recipe(2), "opened"))
    history.add(Step(Recipe(3), "three"))
    history.undo()
    history.add(Step(Recipe(4), "four"))
    assert [step.words for step in history.steps] == ["opened", "four"]
    history.redo()
    assert history.now.recipe.k == 4


def test_a_former_number_is_told_what_has_changed():
    history = History(Step(Recipe(2), "opened"))
    history.check(0)
    history.add(Step(Recipe(3), "k 2 → 3"))
    history.undo()
    with pytest.raises(Stale) as found:
        history.check(0)
    assert found.value.changes == ["k 2 → 3", "undone: k 2 → 3"]
    history.check(2)
