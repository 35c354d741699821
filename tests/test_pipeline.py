import pickle
import subprocess
import sys

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import KMeans
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import microagg as ma
from microagg.algorithms.mdav import mdav
from microagg.algorithms.methods import METHODS
from microagg.algorithms.scores import standard_scores
from microagg.columns.rounding import round_means
from microagg.errors import InvalidParameter, PromiseBroken, TooFewRecords
from microagg.mask import represent
from tests.lengths import given_few

MAKERS = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}
QUASI = ["age", "income", "tax"]


def survey(n=300, frame="pandas"):
    return ma.datasets.survey(n, seed=1, frame=frame)


def as_columns(frame):
    table = frame if isinstance(frame, pa.Table) else pa.table({str(c): np.asarray(frame[c]) for c in frame.columns})
    return {name: table[name].to_numpy() for name in table.column_names}


@pytest.mark.parametrize("frame", MAKERS)
def test_the_same_kind_of_frame_comes_back_with_the_same_rows_and_columns(frame):
    original = survey(frame=frame)
    release = ma.protect(original, 4, quasi=QUASI, identifiers=["person"], rest="keep", rounding="none")
    assert type(release.data) is type(original)
    before, after = as_columns(original), as_columns(release.data)
    assert list(after) == [name for name in before if name != "person"]
    for name in after:
        if name in QUASI:
            assert_allclose(after[name].mean(), before[name].mean(), rtol=1e-12)
            assert (after[name] != before[name]).any()
        else:
            assert_array_equal(after[name], before[name])


@pytest.mark.parametrize("frame", MAKERS)
def test_the_answer_does_not_depend_on_the_kind_of_frame(frame):
    release = ma.protect(survey(frame=frame), 4, quasi=QUASI, rest="drop")
    expected = ma.protect(survey(frame="pandas"), 4, quasi=QUASI, rest="drop")
    assert_array_equal(release.groups, expected.groups)
    assert release.information == expected.information


@pytest.mark.parametrize("method", [name for name, method in METHODS.items() if not method.per_column])
@pytest.mark.parametrize("aggregate", ["mean", "median"])
@pytest.mark.parametrize("rounding", ["none", "auto"])
def test_every_record_shares_its_released_values_with_k_minus_1_others(method, aggregate, rounding):
    original = survey()
    release = ma.protect(
        original, 4, quasi=QUASI, strata=["region"], rest="drop", method=method, aggregate=aggregate, rounding=rounding
    )
    shared = release.data.groupby(["region", *QUASI]).size()
    assert shared.min() == release.k_achieved >= 4
    assert all(dtype.kind == ("i" if rounding == "auto" else "f") for dtype in release.data[QUASI].dtypes)
    assert release.recipe.method.name == method


def test_loss_is_over_the_standardised_columns_and_the_released_values():
    original = survey()[QUASI]
    release = ma.protect(original, 5, aggregate="median", rounding="auto")
    z = (original - original.mean()) / original.std(ddof=0)
    released = (release.data - original.mean()) / original.std(ddof=0)
    assert release.loss.percent == pytest.approx(100 * ((z - released) ** 2).to_numpy().sum() / (z**2).to_numpy().sum())
    assert list(release.loss.per_column) == QUASI


def test_groups_never_cross_strata_and_threads_change_nothing():
    original = survey(600)
    results = [
        ma.protect(original, 3, quasi=QUASI, strata=["region"], rest="drop", n_jobs=jobs) for jobs in (1, 2, None)
    ]
    assert original["region"].groupby(results[0].groups).nunique().max() == 1
    for other in results[1:]:
        assert_array_equal(other.groups, results[0].groups)
        pd.testing.assert_frame_equal(other.data, results[0].data)


