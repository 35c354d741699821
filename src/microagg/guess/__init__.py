"""What each column of a file probably is: rules that look at values first, and at names where those say nothing."""

from microagg.base.frozen import frozen
from microagg.columns.roles import Role


@frozen()
class ColumnGuess:
    """What a column holds and what it probably is.

    Attributes
    ----------
    name : str
    type : str
        "numbers", "whole numbers" (however they are stored), "codes", whose numbers stand for something else, "text",
        "dates", "booleans" or "other".
    missing, distinct : int
        Values that are missing; different ones among the others.
    role : Role
    reason : str
        Why that role and kind.
    kind : str or None
        "number", "date", "ordinal", "nominal" or "semi"; None where nothing can be said.
    spike : float or None
        The value that a semi-continuous column has most often.
    missing_codes : tuple of float
        Values that probably stand for a missing one, such as 99 or -9.
    """

    name: str
    type: str
    missing: int
    distinct: int
    role: Role
    reason: str
    kind: str | None = None
    spike: float | None = None
    missing_codes: tuple[float, ...] = ()
