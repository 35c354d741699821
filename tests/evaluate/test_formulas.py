"""Formulas: the design matrix and the fit of formulaic with statsmodels, for random formulas of the grammar."""

import math
import re

import formulaic
import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

import microagg as ma

N = 240
Z = 1.959963984540054
NUMBERS, CATEGORIES = ["a", "b", "c"], ["s", "t", "u"]
# What statsmodels says of weights in the sandwich of a GLM; the errors are those of its formula.
pytestmark = pytest.mark.filterwarnings("ignore:cov_type not fully supported with var_weights")


def people(rng):
    """Make a file with positive numbers, categories, a number of few values, and some gaps."""
    a, b = rng.lognormal(0.5, 0.5, N), rng.uniform(0.5, 4, N)
    frame = pd.DataFrame(
        {
            "a": a,
            "b": b,
            "c": rng.normal(2, 1, N) ** 2 + 0.1,
            "g": rng.choice([1.0, 2.5, 7.0], N, p=[0.3, 0.5, 0.2]),
            "s": rng.choice(["f", "m"], N, p=[0.45, 0.55]),
            "t": rng.choice(["low", "middle", "high"], N, p=[0.3, 0.4, 0.3]),
            "u": rng.choice(["no", "yes"], N, p=[0.6, 0.4]),
            "w": rng.uniform(0.5, 3, N),
        }
    )
    mean = 0.4 * np.log(a) + 0.2 * b - 0.3 * (frame["s"] == "m") + 0.2 * (frame["t"] == "high")
    frame["y"] = np.exp(mean + rng.normal(0, 0.5, N))
    frame["yes"] = (rng.random(N) < 1 / (1 + np.exp(1 - mean))).astype(int)
    frame["count"] = rng.poisson(np.exp(mean))
    frame.loc[rng.random(N) < 0.03, "b"] = np.nan
    frame.loc[rng.random(N) < 0.03, "t"] = None
    return frame


def for_formulaic(frame, names):
    """Return the records that lack nothing, categories with the commonest first, as formulaic takes them."""
    known = frame.dropna(subset=names).copy()
    for name in [*CATEGORIES, "g"]:
        counts = frame[name].value_counts()
        usual = min(counts.index[counts == counts.max()])
        order = [usual, *sorted(set(frame[name].dropna()) - {usual})]
        known["g_" if name == "g" else name] = pd.Categorical(known[name], categories=order)
    return known


class Draw:
    """Draws formulas, as we write them and for formulaic: there ^ is ** within I(), and C(g) a column of its own."""

    def __init__(self, rng):
        self.rng = rng

    def one(self, things):
        return things[int(self.rng.integers(len(things)))]

    def arithmetic(self, depth=0):
        kind = self.rng.random()
        if depth > 2 or kind < 0.35:
            return (self.one(NUMBERS),) * 2
        if kind < 0.5:
            return (self.one(["2", "0.5", "3"]),) * 2
        if kind < 0.6:
            own, theirs = self.arithmetic(depth + 1)
            return f"({own})^2", f"({theirs})**2"
        if kind < 0.7:
            return tuple(f"log({one} * {one} + 1)" for one in self.arithmetic(depth + 1))
        sign = self.one([" + ", " - ", " * ", " / "])
        left, right = self.arithmetic(depth + 1), self.arithmetic(depth + 1)
        return tuple(f"({x}){sign}({y})" for x, y in zip(left, right, strict=True))

    def factor(self):
        kind, x = self.rng.random(), self.one(NUMBERS)
        if kind < 0.25:
            return (x,) * 2
        if kind < 0.5:
            return (self.one(CATEGORIES),) * 2
        if kind < 0.56:
            return "C(g)", "g_"
        if kind < 0.66:
            power = int(self.rng.integers(2, 4))
            inner = self.one([x, f"log({x})", f"center({x})"])
            return f"{inner}^{power}", f"I({inner}**{power})"
        if kind < 0.8:
            return (f"{self.one(['log', 'log2', 'log10', 'sqrt', 'abs', 'center', 'scale'])}({x})",) * 2
        if kind < 0.85:
            return f"exp(0 - {x})", f"exp(0 - {x})"
        if kind < 0.93:
            degree = int(self.rng.integers(1, 4))
            return (self.one([f"poly({x}, {degree})", f"poly({x}, degree={degree})"]),) * 2
        own, theirs = self.arithmetic()
        return (f"I({x} * ({own}))", f"I({x} * ({theirs}))")

    def term(self):
        kind = self.rng.random()
        parts = [self.factor() for _ in range(2 if kind < 0.8 else 3)]
        if kind < 0.45:
            return parts[0]
        if kind < 0.9:
            sign = self.one([":", "*", "/", ":"])
            return tuple(sign.join(own) for own in zip(*parts, strict=True))
        sign = self.one("++-")
        return tuple(f"({x} {sign} {y}):{z}" for x, y, z in zip(*parts, strict=True))

    def formula(self, response):
        terms = [self.term() for _ in range(int(self.rng.integers(1, 4)))]
        ours, theirs = (" + ".join(one) for one in zip(*terms, strict=True))
        before, after = self.one([("", ""), ("", ""), ("0 + ", ""), ("", " - 1"), ("", " + 0"), ("1 + ", "")])
        if self.rng.random() < 0.15:
            ours, theirs = f"{ours} - {terms[0][0]}", f"{theirs} - {terms[0][1]}"
        return tuple(f"{response} ~ {before}{one}{after}" for one in (ours, theirs))