@given_few(20, 200, sizes=st.lists(st.integers(3, 9), min_size=1, max_size=4), seed=st.integers(0, 1000))
def test_standardising_is_over_the_whole_file_and_grouping_within_strata(sizes, seed):
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    x = rng.standard_normal((len(codes), 2)) * [1, 50] + codes[:, None] * [3, 0]
    release = ma.protect(pd.DataFrame({"s": codes, "a": x[:, 0], "b": x[:, 1]}), 3, quasi=["a", "b"], strata=["s"])
    z = standard_scores(x.T).T
    for stratum in range(len(sizes)):
        rows = np.flatnonzero(codes == stratum)
        expected = mdav(z[rows], 3)
        assert_array_equal(np.unique(release.groups[rows], return_inverse=True)[1], expected)
        assert not np.isin(release.groups[rows], np.delete(release.groups, rows)).any()


@pytest.mark.parametrize("spoil", ["value", "group"])
def test_a_release_that_would_break_the_promise_is_withheld(monkeypatch, spoil):
    def spoilt(*how):
        released, rounded = round_means(*how)
        for column in released.columns[:1] if spoil == "value" else released:
            column.values[7 if spoil == "value" else slice(2)] += 1e6
        return released, rounded

    monkeypatch.setattr(represent, "round_means", spoilt)
    with pytest.raises(PromiseBroken, match=r"only 1 record\(s\)"):
        ma.protect(survey(60)[QUASI], 3)


def test_columns_with_other_roles_pass_through_untouched():
    original = survey(60)
    release = ma.protect(
        original, 3, quasi=QUASI, confidential=["capital"], weight="weight", keep=["hours"], rest="drop"
    )
    assert list(release.data.columns) == ["weight", "age", "hours", "capital", "income", "tax"]
    for name in ("weight", "hours", "capital"):
        assert_array_equal(release.data[name], original[name])
    assert release.recipe.roles.confidential == ("capital",)


def test_weights_do_not_form_groups():
    original = survey(60)
    other = original.assign(weight=original["weight"].to_numpy()[::-1] * 1000)
    groups = [ma.protect(data, 3, quasi=QUASI, weight="weight", rest="drop").groups for data in (original, other)]
    assert_array_equal(*groups)


def test_a_pandas_index_of_ones_own_is_dropped_and_the_default_one_stays():
    original = survey(60)[QUASI]
    assert not ma.protect(original, 3).index_dropped
    named = original.set_index(pd.Index([f"person {i}" for i in range(60)]))
    for indexed in (named, original.iloc[::-1], original.set_index([original.index, original.index])):
        release = ma.protect(indexed, 3)
        assert release.index_dropped
        pd.testing.assert_index_equal(release.data.index, pd.RangeIndex(60))


def test_pandas_columns_may_have_numbers_for_names():
    release = ma.protect(pd.DataFrame(np.random.default_rng(0).random((30, 3))), 3, quasi=[0, 2], rest="keep")
    assert list(release.data.columns) == [0, 1, 2]
    assert list(release.loss.per_column) == [0, 2]


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        (pd.array([1, 2, 3, 4, 5, 6], dtype="Int64"), "Float64"),
        (pd.array([1, 2, 3, 4, 5, 6], dtype="int64[pyarrow]"), "double[pyarrow]"),
        (np.arange(6, dtype=np.float32), "float32"),
        (np.arange(6, dtype=np.uint8), "float64"),
    ],
)
def test_pandas_families_of_dtypes_are_kept(values, dtype):
    rounded = ma.protect(pd.DataFrame({"x": values}), 3)
    assert rounded.data["x"].dtype == values.dtype
    release = ma.protect(pd.DataFrame({"x": values}), 3, rounding="none")
    assert str(release.data["x"].dtype) == dtype
    assert np.unique(np.asarray(release.data["x"], dtype=float)).size == 2


def test_records_with_missing_values_are_left_out_when_asked():
    original = survey(100).astype({"income": float})
    original.loc[[3, 50], "income"] = np.nan
    original.loc[7, "region"] = None
    release = ma.protect(original, 3, quasi=QUASI, strata=["region"], rest="drop", missing="drop")
    assert release.n_dropped == 3
    assert len(release.data) == len(release.groups) == 97
    pd.testing.assert_index_equal(release.data.index, pd.RangeIndex(97))
    assert release.data["region"].tolist() == original["region"].drop([3, 7, 50]).tolist()


