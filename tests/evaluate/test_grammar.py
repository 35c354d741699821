"""One grammar for formulas, terms, conditions and relations: what it reads and refuses, and that it runs nothing."""

import ast
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import microagg as ma
from microagg.errors import InvalidParameter, RoleError
from microagg.measures.analyses import analysis, formula, regression, terms
from microagg.measures.analyses.terms import Condition, Term, formula_of
from microagg.recipe import grammar, relations

NAMES = [
    "x",
    "y",
    "age",
    "log",
    "eval",
    "a b",
    "hh-size",
    "Income (EUR)",
    "age^2b",
    "größe",
    "2020",
    " lead",
    "a`b",
    "sex",
    7,
    "(",
    "^",
    "=",
    "-x",
]


@pytest.mark.parametrize("module", [grammar, terms, formula, regression, relations, analysis])
def test_no_module_that_reads_texts_can_run_them(module):
    tree = ast.parse(Path(module.__file__).read_text("utf-8"))
    named = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    named |= {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and not (isinstance(node.value, ast.Name) and node.value.id == "re")
    }
    imported = {one.name for node in ast.walk(tree) if isinstance(node, ast.Import) for one in node.names}
    imported |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    able = {
        "eval",
        "exec",
        "compile",
        "getattr",
        "__import__",
        "globals",
        "vars",
        "import_module",
        "open",
        "literal_eval",
    }
    assert named & able == set()
    assert {one for one in imported if one.split(".")[0] not in {"microagg"}} <= {
        "collections.abc", "dataclasses", "functools", "itertools", "math", "numpy", "numpy.typing", "operator", "re",
        "typing",
    }  # fmt: skip


CODE = "open('ran', 'w').close() or 1.0"
SPELT = "+".join(f"c𝘩𝘳({ord(one)})" for one in CODE)
PLAIN = "+".join(f"chr({ord(one)})" for one in CODE)


