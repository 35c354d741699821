"""How the chance of being linked is spread over the records."""

from markupsafe import Markup

from microagg.judge.parts import RecordRisk
from microagg.judge.text import percent
from microagg.report.pictures.scales import Scale, exact, steps, ticks
from microagg.report.templates import drawn

_LEFT, _RIGHT, _TOP, _FLOOR = 46.0, 672.0, 10.0, 176.0


def record_risk(found: RecordRisk) -> Markup:
    """Draw how the chance of being linked is spread over the records."""
    across = Scale(0.0, found.edges[-1] * 1.04, _LEFT, _RIGHT)
    up = Scale(0.0, max(found.shares) * 1.15, _FLOOR, _TOP)
    places = [across(edge) for edge in found.edges]
    bound = None
    if found.bound is not None:
        bound = {"x": across(found.bound), "text": f"the most that k allows: {percent(found.bound)}"}
    return drawn(
        "records",
        label=f"spread of the records' risk. {found.quantiles[-1][0]}: {percent(found.quantiles[-1][1])}.",
        left=_LEFT,
        right=_RIGHT,
        top=_TOP,
        floor=_FLOOR,
        bars=steps(places, [up(share) for share in found.shares], _FLOOR),
        across=ticks(across, across.low, across.high, 8),
        up=ticks(up, up.low, up.high, 6),
        bound=bound,
        bins=[
            (left, right - left, f"{exact(low)} to {exact(high)} %: {percent(share)} of the records")
            for left, right, low, high, share in zip(
                places, places[1:], found.edges, found.edges[1:], found.shares, strict=False
            )
        ],
    )
