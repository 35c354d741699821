"""Recoding, spelt out: one cell at a time, classes by listing what is in them."""

import datetime as dt
import math
from fractions import Fraction

EPOCH = dt.date(1970, 1, 1)
A_DAY = dt.timedelta(days=1)


def recode(value, rule, narrow=float):
    """Recode a cell, a number or a date; `narrow` rounds to the column's type of floats."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return value
    if "join" in rule:
        return next((new for new, olds in rule["join"].items() if value in olds), value)
    if isinstance(value, dt.datetime):
        day = dt.datetime.combine
        bottom, top = (rule[end] and day(rule[end], dt.time()) if end in rule else None for end in ("bottom", "top"))
    else:
        bottom, top = rule.get("bottom"), rule.get("top")
        if isinstance(value, float):
            bottom, top = (None if end is None else narrow(end) for end in (bottom, top))
    if bottom is not None and value < bottom:
        value = bottom
    if top is not None and value > top:
        value = top
    if "width" not in rule and "cuts" not in rule:
        return value
    if isinstance(value, float):
        return class_of_float(value, rule, narrow)
    moment = isinstance(value, dt.datetime)
    found = class_of_whole(value.date() if moment else value, rule)
    return dt.datetime.combine(found, dt.time()) if moment and not isinstance(found, str) else found


def class_of_whole(value, rule):
    """Give what is released for a whole number or a day."""
    step = A_DAY if isinstance(value, dt.date) else 1
    low, following = bounds(value, rule, step)
    way = rule.get("as", "lower")
    if way == "label":
        return label_of_whole(value, low, following, rule, step)
    if low is None:
        low = rule["bottom"]
    if way == "lower":
        return low
    last = rule["top"] if following is None else following - step
    n_members = (last - low) // step + 1
    return low + (n_members - 1) // 2 * step


def bounds(value, rule, step):
    """Give where the class of a value begins and where the next one does; None at an open end."""
    if "cuts" in rule:
        below = [cut for cut in rule["cuts"] if cut <= value]
        above = [cut for cut in rule["cuts"] if cut > value]
        return (max(below) if below else None), (min(above) if above else None)
    width = rule["width"]
    if isinstance(width, str):
        inside = {
            "week": lambda day: day.isocalendar()[:2],
            "month": lambda day: (day.year, day.month),
            "quarter": lambda day: (day.year, (day.month - 1) // 3),
            "year": lambda day: day.year,
        }[width]
        low = following = value
        while inside(low - step) == inside(value):
            low -= step
        while inside(following) == inside(value):
            following += step
        return low, following
    start = rule.get("start", EPOCH if isinstance(value, dt.date) else 0)
    low = start + (value - start) // (width * step) * (width * step)
    return low, low + width * step


def label_of_whole(value, low, following, rule, step):
    """Give the name of a class of whole numbers or days."""
    dates = step == A_DAY
    lowest = low is None or (
        "bottom" in rule and low <= rule["bottom"] and (following is None or rule["bottom"] < following)
    )
    highest = following is None or ("top" in rule and (low is None or low <= rule["top"]) and rule["top"] < following)
    if lowest and highest:
        return "any"
    less, more = (" or earlier", " or later") if dates else (" or less", " or more")
    if isinstance(rule.get("width"), str):
        year, week, _ = value.isocalendar()
        own = {
            "week": f"{year}-W{week:02d}",
            "month": f"{value.year:04d}-{value.month:02d}",
            "quarter": f"{value.year}-Q{(value.month + 2) // 3}",
            "year": f"{value.year}",
        }[rule["width"]]
        return own + (less if lowest else more if highest else "")
    if lowest:
        return f"{following - step}{less}"
    if highest:
        return f"{low}{more}"
    last = following - step
    if low == last:
        return f"{low}"
    return f"{low} to {last}" if dates or low < 0 else f"{low}-{last}"


def class_of_float(value, rule, narrow):
    """Give the lower bound, or the middle, of the class that a number of a floating type is in."""
    if "cuts" in rule:
        below = [cut for cut in rule["cuts"] if narrow(cut) <= value]
        above = [cut for cut in rule["cuts"] if narrow(cut) > value]
        low = max(below) if below else rule["bottom"]
        following = min(above) if above else rule.get("top")
    else:
        width, start = Fraction(str(rule["width"])), Fraction(str(rule.get("start", 0)))
        number = (Fraction(value) - start) // width
        while narrow(start + number * width) > value:
            number -= 1
        while narrow(start + (number + 1) * width) <= value:
            number += 1
        low, following = start + number * width, start + (number + 1) * width
    if rule.get("as", "lower") == "lower":
        return narrow(low)
    return narrow((Fraction(str(low)) + Fraction(str(following))) / 2)
