"""Draw the risk–utility maps of Census: docs/risk_utility.png, and docs/risk_utility_refined.png for refined groups.

Run with `make risk-map`; needs MICROAGG_DATA.
"""

from pathlib import Path

from microagg import compare, datasets

KEYS = ["FEDTAX", "AFNLWGT", "AGI", "EMCONTRB", "PTOTVAL", "TAXINC", "STATETAX"]


MAPS = {
    "risk_utility.png": ["mdav", "cbfs", "vmdav", "iamat"],
    "risk_utility_refined.png": {"mdav": "mdav", "mdav, refined": {"refine": "fast"}},
}


def main() -> None:
    """Compare, print and draw."""
    for name, methods in MAPS.items():
        found = compare(datasets.load("census"), methods, range(3, 11), keys=KEYS)
        print(found)
        path = Path(__file__).parent.parent / "docs" / name
        found.plot().figure.savefig(path, dpi=130, metadata={"Software": None})
        print(f"drawn to {path}")


if __name__ == "__main__":
    main()
