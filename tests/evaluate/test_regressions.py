"""Regressions: equal to statsmodels, by columns and by formulas, with weights and clusters."""

import math

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st

import microagg as ma

Z = 1.959963984540054

# What statsmodels says of weights in the sandwich of a GLM; the errors are those of its formula.
pytestmark = pytest.mark.filterwarnings("ignore:cov_type not fully supported with var_weights")


@st.composite
def frames(draw):
    n = draw(st.integers(40, 120))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    age = rng.integers(18, 90, n)
    sex = rng.choice(["f", "m"], n, p=[0.4, 0.6])
    region = rng.choice(["a", "b", "c"], n, p=[0.3, 0.4, 0.3])
    frame = pd.DataFrame(
        {
            "wage": np.exp(7 + 0.08 * age - 0.0009 * age**2 + 0.5 * (sex == "m") + rng.normal(0, 0.7, n)),
            "works": (rng.random(n) < 1 / (1 + np.exp(0.04 * (age - 50.0)))).astype(int),
            "children": rng.poisson(np.exp(0.5 - 0.01 * (age - 40))),
            "age": age,
            "sex": sex,
            "region": region,
            "w": rng.uniform(0.5, 20, n),
            "house": rng.integers(0, n // 3, n),
        }
    )
    frame.loc[rng.random(n) < 0.1, "wage"] = 0.0
    frame.loc[rng.random(n) < 0.05, "region"] = None
    return frame


def design(frame, terms):
    """Give what explains a response, by hand: dummies against the commonest category of the file."""
    columns = {"intercept": np.ones(len(frame))}
    for term in terms:
        if term == "age^2":
            columns[term] = frame["age"].to_numpy(float) ** 2
        elif frame[term].dtype.kind in "if":
            columns[term] = frame[term].to_numpy(float)
        else:
            counts = frame[term].value_counts()
            usual = sorted(counts.index[counts == counts.max()])[0]
            for level in sorted(set(frame[term].dropna()) - {usual}):
                columns[f"{term} = {level}"] = (frame[term] == level).to_numpy(float)
    return pd.DataFrame(columns, index=frame.index)


def compared(frame, analysis, y, X, family, weight, unit):
    """Check coefficients and errors against statsmodels."""
    (judged,) = ma.utility(frame, frame.sample(frac=1, random_state=0), [analysis]).analyses
    known = y.index
    weights = np.ones(len(known)) if weight is None else frame.loc[known, weight].to_numpy()
    groups = None if unit is None else frame.loc[known, unit].to_numpy()
    n, k = X.shape
    how = {"cov_type": "HC1" if family is None else "HC0"}
    if groups is not None:
        how = {"cov_type": "cluster", "cov_kwds": {"groups": groups}}
    if family is None:
        fitted = sm.WLS(y.to_numpy(), X.to_numpy(), weights=weights).fit(**how)
    else:
        model = sm.GLM(y.to_numpy(), X.to_numpy(), family=family, var_weights=weights)
        fitted = model.fit(tol=1e-14, tol_criterion="params", maxiter=200, **how)
    # GLM has no HC1: it is HC0 with n/(n − k).
    factor = math.sqrt(n / (n - k)) if family is not None and groups is None else 1.0
    found = {one.term: one for one in judged.estimates}
    for name, coefficient, error in zip(X.columns, fitted.params, fitted.bse, strict=True):
        one = found[name]
        assert one.before == pytest.approx(coefficient, rel=1e-8, abs=1e-9), name
        own = (one.interval_before[1] - one.interval_before[0]) / (2 * Z)
        assert own == pytest.approx(factor * error, rel=1e-8, abs=1e-10), name
        assert one.after == pytest.approx(one.before, rel=1e-8, abs=1e-9)
    assert judged.left_out == (len(frame) - len(known),) * 2


designs = {"weight": st.sampled_from([None, "w"]), "unit": st.sampled_from([None, "house"])}


@settings(max_examples=40, deadline=None)
@given(frame=frames(), **designs)
def test_a_linear_regression_is_that_of_statsmodels(frame, weight, unit):
    terms = ["age", "age^2", "sex", "region"]
    known = frame[(frame["wage"] > 0) & frame["region"].notna()]
    y, X = np.log(known["wage"]), design(frame, terms).loc[known.index]
    compared(frame, ma.Analysis("linear", ["log(wage)", *terms], weight=weight, unit=unit), y, X, None, weight, unit)


@settings(max_examples=30, deadline=None)
@given(frame=frames(), **designs)
def test_a_logistic_regression_is_that_of_statsmodels(frame, weight, unit):
    terms = ["age", "sex"]
    analysis = ma.Analysis("logistic", ["works", *terms], weight=weight, unit=unit)
    compared(frame, analysis, frame["works"], design(frame, terms), sm.families.Binomial(), weight, unit)


@settings(max_examples=30, deadline=None)
@given(frame=frames(), **designs)
def test_a_log_linear_regression_is_that_of_statsmodels(frame, weight, unit):
    terms = ["age", "age^2", "sex"]
    analysis = ma.Analysis("loglinear", ["children", *terms], weight=weight, unit=unit)
    compared(frame, analysis, frame["children"], design(frame, terms), sm.families.Poisson(), weight, unit)


@settings(max_examples=15, deadline=None)
@given(frame=frames(), **designs)
def test_a_formula_gives_the_regression_of_its_columns(frame, weight, unit):
    by = {"weight": weight, "unit": unit}
    formula = "log(wage) ~ age + I(age*age) + sex + region"
    columns = ["log(wage)", "age", "age^2", "sex", "region"]
    one, other = ma.utility(
        frame, frame, [ma.Analysis("linear", formula=formula, **by), ma.Analysis("linear", columns, **by)]
    ).analyses
    assert {"intercept", "age", "I(age * age)"} <= {e.term for e in one.estimates}
    first, second = (sorted((e.before, *e.interval_before) for e in judged.estimates) for judged in (one, other))
    for a, b in zip(first, second, strict=True):
        assert a == pytest.approx(b, rel=1e-7, abs=1e-9)
    assert one.left_out == other.left_out


def people():
    return pd.DataFrame(
        {
            "y": [1.0, 2.0, 4.0, 3.0, 6.0, 5.0, 8.0, 9.0],
            "x": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0],
            "sex": list("fmfmfmff"),
            "yes": [0, 1, 0, 1, 1, 0, 1, 1],
        }
    )


