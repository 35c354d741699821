"""One figure for loss and risk together."""

from typing import Any

from microagg.checks import check_between


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
    x = check_between("x", x, 0.0, 1.0, "It is the weight of the loss; 0.5 weighs loss and risk equally.")
    return float(x * g_il + (1 - x) * g_dr)