def sound(matrix):
    """Return whether every column adds something of its own: else no coefficients are the right ones."""
    if not matrix.shape[1] or not np.isfinite(matrix).all():
        return False
    scaled = matrix / np.maximum(np.sqrt((matrix**2).mean(axis=0)), 1e-300)
    return bool(np.linalg.cond(scaled) < 200)


def drawn(seed):
    """Draw until a formula has a matrix of full rank; return the file, the formula and what formulaic makes of it."""
    for attempt in range(1000):
        rng = np.random.default_rng([seed, attempt])
        frame, draw = people(rng), Draw(rng)
        kind = ["linear", "linear", "linear", "logistic", "loglinear"][seed % 5]
        response = {"linear": draw.one(["y", "log(y)", "sqrt(y)"]), "logistic": "yes", "loglinear": "count"}[kind]
        ours, theirs = draw.formula(response)
        names = [name for name in [*NUMBERS, *CATEGORIES, "g"] if re.search(rf"\b{name}_?\b", theirs)]
        known = for_formulaic(frame, names)
        try:
            with np.errstate(all="ignore"):
                made = formulaic.model_matrix(theirs, known, context={"sqrt": np.sqrt, "abs": np.abs})
        except formulaic.errors.FormulaicError:  # nothing explains the response, or a term is there with two scales
            continue
        right = made.rhs.to_numpy(dtype=float)
        if sound(right):
            return frame, kind, ours, made, known.loc[made.rhs.index]
    raise AssertionError(f"no formula of seed {seed} has full rank")


def as_we_say(name):
    """Return the name of a coefficient, from that of formulaic: powers are written with ^, in or out of I()."""
    name = re.sub(r"\bg_\[(T\.)?([\d.]+)\]", lambda one: f"C(g)[{one[1] or ''}{float(one[2]):g}]", name)
    name = re.sub(r"I\(((?:log|center)\(\w\)|\w) \*\* (\d)\)", r"\1^\2", name)
    return "intercept" if name == "Intercept" else re.sub(r" \*\* (\d)", r"^\1", name)


@pytest.mark.parametrize("seed", range(200))
def test_a_random_formula_is_fitted_as_by_formulaic_and_statsmodels(seed):
    frame, kind, formula, made, known = drawn(seed)
    weight = "w" if seed % 3 == 0 else None
    (judged,) = ma.utility(frame, frame, [ma.Analysis(kind, formula=formula, weight=weight)]).analyses
    X, y = made.rhs.to_numpy(dtype=float), made.lhs.to_numpy(dtype=float)[:, 0]
    weights = np.ones(len(y)) if weight is None else known[weight].to_numpy()
    n, k = X.shape
    if kind == "linear":
        fitted = sm.WLS(y, X, weights=weights).fit(cov_type="HC1")
        factor = 1.0
    else:
        family = sm.families.Binomial() if kind == "logistic" else sm.families.Poisson()
        fitted = sm.GLM(y, X, family=family, var_weights=weights).fit(
            tol=1e-14, tol_criterion="params", maxiter=300, cov_type="HC0"
        )
        factor = math.sqrt(n / (n - k))  # GLM has no HC1
    assert [one.term for one in judged.estimates] == [as_we_say(name) for name in made.rhs.columns], formula
    assert judged.left_out == (len(frame) - n,) * 2
    coefficients = np.array([one.before for one in judged.estimates])
    errors = np.array([one.interval_before[1] - one.interval_before[0] for one in judged.estimates]) / (2 * Z)
    size = np.abs(fitted.params) + factor * fitted.bse
    assert (np.abs(coefficients - fitted.params) <= 1e-10 * size).all(), formula
    assert errors == pytest.approx(factor * fitted.bse, rel=1e-8), formula
    predicted = X @ fitted.params
    assert (np.abs(X @ coefficients - predicted) <= 1e-10 * np.abs(predicted).max()).all(), formula


