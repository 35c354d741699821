"""Modules of other versions: a documented one still works, and what was pickled is refused in a sentence."""

import importlib
import pickle

import pytest

import microagg as ma
from microagg import jobs
from microagg.errors import MicroaggError


def test_the_documented_former_name_is_the_same_module():
    assert importlib.import_module("microagg.desk") is jobs
    assert importlib.import_module("microagg.jobs") is jobs
    assert jobs.__spec__.name == jobs.__name__ == "microagg.jobs"


def test_what_another_version_pickled_is_refused_in_a_sentence():
    pickled = pickle.dumps(MicroaggError("x")).replace(b"microagg.errors", b"microagg.schema")
    with pytest.raises(ModuleNotFoundError, match=r"no module 'microagg\.schema'.*make it again") as caught:
        pickle.loads(pickled)
    assert caught.value.name == "microagg.schema"


def test_other_missing_names_are_refused_as_ever():
    with pytest.raises(ImportError, match="cannot import name 'nonsense'"):
        exec("from microagg import nonsense")
    assert not hasattr(ma, "nonsense")
    with pytest.raises(ModuleNotFoundError, match=r"^No module named 'nonsense'$"):
        importlib.import_module("nonsense")
