"""What the commands tell a program about risk: never a figure without what it was measured by."""

from typing import Any

from microagg.evaluate.risk import DisclosureRisk


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