@pytest.mark.parametrize("method", ["univariate", "ranking"])
def test_methods_for_each_column_must_be_accepted_as_such(method):
    original = survey(100)[QUASI]
    with pytest.raises(InvalidParameter, match="per_column=True"):
        ma.protect(original, 3, method=method)
    release = ma.protect(original, 3, method=method, per_column=True)
    assert release.recipe.masking.per_column
    assert "in each column" in repr(release)
    assert release.groups.shape == (100, 3)
    for name in QUASI:
        assert release.data[name].value_counts().min() >= release.k_achieved >= 3
    assert ma.protect(original[["tax"]], 3, method=method).groups.shape == (100,)
    with pytest.raises(InvalidParameter, match="works only with"):
        ma.protect(original, 3, method="mdav", per_column=True)


def test_a_method_may_be_an_estimator_or_a_name_with_options():
    original = survey(100)[QUASI]
    by_name = ma.protect(original, 3, method="vmdav", gamma=1.1)
    by_estimator = ma.protect(original, 3, method=ma.VMDAV(3, gamma=1.1))
    assert by_name.recipe == by_estimator.recipe
    assert dict(by_name.recipe.method.options) == {"gamma": 1.1, "search": "brute"}
    assert_array_equal(by_name.groups, by_estimator.groups)
    by_axis = ma.protect(original, 3, method="projection", axis="income")
    assert by_axis.recipe.method.options["axis"] == "income"
    by_number = ma.protect(original, 3, method="projection", axis=1)
    assert_array_equal(by_axis.groups, by_number.groups)
    assert ma.Recipe.parse(by_number.recipe.text()) == by_number.recipe


def test_another_librarys_partition_is_held_to_the_promise():
    original = survey(100)[QUASI]
    release = ma.protect(original, 3, method=KMeans(2, random_state=0, n_init=1))
    assert release.n_groups == 2
    assert release.recipe.method.name == "sklearn.cluster._kmeans.KMeans"
    with pytest.raises(PromiseBroken, match="fewer than k=3"):
        ma.protect(original, 3, method=KMeans(90, random_state=0, n_init=1))


def test_extreme_magnitudes_give_the_partition_of_ordinary_ones():
    original = survey(100)[QUASI].astype(float)
    expected = ma.protect(original, 3, rounding="none")
    extreme = original * [2.0**-1000, 2.0**900, 1.0]
    release = ma.protect(extreme, 3, rounding="none")
    assert_array_equal(release.groups, expected.groups)
    assert release.loss.percent == pytest.approx(expected.loss.percent)
    offset = original.assign(age=original["age"] + 1e9)
    assert_array_equal(ma.protect(offset, 3).groups, expected.groups)


def test_minus_999_is_a_value_like_any_other():
    original = survey(30)[["income"]]
    original.loc[:4, "income"] = -999
    release = ma.protect(original, 3)
    assert release.data["income"].mean() == pytest.approx(original["income"].mean())


def test_the_callers_frame_is_not_edited_and_the_release_is_frozen():
    original = survey(60)
    before = original.copy(deep=True)
    release = ma.protect(original, 3, quasi=QUASI, rest="keep", rounding="auto")
    pd.testing.assert_frame_equal(original, before)
    with pytest.raises(AttributeError):
        release.data = None
    with pytest.raises(ValueError, match="read-only"):
        release.groups[0] = 1


def test_the_name_of_the_columns_stays_with_the_caller():
    original = survey(60)[QUASI].rename_axis(columns="secret")
    assert ma.protect(original, 3).data.columns.name is None
    assert original.columns.name == "secret"


def test_another_method_may_have_a_parameter_called_search():
    class Halves:
        def get_params(self):
            return {"search": "its own"}

        def fit_predict(self, X):
            return (X[:, 0] > np.median(X[:, 0])).astype(int)

    release = ma.protect(survey(60)[["income"]], 3, method=Halves())
    assert release.recipe.method.options["search"] == "its own"


