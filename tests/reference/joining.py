"""Two files joined, slowly: a dictionary of households, and one look into it for each person."""


def joined(persons, households, on):
    """Give each person's row with what the household's row says, and how many households nobody has."""
    known = {row[on]: row for row in households}
    if len(known) < len(households) or any(row[on] not in known for row in persons):
        raise ValueError
    rows = [{**row, **known[row[on]]} for row in persons]
    return rows, len(known) - len({row[on] for row in persons})