def test_the_formulas_have_whatever_the_grammar_has():
    said = " ".join(drawn(seed)[2] for seed in range(200))
    signs = ["0 +", "- 1", "+ 0", "1 +", ":", "*", "/", "^2", "^3", "C(g)", "I(", "degree=", "):", " - "]
    functions = ["log(", "log2(", "log10(", "sqrt(", "abs(", "exp(", "center(", "scale(", "poly("]
    assert [one for one in (*signs, *functions) if one not in said] == []


@pytest.mark.parametrize(("power", "product"), [(n, "*".join(["a"] * n)) for n in range(2, 10)])
def test_a_power_is_the_product_within_i(power, product):
    frame = people(np.random.default_rng(power)).assign(a=lambda one: one["a"] / 4)
    raised = {one.term: one.before for one in fitted(frame, f"y ~ a^{power} + s")}
    written = {one.term: one.before for one in fitted(frame, f"y ~ I({product}) + s")}
    within = {one.term: one.before for one in fitted(frame, f"y ~ I(a^{power}) + s")}
    assert list(raised)[1] == f"a^{power}"
    known = formulaic.model_matrix(f"y ~ I(a**{power}) + s", for_formulaic(frame, ["a", "s"]))
    fit = sm.OLS(known.lhs.to_numpy()[:, 0], known.rhs.to_numpy(dtype=float)).fit()
    for found in (raised, written, within):
        assert list(found.values()) == pytest.approx(list(fit.params), rel=1e-10)


def fitted(frame, formula, kind="linear", **options):
    (judged,) = ma.utility(frame, frame, [ma.Analysis(kind, formula=formula, **options)]).analyses
    return judged.estimates


def test_a_power_in_a_formula_is_that_of_a_list_of_columns():
    frame = people(np.random.default_rng(0))
    (listed,) = ma.utility(frame, frame, [ma.Analysis("linear", ["log(y)", "a", "a^2", "log(b)^2"])]).analyses
    by_formula = fitted(frame, "log(y) ~ a + a^2 + log(b)^2")
    first, second = ([(e.term, e.before, e.interval_before) for e in own] for own in (listed.estimates, by_formula))
    assert first == second


def test_a_response_of_two_categories_is_that_of_a_list_of_columns():
    frame = people(np.random.default_rng(0))
    (listed,) = ma.utility(frame, frame, [ma.Analysis("logistic", ["s", "a"])]).analyses
    assert [one.before for one in fitted(frame, "s ~ a", "logistic")] == [one.before for one in listed.estimates]


def test_c_of_a_number_has_the_same_categories_in_both_files():
    frame = people(np.random.default_rng(0))
    masked = frame.assign(g=frame["g"].where(frame["g"] != 2.5, 3.0))
    (judged,) = ma.utility(frame, masked, [ma.Analysis("linear", formula="y ~ C(g)")]).analyses
    assert [one.term for one in judged.estimates] == ["intercept", "C(g)[T.1]", "C(g)[T.3]", "C(g)[T.7]"]


def test_what_is_no_number_is_left_out_and_counted():
    frame = people(np.random.default_rng(0)).assign(b=1.0)
    frame.loc[:2, "a"] = 0.0
    frame.loc[3, "a"] = -1.0
    for formula in ("y ~ log(a)", "y ~ I(1 / (a * (a + 1)))", "y ~ sqrt(a - 0.01)", "sqrt(a - 0.01) ~ c"):
        (judged,) = ma.utility(frame, frame, [ma.Analysis("linear", formula=formula)]).analyses
        assert judged.left_out == (4, 4)
        assert all(math.isfinite(one.before) for one in judged.estimates)
    (listed,) = ma.utility(frame, frame, [ma.Analysis("mean", "sqrt(a - 0.01)")]).analyses
    assert listed.left_out == (4, 4)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "term",
    [
        "poly(three, 3)",
        "poly(zero, 2)",
        "poly(two, 3)",
        "poly(log(0 * a), 2)",
        "poly(I(a * 1e-200), 3)",
        "scale(log(0 * a))",
        "center(log(0 * a))",
        "scale(zero)",
    ],
)
def test_a_function_of_numbers_that_are_too_few_is_no_number_for_any_record(term):
    frame = people(np.random.default_rng(0)).assign(three=3, zero=0)
    frame["two"] = np.arange(len(frame)) % 2
    (judged,) = ma.utility(frame, frame, [ma.Analysis("linear", formula=f"y ~ {term}")]).analyses
    assert all(math.isnan(one.before) for one in judged.estimates)
    assert judged.left_out == (len(frame), len(frame))


def test_too_many_coefficients_are_refused():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"y": rng.random(400), "p": rng.integers(0, 40, 400), "q": rng.integers(0, 40, 400)})
    with pytest.raises(ma.errors.InvalidParameter, match="has 1600 coefficients, and 1000 are the most"):
        fitted(frame, "y ~ C(p):C(q)")
