"""pandas, kept aside on the command line."""

import subprocess
import sys

CODE = """
import sys
from microagg.base.imports import pandas_kept_aside
with pandas_kept_aside():
    import pyarrow as pa
    assert pa.scalar("a").as_py() == "a" and pa.array([1, None]).null_count == 1
    print("pandas" in sys.modules)
    try:
        import pandas
    except ModuleNotFoundError as error:
        print(error)
    {within}
import pandas
print(pa.table({{"a": [1]}}).to_pandas().shape)
"""


def run(within):
    code = CODE.format(within=within)
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.splitlines()


def test_arrow_works_without_pandas_and_with_it_afterwards():
    assert run("pass") == ["False", "pandas is kept aside", "(1, 1)"]


def test_formulas_do_not_need_it():
    fit = "ma.utility(t, t, [ma.Analysis('linear', formula='y ~ log(x)')])"
    within = f"import microagg as ma; t = pa.table({{'x': [1.0, 2.0, 4.0], 'y': [1.0, 3.0, 2.0]}}); print(len({fit}))"
    assert run(within) == ["False", "pandas is kept aside", "2", "(1, 1)"]