def test_a_pickled_release_carries_no_original_value():
    original = survey(60)[QUASI] + np.random.default_rng(0).random((60, 3))
    release = ma.protect(original, 3, identifiers=[])
    pickled = pickle.dumps(release)
    loaded = pickle.loads(pickled)
    assert loaded.recipe == release.recipe
    assert loaded.information == release.information
    for value in original.to_numpy().ravel():
        assert np.float64(value).tobytes() not in pickled


def test_metadata_of_the_original_does_not_come_along():
    table = survey(60, "pyarrow").select(QUASI).replace_schema_metadata({"owner": "secret"})
    assert ma.protect(table, 3).data.schema.metadata is None
    frame = survey(60)[QUASI]
    frame.attrs["owner"] = "secret"
    assert ma.protect(frame, 3).data.attrs == {}
    assert frame.attrs == {"owner": "secret"}


def test_nothing_of_rows_that_are_not_released_stays_in_a_release():
    names = ["x"] * 12 + ["secret"]
    frame = pd.DataFrame({"a": [*range(12), np.nan], "s": pd.Categorical(names)})
    assert list(ma.protect(frame, 3, keep=["s"], missing="drop").data["s"].cat.categories) == ["x"]
    table = pa.table({"a": np.arange(13.0), "s": pa.array(names).dictionary_encode(), "t": names}).slice(0, 12)
    release = ma.protect(table, 3, keep=["s", "t"])
    assert release.data.schema.field("s").type == table.schema.field("s").type
    assert release.data["t"].to_pylist() == names[:12]
    assert b"secret" not in pickle.dumps(release)
    arrow_backed = pd.DataFrame({"a": [*range(12), np.nan], "s": pd.array(names, dtype="string[pyarrow]")})
    dictionary = pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))
    arrow_backed["d"] = pd.Series(names).astype(dictionary)
    long = pl.DataFrame({"a": [*map(float, range(12)), None], "s": [name * 9 for name in names]})
    for frame in (arrow_backed, long):
        keep = [name for name in frame.columns if name != "a"]
        release = ma.protect(frame, 3, keep=keep, missing="drop")
        assert next(iter(release.data["s"])) == frame["s"][0]
        assert b"secret" not in pickle.dumps(release)


def test_categories_keep_their_order_and_those_of_no_row_are_dropped():
    order, levels = ["low", "secret", "high", "middle"], ["high", "low", "middle"] * 4 + ["secret"]
    values = [*map(float, range(12)), None]
    kind = pa.dictionary(pa.int8(), pa.string(), ordered=True)
    arrow = pa.DictionaryArray.from_arrays(
        pa.array([order.index(level) for level in levels], pa.int8()), order, ordered=True
    )
    frames = [
        pa.table({"a": values, "s": arrow}),
        pd.DataFrame({"a": values, "s": pd.Categorical(levels, order, ordered=True)}),
        pd.DataFrame({"a": values, "s": pd.Series(arrow, dtype=pd.ArrowDtype(kind))}),
        pl.DataFrame({"a": values, "s": pl.Series(levels, dtype=pl.Enum(order))}),
    ]
    for frame in frames:
        release = ma.protect(frame, 3, keep=["s"], missing="drop")
        column = nw.from_native(release.data, eager_only=True)["s"].to_arrow()
        column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        assert column.to_pylist() == levels[:12]
        assert column.dictionary.to_pylist() == ["low", "high", "middle"]
        assert column.type.ordered or release.data["s"].dtype == pl.Enum(["low", "high", "middle"])
        assert b"secret" not in pickle.dumps(release)


def test_another_methods_error_does_not_show_cells():
    class Failing:
        def fit_predict(self, X):
            raise ValueError(f"bad {X[0]}")

    with pytest.raises(InvalidParameter, match="failed with ValueError") as caught:
        ma.protect(survey(30)[QUASI], 3, method=Failing())
    assert "[" not in str(caught.value)