@pytest.mark.parametrize(
    "said",
    [
        f"y ~ x + I(e𝘷𝘢𝘭({SPELT}))",  # Python normalises these letters, and finds its own functions
        f"y ~ x + I(𝘦𝘷𝘢𝘭({SPELT}))",
        f"y ~ x + I(eval({PLAIN}))",
        f"y ~ x + I((lambda eval: eval({PLAIN}))(eval))",
        f"y ~ x + lambda(eval({PLAIN}))",
        f"y ~ x + `eval`({PLAIN})",
        f"I(eval({PLAIN})) ~ x",
    ],
)
def test_a_formula_runs_no_code_whatever_columns_are_called(said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = ["y", "x", "eval", "chr", "e𝘷𝘢𝘭", "c𝘩𝘳", "𝘦𝘷𝘢𝘭", "lambda", "__import__"]
    frame = pd.DataFrame({name: np.arange(9.0) % 4 + n for n, name in enumerate(names)})
    with pytest.raises(InvalidParameter, match="is not understood"):
        ma.utility(frame, frame, [ma.Analysis("linear", formula=said)])
    assert list(tmp_path.iterdir()) == []


def test_a_column_is_a_column_whatever_it_is_called():
    names = ["eval", "chr", "__import__", "log", "I", "degree", "lambda", "e𝘷𝘢𝘭", "größe"]
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({name: rng.random(60) for name in names} | {"y": rng.random(60)})
    said = " + ".join(names) + " + log(log) + poly(degree, degree=2) + I(I * 2 + eval^2)"
    (judged,) = ma.utility(frame, frame, [ma.Analysis("linear", formula=f"y ~ {said}")]).analyses
    own = ["log(log)", "poly(degree, degree=2)[1]", "poly(degree, degree=2)[2]", "I(I * 2 + eval^2)"]
    assert [one.term for one in judged.estimates] == ["intercept", *names, *own]


def test_letters_that_python_takes_for_a_function_are_none():
    with pytest.raises(InvalidParameter, match="there is no function '𝘭𝘰𝘨' here"):
        formula_of("y ~ 𝘭𝘰𝘨(x)")
    with pytest.raises(RoleError, match="column 'größe' of an analysis is not in both files"):
        Term.parse("größe", ["gro\u0308ße"])  # the same letters, composed


@pytest.mark.parametrize(
    ("text", "shown", "columns"),
    [
        ("x", "x", ["x"]),
        (7, "7", [7]),
        ("log(x)", "log(x)", ["x"]),
        ("log( x )", "log(x)", ["x"]),
        ("log(log)", "log(log)", ["log"]),
        ("log", "log", ["log"]),
        ("x^2", "x^2", ["x"]),
        ("x ^ 9", "x^9", ["x"]),
        ("x^1", "x", ["x"]),
        ("log(a b)", "log(a b)", ["a b"]),
        ("a b^2", "a b^2", ["a b"]),
        ("log(hh-size)", "log(hh-size)", ["hh-size"]),
        ("Income (EUR)", "Income (EUR)", ["Income (EUR)"]),
        ("log(Income (EUR))", "log(Income (EUR))", ["Income (EUR)"]),
        ("age^2b^2", "age^2b^2", ["age^2b"]),
        ("log(2020)", "log(2020)", ["2020"]),
        ("log( lead)", "log( lead)", [" lead"]),
        ("log(a`b)", "log(a`b)", ["a`b"]),
        ("größe^3", "größe^3", ["größe"]),
        ("log(()", "log(()", ["("]),
        ("^^2", "^^2", ["^"]),
        ("= > 0", "= > 0", ["="]),
        ("I(-x + 1)", "I(-x + 1)", ["-x"]),
        ("sex = m", "sex = m", ["sex"]),
        ("sex == m", "sex = m", ["sex"]),
        ("sex=very good", "sex = very good", ["sex"]),
        ("a b != no", "a b != no", ["a b"]),
        ("x >= 1e3", "x >= 1e3", ["x"]),
        ("x<0", "x < 0", ["x"]),
        ("log(x + 1)^2", "log(x + 1)^2", ["x"]),
        ("I(x * 2 + y)", "I(x * 2 + y)", ["x", "y"]),
        ("sqrt(abs(`a b`))", "sqrt(abs(a b))", ["a b"]),
        ("sex = 'm'", "sex = m", ["sex"]),
        ('sex = "it\'s < 3"', "sex = it's < 3", ["sex"]),
    ],
)
def test_terms(text, shown, columns):
    found = Term.parse(text, NAMES)
    assert (str(found), list(found.columns)) == (shown, columns)


@pytest.mark.parametrize(
    ("text", "sign", "value"),
    [
        ("= 0", "=", "0"),
        ("==0", "=", "0"),
        ("> 1000", ">", "1000"),
        ("<=-3.5", "<=", "-3.5"),
        ("!= no", "!=", "no"),
        ("male", "=", "male"),
        (" very good ", "=", "very good"),
        ("a = b", "=", "a = b"),
        ("=", "=", "="),
        (3, "=", "3"),
        (True, "=", "True"),
        ("= '= 0'", "=", "= 0"),
        ("'s-Gravenhage", "=", "'s-Gravenhage"),
        ("eval(1)", "=", "eval(1)"),
    ],
)
def test_conditions(text, sign, value):
    assert Condition.parse(text) == Condition(sign, value)


@pytest.mark.parametrize(
    ("text", "columns", "alone", "sign"),
    [
        ("income = wage + 2 * benefits", ("income", "wage", "benefits"), ("income", None), "="),
        ("income == wage + 'child benefit'", ("income", "wage", "child benefit"), ("income", None), "="),
        ('"a b" <= `c d`', ("a b", "c d"), ("a b", "c d"), "<="),
        ("size >= adults", ("size", "adults"), ("size", "adults"), ">="),
        ("a != a + 1", ("a",), (None, None), "!="),
        ("-a < 3", ("a",), (None, None), "<"),
        ("2 * (größe + 1) <= .6e1", ("größe",), (None, None), "<="),
        ("log = eval", ("log", "eval"), ("log", "eval"), "="),
    ],
)
def test_relations(text, columns, alone, sign):
    found = ma.Relation.of(text)
    assert (found.columns, found.alone, found.sign) == (columns, alone, sign)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("y ~ a*b", ["1", "a", "b", "a:b"]),
        ("y ~ a/b", ["1", "a", "a:b"]),
        ("y ~ a:b - 1", ["a:b"]),
        ("y ~ 0 + a", ["a"]),
        ("y ~ a + 0 + 1", ["1", "a"]),
        ("y ~ (a + b):c", ["1", "a:c", "b:c"]),
        ("y ~ a*b*c - a:b:c", ["1", "a", "b", "c", "a:b", "a:c", "b:c"]),
        ("y ~ a:b + b:a + a:a", ["1", "a", "a:b"]),
        ("y ~ (a + b)/c", ["1", "a", "b", "a:b:c"]),
        ("y ~ a^2:b + log(a)^3", ["1", "log(a)^3", "a^2:b"]),
        ("y ~ 1", ["1"]),
        ("y ~ `a b` + 'c d'", ["1", "a b", "c d"]),
        ("y ~ I(-(a + b) * (a - (b - 1)) / (2 * b))", ["1", "I(-(a + b) * (a - (b - 1)) / (2 * b))"]),
    ],
)
def test_formulas(text, terms):
    assert [":".join(map(str, one)) or "1" for one in formula_of(text).terms] == terms


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("y ~ x**2", r"at character 6: it has '\*\*'; a power is written with \^"),
        ("y ~ (a + b)^2", r"at character 12: \^ comes after a bracket"),
        ("y ~ x^0", "at character 7: a power must be a whole number from 1 to 9"),
        ("y ~ x^10", "a power must be a whole number from 1 to 9"),
        ("y ~ x^2.0", "a power must be a whole number from 1 to 9"),
        ("y ~ x^-1", "a power must be a whole number from 1 to 9"),
        ("y ~ x^x", "a power must be a whole number from 1 to 9"),
        ("y ~ x^2^2", "a power is raised to a power"),
        ("y ~ poly(x, 6)", "the degree of poly must be a whole number from 1 to 5"),
        ("y ~ poly(x, raw=1)", "the degree of poly must be"),
        ("y ~ poly(x, 2)^2", r"poly\(…\) cannot be raised to a power"),
        ("y ~ C(x)^2", r"C\(…\) cannot be raised"),
        ("y ~ log(poly(x, 2))", "is inside another function"),
        ("poly(x, 2) ~ y", r"poly\(…\) cannot be the response"),
        ("y ~ C(x + 1)", r"it has '\+' in place of \)"),
        ("y ~ C(2)", "it has '2' in place of a column"),
        ("y ~ bs(x, df=5)", "there is no function 'bs' here"),
        ("y ~ cs(x)", "there is no function 'cs' here"),
        ("y ~ 2*x", r"it has '2' in place of a column or a function; arithmetic.* is written as I\(2 \* x\)"),
        ("y ~ (1 + x):z", "it has '1' in place of a column or a function"),
        ("y ~ x:0", "it has '0' in place of a column"),
        ("y ~ I(2)", r"'I\(2\)' names no column"),
        ("y ~ 0", "nothing is left that explains the response"),
        ("y ~ x - x - 1", "nothing is left that explains the response"),
        ("y + z ~ x", r"it has '\+' in place of ~"),
        ("y ~ x ~ z", "'~' is not expected here"),
        ("~ x", "it has '~' in place of a column"),
        ("y ~ x == 2", "'==' is not expected here"),
        ("y ~ x ? z", r"it has '\?', which is not allowed"),
        ("y ~ log(x, 2)", r"it has ',' in place of \)"),
        ("y ~ x y", "'y' is not expected here; perhaps a sign such as [+] is missing, or a name needs `backticks`"),
        ("y ~ ٣*x", "which is not allowed"),
        ("y ~ log()", "in place of a column, a number"),
    ],
)
def test_what_a_formula_does_not_have_is_refused_with_its_place_and_the_remedy(text, why):
    with pytest.raises(InvalidParameter, match=why) as caught:
        ma.Analysis("linear", formula=text)
    assert caught.value.parameter == "formula"
    assert "Write the response, ~, and what explains it" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "error", "why"),
    [
        ("z", RoleError, "column 'z' of an analysis is not in both files"),
        ("x y", RoleError, "column 'x y' of an analysis is not in both files"),
        ("x + y", RoleError, r"column 'x \+ y' of an analysis is not in both files"),
        ("log(z)", RoleError, "column 'z' of an analysis is not in both files"),
        ("x^10", InvalidParameter, "a power must be a whole number from 1 to 9"),
        ("x**2 > 0", InvalidParameter, r"it has '\*\*'"),
        ("(x + y)^2", InvalidParameter, r"it has '\(' in place of a column or a function"),
        ("center(x)", InvalidParameter, "there is no function 'center' here. Only a formula can have it"),
        ("poly(x, 2)", InvalidParameter, "Only a formula can have it"),
        ("bs(x)", InvalidParameter, "It can be log, log2, log10, exp, sqrt, abs, I"),
        ("log(x) > 3", InvalidParameter, "'>' is not expected here"),
        ("sex =", InvalidParameter, "'=' is not expected here"),
        ("log(x", InvalidParameter, "it ends too early"),
    ],
)
def test_what_a_term_does_not_have_is_refused(text, error, why):
    with pytest.raises(error, match=why):
        Term.parse(text, ["x", "y", "sex", "hh-size"])


