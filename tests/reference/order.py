"""The order of records by their values, written plainly."""


def in_order(rows, units=None):
    """Give the numbers of records, sorted by what they are, then by what their unit is; and what each unit is.

    `rows` are tuples. A unit is the number of its rows, then these, sorted.
    """
    if units is None:
        return sorted(range(len(rows)), key=rows.__getitem__), None
    held = {}
    for row, unit in zip(rows, units, strict=True):
        held.setdefault(unit, []).append(row)
    content = {unit: (len(own), sorted(own)) for unit, own in held.items()}
    return sorted(range(len(rows)), key=lambda i: (rows[i], content[units[i]])), [content[unit] for unit in units]