def fitted(*columns, kind="linear", frame=None, masked=None, **options):
    frame = people() if frame is None else frame
    (judged,) = ma.utility(
        frame, frame if masked is None else masked, [ma.Analysis(kind, list(columns), **options)]
    ).analyses
    return {one.term: one for one in judged.estimates}


def test_a_column_that_others_explain_has_no_coefficient():
    frame = people()
    frame["twice"] = 2 * frame["x"]
    found = fitted("y", "x", "twice", frame=frame)
    assert math.isnan(found["twice"].before)
    assert found["x"].before == pytest.approx(fitted("y", "x")["x"].before)


def test_a_category_that_masking_removed_has_no_coefficient_after_it():
    masked = people()
    masked["sex"] = "f"
    one = fitted("y", "x", "sex", masked=masked)["sex = m"]
    assert not math.isnan(one.before)
    assert one.sentence.endswith("(sex = m): lost by masking.")


def test_a_response_of_two_categories_is_the_rarer_one_or_that_of_value():
    rarer = fitted("sex", "x", kind="logistic")["x"].before
    assert fitted("sex = m", "x", kind="logistic")["x"].before == pytest.approx(rarer)
    assert fitted("sex", "x", kind="logistic", value="f")["x"].before == pytest.approx(-rarer)
    by_formula = fitted(kind="logistic", formula="sex ~ x", value="m")["x"].before
    assert by_formula == pytest.approx(rarer)


def test_separation_has_no_estimate():
    frame = people()
    frame["late"] = (frame["x"] > 4).astype(int)
    assert all(math.isnan(one.before) for one in fitted("late", "x", kind="logistic", frame=frame).values())


def test_a_few_responses_that_masking_made_impossible_are_left_out():
    frame = pd.concat([people()] * 5, ignore_index=True)
    masked = frame.copy()
    masked.loc[0, "y"] = -1.0
    (judged,) = ma.utility(frame, masked, [ma.Analysis("loglinear", ["y", "x"])]).analyses
    assert judged.left_out == (0, 1)
    frame["y"] -= 5
    with pytest.raises(ma.errors.InvalidParameter, match=r"cannot take: it must be 0 or more"):
        ma.utility(frame, masked, [ma.Analysis("loglinear", ["y", "x"])])
    with pytest.raises(ma.errors.InvalidParameter, match="name what counts as 1 in value"):
        fitted("y", "x", kind="logistic")


def test_domains_are_fitted_one_by_one():
    frame = pd.concat([people()] * 3, ignore_index=True)
    (judged,) = ma.utility(frame, frame, [ma.Analysis("linear", ["y", "x"], by="sex")]).analyses
    assert [one.domain for one in judged.estimates] == [(("sex", "f"),)] * 2 + [(("sex", "m"),)] * 2
    own = frame[frame["sex"] == "m"]
    alone = fitted("y", "x", frame=own)
    assert judged.estimates[3].before == pytest.approx(alone["x"].before)
    assert judged.estimates[3].interval_before == pytest.approx(alone["x"].interval_before)


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("y", "it ends too early. Write the response, ~, and what explains it"),
        ("y ~ {x}", "at character 5: it has '{', which is not allowed"),
        ("y ~ x.real", "at character 6: it has '.', which is not allowed"),
        ("y ~ __import__('os')", "at character 5: there is no function '__import__' here. It can be log, "),
        ("y ~ exec(x)", "at character 5: there is no function 'exec' here"),
        ("y ~ `x`[0]", r"has '\[', which is not allowed"),
        ("y ~ (x", "it ends too early"),
        ("sex ~ x", "holds categories"),
        ("y ~ x - age", "column 'age' of an analysis is not in both files"),
    ],
)
def test_a_formula_is_refused_that_cannot_be_read_or_could_run_something(formula, message):
    with pytest.raises(ma.errors.InputError, match=message):
        fitted(formula=formula)