HEAVY = {
    "9**9**9**9": "it has '9' in place of a column or a function",
    "x**9**9**9": r"it has '\*\*'; a power is written with",
    "I(9^9^9^9)": "a power is raised to a power",
    "poly(x, degree=10^6)": "the degree of poly must be a whole number from 1 to 5",
    "poly(x, degree=1000000)": "the degree of poly must be a whole number from 1 to 5",
    "I(x * " + "9" * 5000 + ")": r"a number is larger than 1e\+300",
    "x^" + "9" * 5000: "a power must be a whole number from 1 to 9",
    "(" * 4000 + "x": "more than 30 brackets or signs inside each other",
    "I(" + "-" * 4000 + "x)": "more than 30 brackets or signs inside each other",
    "log(" * 2000 + "x": "more than 30 brackets or signs inside each other",
    " + ".join(["x"] * 20_000): "characters, and 10000 are the most",
    "x" * 20_000: "characters, and 10000 are the most",
    "*".join(f"(a{n} + b{n} + c{n} + d{n} + e{n} + f{n} + g{n})" for n in range(30)): "it has more than 1000 terms",
    "*".join(f"a{n}" for n in range(40)): "a term multiplies more than 6 columns or functions",
    " + ".join(f"a{n}" for n in range(1200)): "it has more than 1000 terms",
}


