import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from microagg import datasets
from microagg.errors import InvalidParameter


def test_the_same_seed_gives_the_same_data():
    for make in (datasets.uniform, datasets.normal):
        assert (make(50, 3, seed=4) == make(50, 3, seed=4)).all()
        assert (make(50, 3, seed=4) != make(50, 3, seed=5)).any()
        assert make(50, 3, seed=4).shape == (50, 3)
    assert datasets.survey(100, seed=4).equals(datasets.survey(100, seed=4))
    assert not datasets.survey(100, seed=4).equals(datasets.survey(100, seed=5))


def test_uniform_and_normal_are_what_they_say():
    uniform, normal = datasets.uniform(20_000, 4), datasets.normal(20_000, 4)
    assert uniform.min() >= 0
    assert uniform.max() < 1
    np.testing.assert_allclose(uniform.mean(axis=0), 0.5, atol=0.01)
    np.testing.assert_allclose(normal.mean(axis=0), 0, atol=0.03)
    np.testing.assert_allclose(normal.std(axis=0), 1, atol=0.03)


def test_survey_is_believable():
    survey = datasets.survey(5000, seed=0, frame="pandas")
    numeric = survey.drop(columns=["person", "region", "weight"])
    assert survey["person"].is_unique
    assert numeric.shape == (5000, 10)
    assert ((numeric == 0).mean() >= 0.2).sum() >= 3
    assert (survey["wage"] % 1000 == 0)[survey["wage"] > 0].mean() > 0.3  # heaped
    assert survey["capital"].skew() > 5
    assert survey["income"].max() > 8 * survey["income"].mean()
    assert numeric.corr()["income"]["tax"] > 0.9
    assert (survey["income"] == survey[["wage", "business", "capital", "pension"]].sum(axis=1)).all()
    assert (survey.drop(columns="region") >= 0).all().all()
    assert (survey["age"] >= survey["education"] + 6).all()
    assert survey["region"].value_counts().min() > 100


def test_frames_of_each_kind():
    assert isinstance(datasets.survey(10, frame="pandas"), pd.DataFrame)
    assert isinstance(datasets.survey(10, frame="polars"), pl.DataFrame)
    assert isinstance(datasets.survey(10), pa.Table)
    with pytest.raises(InvalidParameter, match="frame='excel'"):
        datasets.survey(10, frame="excel")
    with pytest.raises(InvalidParameter, match="n=0"):
        datasets.survey(0)
    with pytest.raises(InvalidParameter, match="d=0"):
        datasets.uniform(3, 0)
