"""Everything that microagg raises on purpose.

::

    MicroaggError
    ├── InputError (also a ValueError)     what was passed in cannot be used
    │   ├── InvalidParameter               k, a method, an option: the value, the limit, the remedy
    │   ├── RoleError                      a column that is unknown, has two roles, or has none
    │   ├── InvalidData                    missing, infinite, not numeric, too wide a range
    │   └── TooFewRecords                  fewer than k records, in the file or in a stratum
    ├── PromiseBroken                      the result would not be k-anonymous; nothing is returned
    ├── DatasetUnavailable                 a reference file could not be found, fetched or verified
    └── ClusterFailed                      a cluster cannot be reached, or cannot do the work

A message names the value, the limit and the remedy, and never shows a cell of the data: it may end up
in a log.

Examples
--------
>>> import microagg as ma
>>> try:
...     ma.protect(ma.datasets.survey(100).select(["income", "tax"]), k=1)
... except ma.errors.InputError as error:
...     print(f"{type(error).__name__}: {error}")
InvalidParameter: k=1 protects nobody: a group needs at least 2 records. Pass k=2 or more.
"""


class MicroaggError(Exception):
    """The root of all errors raised on purpose."""


class InputError(MicroaggError, ValueError):
    """What was passed in cannot be used."""


class InvalidParameter(InputError):
    """A parameter has a value that it cannot take."""


class RoleError(InputError):
    """A column is unknown, has more than one role, or has none."""


class InvalidData(InputError):
    """The values of a column cannot be microaggregated."""


class TooFewRecords(InputError):
    """There are fewer than k records, in the file or in one of its strata."""


class PromiseBroken(MicroaggError):
    """A result would not keep the promise of at least k; it is withheld."""


class DatasetUnavailable(MicroaggError):
    """A reference data set could not be found, fetched or verified."""


class ClusterFailed(MicroaggError):
    """A cluster cannot be reached, or its workers cannot do the work."""