@pytest.mark.parametrize("said", HEAVY)
def test_what_would_take_long_is_refused_at_once_with_its_line(said, tmp_path):
    text = f'k = 3\n[roles]\nquasi = ["x"]\n[[analysis]]\nkind = "linear"\nformula = "y ~ {said}"\n'
    began = time.process_time()
    with pytest.raises(InvalidParameter, match=rf"^r.toml, line 6: in \[\[analysis\]\], .*{HEAVY[said]}") as caught:
        ma.Recipe.parse(text, "r.toml")
    assert time.process_time() - began < 1
    assert len(str(caught.value)) < 700
    (tmp_path / "r.toml").write_text(text, "utf-8")
    with pytest.raises(InvalidParameter, match="line 6"):
        ma.Recipe.read(tmp_path / "r.toml")


@pytest.mark.parametrize(
    ("key", "said", "line", "why"),
    [
        ("holds", "income = wage / 2", 7, "it has '/', which is not allowed"),
        ("holds", "income = " + "9" * 5000, 7, r"a number is larger than 1e\+300"),
        ("value", "9" * 5000, 10, "it has 5000 characters, and 1000 are the most"),
    ],
)
def test_what_is_wrong_with_a_relation_or_a_condition_has_its_line(key, said, line, why):
    values = {"holds": "income >= wage", "value": "= 0"} | {key: said}
    text = (
        'k = 3\n[roles]\nquasi = ["income", "wage"]\nrest = "drop"\n[[relation]]\ntolerance = 1\n'
        f'holds = "{values["holds"]}"\n[[analysis]]\nkind = "share"\nvalue = "{values["value"]}"\ncolumns = "wage"\n'
    )
    with pytest.raises(InvalidParameter, match=rf"^r.toml, line {line}: in \[\[\w+\]\], .*{why}"):
        ma.Recipe.parse(text, "r.toml")


@pytest.mark.parametrize(
    ("said", "line", "why"),
    [
        ('columns = ["income", "wage^22"]', 9, "the term 'wage.22' is not understood at character 6"),
        ('columns = ["income", "log(wags)"]', 9, "column 'wags' of the analysis .* Did you mean 'wage'"),
        ('formula = "income ~ wags"', 9, "column 'wags' of the analysis .* is not in the file. Did you mean 'wage'"),
        ('name = "outcome"\ncolumns = ["income", "wage"]\nby = "come"', 11, "column 'come' of the analysis 'outcome'"),
    ],
)
def test_what_shows_only_with_the_file_has_its_line_too(said, line, why):
    frame = pd.DataFrame({"income": np.arange(30.0), "wage": np.arange(30.0)[::-1]})
    text = 'k = 3\n[roles]\nquasi = ["wage", "income"]\n[[analysis]]\nkind = "mean"\ncolumns = "wage"\n'
    recipe = ma.Recipe.parse(f'{text}[[analysis]]\nkind = "linear"\n{said}\n', "r.toml")
    with pytest.raises(ma.errors.InputError, match=f"^r.toml, line {line}: {why}"):
        ma.protect(frame, recipe=recipe)
    with pytest.raises(ma.errors.InputError, match=rf"^r\.toml, line {line}: "):
        ma.utility(frame, frame, recipe.analyses.analyses)


def test_a_number_of_thousands_of_digits_is_refused_as_a_value():
    with pytest.raises(InvalidParameter, match="value is a number of thousands of digits"):
        ma.Analysis("share", "x", value=10**5000)
