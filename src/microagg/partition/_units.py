"""What must hold of units before anything is grouped by them."""

import numpy as np

from microagg.errors import InvalidParameter, TooFewRecords, setting
from microagg.units import Units


def check_units(units: Units | None, n: int, k: int) -> None:
    """Refuse units of n records that leave no way to keep k of them in a group."""
    if units is None:
        return
    if units.codes.shape != (n,):
        raise InvalidParameter(
            f"units have shape {units.codes.shape}, but there are {n} records. Pass one unit a record.",
            parameter="unit",
        )
    counts = np.bincount(units.codes)
    found, most = np.count_nonzero(counts), int(counts.max())
    if found < k:
        raise TooFewRecords(
            f"{n} record(s) of {found} unit(s) cannot fill a group of k={k} units. Merge strata or lower k.",
            parameter="unit",
        )
    if units.in_part and most * k > n:
        raise TooFewRecords(
            f"one unit has {most} of {n} records, and at most {n // k} may be of one where k={k}: it would hold more "
            f"than 1/k of some group. Merge strata, or ask for k different units and no more "
            f"({setting('unit_share', 'any')}).",
            parameter="unit",
        )
