import doctest
import inspect

import pytest

import microagg as ma

EXPECTED = [
    "AMA",
    "CBFS",
    "EMAD",
    "IAMAT",
    "MDAV",
    "PMSE",
    "VMDAV",
    "Analysis",
    "Anonymity",
    "Candidate",
    "Comparison",
    "DependenceTree",
    "DisclosureRisk",
    "Dominance",
    "Estimate",
    "FileRelease",
    "InformationLoss",
    "JointDisclosure",
    "KeptRelation",
    "LossBound",
    "LossMeasures",
    "MaximumDistance",
    "Measure",
    "MedianTree",
    "OrthantTree",
    "Projection",
    "Recipe",
    "Refinement",
    "Relation",
    "RelationCounts",
    "Release",
    "Selection",
    "Source",
    "SubsetLosses",
    "Univariate",
    "UnivariateBlocks",
    "Utility",
    "anonymity",
    "association",
    "best_subset",
    "compare",
    "datasets",
    "default_analyses",
    "disclosure_risk",
    "dominance",
    "errors",
    "information_loss",
    "interaction",
    "joint_disclosure",
    "loss_bound",
    "loss_measures",
    "pmse",
    "protect",
    "protect_file",
    "read",
    "refine",
    "relations",
    "scoring_index",
    "select_variables",
    "utility",
    "write",
]


def test_the_public_names_are_these():
    assert sorted(ma.__all__) == sorted(EXPECTED)
    assert set(EXPECTED) <= set(dir(ma))
    with pytest.raises(AttributeError, match="no attribute 'mdav'"):
        ma.mdav  # noqa: B018


CALLABLES = [getattr(ma, name) for name in EXPECTED if name not in ("datasets", "errors")]
CALLABLES += [getattr(ma.datasets, name) for name in ma.datasets.__all__ if name != "TREES"]


CALLABLES.append(ma.errors)


@pytest.mark.parametrize("thing", CALLABLES, ids=lambda thing: thing.__name__)
def test_every_public_name_has_an_example(thing):
    assert doctest.DocTestFinder(recurse=False).find(thing)[0].examples
    assert inspect.getdoc(thing).splitlines()[0].endswith(".")
