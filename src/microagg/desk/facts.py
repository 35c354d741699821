"""Figures as plain values, for programs: the same dictionaries whichever edge hands them out."""

import math
from collections.abc import Mapping
from typing import Any

from microagg.evaluate.risk import DisclosureRisk
from microagg.release import Release
from microagg.study.inspection import Inspection


def plain(value: Any) -> Any:
    """Give what JSON can hold for what it cannot: it has no infinite numbers, so they become null."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    return [plain(one) for one in value] if isinstance(value, (list, tuple, set)) else str(value)


def risk_facts(risk: DisclosureRisk) -> dict[str, Any]:
    """Give the figures of risk, with the columns that the intruder knows and the sample they were estimated on."""
    return {
        "keys": [name for name in risk.columns if name in risk.keys],
        "record_linkage_percent": risk.rld,
        "record_linkage_all_keys_percent": risk.full_keys,
        "sampled": risk.sampled,
        "seed": risk.seed,
        "standard_error": risk.standard_error,
        "interval_disclosure_percent": risk.interval,
        "g_dr": risk.g_dr,
    }


def release_facts(release: Release) -> dict[str, Any]:
    """Give the figures of a release that was judged."""
    return {
        "records": len(release.groups),
        "records_left_out": release.n_dropped,
        "groups": release.n_groups,
        "k": release.recipe.k,
        "k_reached": release.k_achieved,
        "information_loss_percent": release.information.percent,
        "g_il": release.loss.g_il,
        **risk_facts(release.risk),
    }


def column_facts(inspection: Inspection) -> list[dict[str, Any]]:
    """Give what was guessed of each column."""
    return [
        {
            "name": column.name,
            "type": column.type,
            "missing": column.missing,
            "distinct": column.distinct,
            "role": column.role.value,
            "reason": column.reason,
        }
        for column in inspection.columns
    ]
