"""A column before and after masking: its bins, with what stands apart from them, or its categories."""

from collections.abc import Sequence

from markupsafe import Markup

from microagg.judge.parts import Distribution
from microagg.judge.text import percent, percents
from microagg.report.pictures.bars import apart, bar_name, bar_words, bars
from microagg.report.pictures.scales import FONT, Scale, Tick, exact, steps, text_width, ticks
from microagg.report.templates import drawn, px

_WIDTH, _TOP, _FLOOR, _HEIGHT = 300.0, 6.0, 92.0, 112.0
_MOST_TICKS = 5


def distribution(one: Distribution) -> Markup:
    """Draw a column: before as an area, after as a line; in public the masked file as an area."""
    return bins(one) if one.edges else bars(one)


def in_numbers(one: Distribution) -> list[tuple[str, float | None, float]]:
    """Return what a picture shows as text: each bin and bar, with its share before, where that is shown, and after."""
    bins = [(_where(one, at), one.before[at] if one.before else None, after) for at, after in enumerate(one.after)]
    return [*bins, *((bar_name(bar), bar.before, bar.after) for bar in one.bars)]


def bins(one: Distribution) -> Markup:
    """Draw a column's bins, and beside them what is no part of them."""
    aside, start = apart(one, _TOP, _FLOOR)
    halves = [right / 2 - left / 2 for left, right in zip(one.edges, one.edges[1:], strict=False)]
    halves = halves if min(halves) > 0 else [1.0] * len(halves)  # too narrow for float64 to hold their width
    narrowest = min(halves)
    # A bar's area is its share: of bins of unequal width the wider is lower.
    before, after = (
        [share * narrowest / half for share, half in zip(shares, halves, strict=True)] if shares else []
        for shares in (one.before, one.after)
    )
    tops = [max(pair) for pair in zip(before, after, strict=True)] if before else after
    ceiling = _ceiling(tops)
    across, up = Scale(one.edges[0], one.edges[-1], start, _WIDTH), Scale(0.0, ceiling, _FLOOR, _TOP)
    places = [across(edge) for edge in one.edges]
    levels = {name: [max(0.0, up(height)) for height in heights] for name, heights in (("b", before), ("a", after))}
    cut, words = max(tops) > ceiling, _words(one)
    return drawn(
        "distribution",
        label=_label(one, words),
        start=start,
        width=_WIDTH,
        height=_HEIGHT + (11.0 if aside else 0.0),
        top=_TOP,
        floor=_FLOOR,
        aside=aside,
        before=steps(places, levels["b"], _FLOOR) if before else "",
        after=_line(places, levels["a"]) if before else "",
        masked="" if before else steps(places[1:-1], levels["a"][1:-1], _FLOOR),
        ends=[] if before else [steps(places[at : at + 2], [levels["a"][at]], _FLOOR) for at in (0, len(after) - 1)],
        ticks=_ticks(one, across),
        cut_off=_cut_off(before, after, places, tops.index(max(tops))) if cut else None,
        bins=[(places[i], places[i + 1] - places[i], words[i]) for i in range(len(after))],
    )


def _ceiling(tops: Sequence[float]) -> float:
    """Return the height of a plot: where one bar is far above all others, theirs."""
    *_, second, top = sorted(tops)
    return 2.0 * second if top > 4.0 * second > 0 else 1.08 * max(top, 1e-9)


def _line(places: Sequence[float], levels: Sequence[float]) -> str:
    """Return the outline of bars without sides at the ends, open where a bar ends above the picture."""
    path = [f"M{px(places[0])} {px(levels[0])}"]
    for number, (right, level) in enumerate(zip(places[1:], levels, strict=True)):
        if number:
            path.append(f"V{px(level)}")
        path.append(f"H{px(right)}" if level > 0 else f"M{px(right)} 0")
    return "".join(path)


def _cut_off(before: Sequence[float], after: Sequence[float], places: Sequence[float], at: int) -> dict[str, object]:
    """Return the height of a bar that ends above the plot, beside it."""
    left = at < len(after) / 2
    told = f"↑ {percent(before[at])} → {percent(after[at])}" if before else "↑"
    return {"x": places[at + 1] + 5 if left else places[at] - 5, "anchor": "start" if left else "end", "text": told}


def _ticks(one: Distribution, across: Scale) -> list[tuple[Tick, str]]:
    """Return the ticks, and on which side of its place each label stands: the outermost stay inside."""
    if one.marks:
        found = _marked(one, across)
    else:
        # Where an open bin is drawn in public there is no scale.
        low, high = (one.edges[0], one.edges[-1]) if one.before else (one.edges[1], one.edges[-2])
        found = ticks(across, low, high, _MOST_TICKS, least=1.0 if _is_whole(one) else 0.0)
    left, right = across.start + 8, _WIDTH - 8
    return [(tick, "start" if tick.place < left else "end" if tick.place > right else "middle") for tick in found]


def _marked(one: Distribution, across: Scale) -> list[Tick]:
    """Mark borders that have a name, as many as have room for it."""
    named = [Tick(across(edge), mark) for edge, mark in zip(one.edges, one.marks, strict=True) if mark]
    widest = max(text_width(tick.label, FONT) for tick in named) + FONT
    room = max(1, min(_MOST_TICKS, int((across.end - across.start) / widest)))
    return named[:: -(-len(named) // room)]


def _words(one: Distribution) -> list[str]:
    """Return in words what each bin holds."""
    before, after = percents(one.before), percents(one.after)
    shares = [f"{was} before, {now} after" for was, now in zip(before, after, strict=True)] if before else after
    return [f"{_where(one, at)}: {share}" for at, share in enumerate(shares)]


def _where(one: Distribution, at: int) -> str:
    low, high = one.edges[at], one.edges[at + 1]
    if one.marks:
        low_mark, high_mark = one.marks[at], one.marks[at + 1]
        last = at == len(one.after) - 1
        return f"before {high_mark}" if at == 0 else f"{low_mark} or later" if last else f"{low_mark} to {high_mark}"
    whole = _is_whole(one)
    if at == 0:
        return f"up to {exact(low + 0.5)}" if whole else f"below {exact(high)}"
    if at == len(one.after) - 1:
        return f"{exact(low + 0.5 if whole else low)} or more"
    return exact(low + 0.5) if whole else f"{exact(low)} to {exact(high)}"


def _is_whole(one: Distribution) -> bool:
    """Return whether each bin has a whole number in its middle; in public none are cut so."""
    return bool(one.before) and not one.marks and one.edges[1] - one.edges[0] == 1 and one.edges[0] % 1 == 0.5


def _label(one: Distribution, words: Sequence[str]) -> str:
    """Return what is drawn, for readers who cannot see it."""
    most = max(range(len(one.after)), key=lambda at: one.before[at] if one.before else one.after[at])
    what = "before and after masking" if one.before else "masked"
    told = "".join(f" {bar}." for bar in map(bar_words, one.bars))
    return f"{one.column}, {what}, in {len(one.after)} bins. Most records: {words[most]}.{told}"
