"""`microagg assess`: loss and risk of any masked file, whoever made it."""

import pyarrow as pa

from microagg.assess import disclosure_risk, loss_measures
from microagg.cli import _roles
from microagg.cli._terminal import Terminal, table_of
from microagg.errors import InvalidData, RoleError
from microagg.evaluate.score import scoring_index
from microagg.io.sources import Source

_SAMPLE_ABOVE, _SAMPLE = 200_000, 20_000


def run(
    original: str,
    masked: str,
    columns: list[str] | None,
    keys: list[str] | None,
    sample: int | None,
    seed: int,
    quiet: bool,
    as_json: bool,
) -> None:
    """Compare two files record by record."""
    terminal = Terminal(quiet=quiet, as_json=as_json)
    before, after = _roles.read(terminal, original, {}), _roles.read(terminal, masked, {})
    names = columns if columns is not None else _masked_columns(terminal, before, after)
    for source, which in ((before, "original"), (after, "masked")):
        for name in names:
            if name not in source.table.column_names:
                raise RoleError(f"column {name!r} is not in the {which} file. Name columns that both have.")
    left, right = before.typed(names).select(names), after.typed(names).select(names)
    if sample is None and left.num_rows > _SAMPLE_ABOVE:
        sample = _SAMPLE
    with terminal.bar("measuring loss and risk") as tell:
        loss = loss_measures(left, right)
        risk = disclosure_risk(left, right, keys=keys, sample=sample, seed=seed, progress=tell)
    score = scoring_index(loss.g_il, risk.g_dr)
    table = table_of("column", "information loss %", "raises linkage by")
    for name in names:
        driver = f"{risk.drivers[name]:.2f} points" if name in risk.drivers else ""
        table.add_row(name, f"{loss.per_column[name]:.2f}", driver)
    terminal.show(table)
    error = f" ± {risk.standard_error:.2f}, estimated on {risk.sampled} records" if risk.sampled else ""
    terminal.say(f"\ninformation loss {loss.percent:.2f} %, G_IL {loss.g_il:.3f}")
    terminal.say(f"records linked {risk.rld:.2f} %{error}; values within an interval {risk.interval:.2f} %")
    terminal.say(f"G_DR {risk.g_dr:.2f}; scoring index {score:.2f} (less is better)")
    terminal.result(
        {
            "columns": names,
            "information_loss_percent": loss.percent,
            "per_column_percent": dict(loss.per_column),
            "g_il": loss.g_il,
            "record_linkage_percent": risk.rld,
            "standard_error": risk.standard_error,
            "sampled": risk.sampled,
            "interval_disclosure_percent": risk.interval,
            "g_dr": risk.g_dr,
            "scoring_index": score,
        }
    )


def _masked_columns(terminal: Terminal, before: Source, after: Source) -> list[str]:
    """Give the columns that are numbers in both files and differ: those that were masked."""
    left, right = before.typed(), after.typed()
    common = [name for name in left.column_names if name in right.column_names]
    common = [name for name in common if _is_numeric(left[name].type) and _is_numeric(right[name].type)]
    if not common:
        raise InvalidData("the files have no column of numbers in common. Name them with --columns.")
    same = [name for name in common if left[name].equals(right[name].cast(left[name].type, safe=False))]
    if len(same) == len(common):
        return common
    if same:
        terminal.say(f"Left out, since they are as they were: {', '.join(same)}")
    return [name for name in common if name not in same]


def _is_numeric(type_: pa.DataType) -> bool:
    return bool(pa.types.is_integer(type_) or pa.types.is_floating(type_))
