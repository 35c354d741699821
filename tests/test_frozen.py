"""Classes that `frozen` makes behave as frozen dataclasses do."""

import pickle
from dataclasses import FrozenInstanceError, asdict, dataclass, field, replace

import pytest

from microagg.base.frozen import frozen


@dataclass(frozen=True)
class Former:
    name: str
    parts: tuple[int, ...] = ()
    secret: int = field(default=0, repr=False)
    note: str = field(default="", compare=False)


@frozen()
class Part:
    name: str
    parts: tuple[int, ...] = ()
    secret: int = field(default=0, repr=False)
    note: str = field(default="", compare=False)


@frozen(kw_only=True)
class Worded(Part):
    text: str


def test_equal_values_are_equal_and_have_one_hash():
    assert Part("a", (1,)) == Part("a", (1,))
    assert Part("a") != Part("b")
    assert Part("a") != Former("a")
    assert Worded(name="a", text="b") != Part("a")
    assert len({Part("a"), Part("a"), Worded(name="a", text="b")}) == 2
    assert hash(Part("a", (1,))) == hash(Former("a", (1,)))
    assert Part("a", note="b") == Part("a", note="c")
    assert hash(Part("a", note="b")) == hash(Former("a", note="c"))


def test_fields_are_set_once():
    one = Worded(name="a", text="b")
    with pytest.raises(FrozenInstanceError):
        one.name = "c"
    with pytest.raises(FrozenInstanceError):
        one.nmae = "c"  # which is no field
    with pytest.raises(FrozenInstanceError):
        del one.text
    assert one == Worded(name="a", text="b")


def test_it_is_shown_copied_and_stored_as_a_dataclass():
    assert repr(Part("a", (1,), 5)) == repr(Former("a", (1,), 5)).replace("Former", "Part")
    assert replace(Part("a"), name="b") == Part("b")
    assert asdict(Worded(name="a", text="b")) == {"name": "a", "parts": (), "secret": 0, "note": "", "text": "b"}
    assert pickle.loads(pickle.dumps(Worded(name="a", text="b"))) == Worded(name="a", text="b")