def test_what_another_method_was_given_is_not_recorded():
    frame = survey(30)[["age"]].astype(float) + 0.125
    centres = frame.to_numpy()[[frame["age"].argmin(), frame["age"].argmax()]]
    release = ma.protect(frame, 3, method=KMeans(2, init=centres, n_init=1), scale="none")
    assert release.recipe.method.options["init"] == "ndarray"
    assert centres.tobytes() not in pickle.dumps(release)


def test_a_method_that_groups_columns_apart_cannot_slip_through():
    method = make_pipeline(StandardScaler(), ma.Univariate(3))
    with pytest.raises(PromiseBroken, match="several labels"):
        ma.protect(survey(60)[QUASI], 3, method=method)


def test_units_are_told_apart_by_value_however_they_are_encoded():
    twelve = pa.DictionaryArray.from_arrays(pa.array(range(12), pa.int8()), ["the same"] * 12)
    with pytest.raises(TooFewRecords, match="the fewest: 1"):
        ma.protect(pa.table({"a": np.arange(12.0), "u": twelve}), 3, unit="u")
    many = pa.array([f"unit {i}" for i in range(128)]).dictionary_encode().cast(pa.dictionary(pa.int8(), pa.string()))
    assert ma.protect(pa.table({"a": np.arange(128.0), "u": many}), 3, unit="u").k_achieved == 3


def test_progress_covers_all_strata():
    seen = []
    ma.protect(survey(600), 3, quasi=QUASI, strata=["region"], rest="drop", progress=lambda *told: seen.append(told))
    assert max(seen) == (600, 600)


def test_stopping_from_progress_stops_all_strata():
    def stop(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ma.protect(survey(600), 3, quasi=QUASI, strata=["region"], rest="drop", n_jobs=2, progress=stop)


def test_small_strata_are_counted_and_not_named():
    original = survey(200)
    original.loc[0, "region"] = "Atlantis"
    with pytest.raises(TooFewRecords) as caught:
        ma.protect(original, 3, quasi=QUASI, strata=["region"], rest="drop")
    assert "1 of 9 strata by 'region' has" in str(caught.value)
    assert "the smallest has 1" in str(caught.value)
    assert "Atlantis" not in str(caught.value)
    assert not any(vars(caught.value).values())  # nor is it kept elsewhere


def test_protect_does_not_import_scikit_learn():
    code = (
        "import sys, microagg as ma\n"
        "ma.protect(ma.datasets.survey(20).select(['income', 'tax']), 3)\n"
        "sys.exit('sklearn' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("more", [{}, {"select": ["income"], "importance": {"income": 0}}])
def test_some_column_must_form_the_groups(more):
    table = ma.datasets.survey(100, seed=0).select(["age", "income"])
    with pytest.raises(InvalidParameter, match="importance is 0 for every column that forms groups") as caught:
        ma.protect(table, 3, **{"importance": {"age": 0, "income": 0}, **more})
    assert caught.value.parameter == "importance"
    assert ma.protect(table, 3, importance={"age": 0}).information.percent > 0


def test_some_column_must_form_the_groups_of_a_file_too(tmp_path):
    ma.write(ma.datasets.survey(100, seed=0).select(["age", "income"]), tmp_path / "in.parquet")
    with pytest.raises(InvalidParameter, match="importance is 0"):
        ma.protect_file(tmp_path / "in.parquet", tmp_path / "out.parquet", 3, importance={"age": 0.0, "income": 0.0})


def test_an_order_of_categories_counts_wherever_it_is_declared(tmp_path):
    rng = np.random.default_rng(0)
    levels = ["low", "middle", "high"]
    frame = pl.DataFrame({"a": rng.random(60), "s": pl.Series(rng.choice(levels, 60).tolist(), dtype=pl.Enum(levels))})
    frame.write_parquet(tmp_path / "in.parquet")
    releases = [
        ma.protect(one, 3) for one in (frame, frame.to_arrow(), frame.to_pandas(), ma.read(tmp_path / "in.parquet"))
    ]
    assert {type(one.pair.original.columns[1].kind).__name__ for one in releases} == {"Ordinal"}
    assert len({one.information.percent for one in releases}) == 1
    assert releases[0].data["s"].dtype == pl.Enum(levels)
