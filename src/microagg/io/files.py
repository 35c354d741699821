"""Files: written whole or not at all."""

import tempfile
from pathlib import Path
from typing import Any


def write_csv(table: Any, path: Path) -> None:
    """Write an Arrow table as CSV beside its place and move it there when it is whole."""
    import pyarrow.csv

    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".microagg-") as folder:
        fresh = Path(folder) / path.name
        pyarrow.csv.write_csv(table, fresh)
        fresh.replace(path)
