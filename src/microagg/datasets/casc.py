"""The CASC reference files: looked for, or fetched from the public sdcMicro package, and verified.

The files may not be redistributed, so none is shipped.
"""

import hashlib
import io
import os
import tarfile
import tempfile
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.base.frozen import frozen
from microagg.datasets.made import as_frame
from microagg.errors import DatasetUnavailable, InvalidParameter

SOURCE = "https://cran.r-project.org/src/contrib/Archive/sdcMicro/sdcMicro_5.7.7.tar.gz"
_LARGEST_DOWNLOAD = 50_000_000

Table = dict[str, NDArray[Any]]


@frozen()
class Reference:
    """One reference file: what it is called in the package, its columns, and a digest of its content.

    The digest is taken over names and values, so that it is the same for a CSV and for the package.
    """

    member: str
    columns: tuple[str, ...]
    digest: str


REFERENCES = {
    "tarragona": Reference(
        "Tarragona",
        tuple(
            "FIXED.ASSETS CURRENT.ASSETS TREASURY UNCOMMITTED.FUNDS PAID.UP.CAPITAL SHORT.TERM.DEBT SALES LABOR.COSTS "
            "DEPRECIATION OPERATING.PROFIT FINANCIAL.OUTCOME GROSS.PROFIT NET.PROFIT".split()
        ),
        "b5a5e3a26f06b7a07fff8f24e2473a7dd139c0d02364ee2d560dc4e1fea8f0b8",
    ),
    "census": Reference(
        "CASCrefmicrodata",
        tuple(
            "AFNLWGT AGI EMCONTRB FEDTAX PTOTVAL STATETAX TAXINC POTHVAL INTVAL PEARNVAL FICA WSALVAL ERNVAL".split()
        ),
        "a512df3a787bf82254199f5fc97d26ab63a5448de94fe58037316db9df774cc3",
    ),
    "eia": Reference(
        "EIA",
        tuple(
            "UTILITYID RESREVENUE RESSALES COMREVENUE COMSALES INDREVENUE INDSALES OTHREVENUE OTHRSALES TOTREVENUE "
            "TOTSALES".split()
        ),
        "531a5850cbbe470f99fb79a2cf1842efc4a6da954e9170aab80cbfa2b3d43260",
    ),
}


def load(name: str, *, frame: str = "pyarrow") -> Any:
    """Load a reference file of the CASC project.

    It is looked for as `<name>.csv` in the folder `$MICROAGG_DATA`, then in the user's cache; otherwise
    it is fetched once from the public sdcMicro source package. Its content is verified either way.

    Parameters
    ----------
    name : {"tarragona", "census", "eia"}
        834 companies × 13, 1080 persons × 13, 4092 utilities × 11.
    frame : {"pyarrow", "pandas", "polars"}

    Returns
    -------
    dataframe

    Examples
    --------
    >>> import microagg as ma
    >>> ma.datasets.load("adult")
    Traceback (most recent call last):
    ...
    microagg.errors.InvalidParameter: there is no reference file 'adult'. Pass one of 'tarragona', 'census', 'eia'.
    """
    if name not in REFERENCES:
        raise InvalidParameter(f"there is no reference file {name!r}. Pass one of {', '.join(map(repr, REFERENCES))}.")
    reference = REFERENCES[name]
    own = os.environ.get("MICROAGG_DATA")
    if own and not Path(own).is_dir():
        raise DatasetUnavailable("MICROAGG_DATA does not name a folder. Correct it, or unset it to fetch the files.")
    for place in ([Path(own)] if own else []) + [_cache()]:
        path = place / f"{name}.csv"
        if path.is_file():
            return as_frame(_verified(_read_csv(path), reference, f"the file {path.name} that was found"), frame)
    table = _verified(_read_package(_download(SOURCE), reference), reference, "the sdcMicro package that was fetched")
    _remember(table, _cache() / f"{name}.csv")
    return as_frame(table, frame)


def _cache() -> Path:
    import platformdirs

    return Path(platformdirs.user_cache_dir("microagg")) / "casc"


def _read_csv(path: Path) -> Table:
    import pyarrow as pa
    from pyarrow import csv

    try:
        table = csv.read_csv(path)
        return {name: table[name].to_numpy() for name in table.column_names}
    except pa.ArrowException:  # whose message may quote the file
        raise DatasetUnavailable(f"{path.name} is not a readable CSV file. Replace or remove it.") from None


def _download(address: str) -> bytes:
    try:
        with urllib.request.urlopen(address, timeout=30) as response:
            content: bytes = response.read(_LARGEST_DOWNLOAD)
    except (urllib.error.URLError, OSError) as error:
        raise DatasetUnavailable(
            f"{address} could not be fetched ({type(error).__name__}). Put the CSV files into a folder and set "
            f"MICROAGG_DATA to it."
        ) from error
    return content


def _read_package(content: bytes, reference: Reference) -> Table:
    try:
        import rdata
    except ModuleNotFoundError:
        raise DatasetUnavailable("reading the package takes rdata. Run: pip install 'microagg[casc]'") from None
    wanted = f"sdcMicro/data/{reference.member}.rda"
    try:
        with tarfile.open(fileobj=io.BytesIO(content), mode="r:gz") as archive:
            member = archive.extractfile(wanted)
            data = member.read() if member is not None else b""
    except (tarfile.TarError, OSError, EOFError, KeyError) as error:
        raise DatasetUnavailable(f"the fetched package has no readable {wanted}. Try again later.") from error
    try:
        table = rdata.conversion.convert(rdata.parser.parse_data(data))[reference.member]
    except (ValueError, KeyError, OSError, EOFError, NotImplementedError) as error:
        raise DatasetUnavailable(f"{wanted} in the fetched package cannot be read. Try again later.") from error
    missing = [name for name in reference.columns if name not in table.columns]
    if missing:
        raise DatasetUnavailable(f"{wanted} has no column {missing[0]}: it is not the expected file.")
    return {name: table[name].to_numpy() for name in reference.columns}


def content_digest(table: Table) -> str:
    """Digest column names and values, the latter as float64."""
    digest = hashlib.sha256()
    for name, values in table.items():
        digest.update(name.encode() + b"\0")
        digest.update(np.ascontiguousarray(values, dtype="<f8").tobytes())
    return digest.hexdigest()


def _verified(table: Table, reference: Reference, source: str) -> Table:
    try:
        found = content_digest(table)
    except ValueError:  # not numbers
        found = ""
    if found != reference.digest:
        raise DatasetUnavailable(f"{source} is not the CASC file it should be: its checksum is another one.")
    return {name: np.asarray(values, dtype=np.int64) for name, values in table.items()}


def _remember(table: Table, path: Path) -> None:
    """Keep a copy for next time; a cache that cannot be written is no error."""
    import pyarrow as pa
    from pyarrow import csv

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent) as folder:
            fresh = Path(folder) / path.name
            csv.write_csv(pa.table(table), fresh)
            fresh.replace(path)
    except OSError:
        return
