"""One figure for loss and risk together."""

from typing import Any

from microagg.errors import InvalidParameter


def scoring_index(g_il: float, g_dr: float, x: Any = 0.5) -> float:
    """Weigh the loss of a release against its risk; lower is better.

    Parameters
    ----------
    g_il : float
        The overall loss, in percent (`loss_measures(...).g_il`).
    g_dr : float
        The overall risk, in percent (`disclosure_risk(...).g_dr`).
    x : float
        The weight of the loss, from 0 to 1.

    Returns
    -------
    float
        x · g_il + (1 − x) · g_dr

    References
    ----------
    B. J. Oommen, E. Fayyoumi: On utilizing association and interaction concepts for enhancing
    microaggregation in secure statistical databases. IEEE Trans. SMC-B 40(1), 2010, equation 8.

    Examples
    --------
    >>> import microagg as ma
    >>> ma.scoring_index(22.15, 31.88)
    27.015
    """
    if isinstance(x, bool) or not isinstance(x, (int, float)) or not 0 <= x <= 1:
        raise InvalidParameter("x, the weight of the loss, must be a number from 0 to 1. Pass 0.5 to weigh both alike.")
    return float(x * g_il + (1 - x) * g_dr)
