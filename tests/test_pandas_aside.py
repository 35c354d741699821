"""pandas, kept aside on the command line."""

import subprocess
import sys

CODE = """
import sys
from microagg import _pandas
with _pandas.kept_aside():
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


def test_formulas_fetch_it():
    within = "from microagg.evaluate.analyses.formula import require_extra; print(require_extra().__name__)"
    assert run(within) == ["False", "pandas is kept aside", "formulaic", "(1, 1)"]
