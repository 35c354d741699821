"""Draw the risk–utility map of Census: docs/risk_utility.png. Run with `make risk-map`; needs MICROAGG_DATA."""

from pathlib import Path

from microagg import compare, datasets

KEYS = ["FEDTAX", "AFNLWGT", "AGI", "EMCONTRB", "PTOTVAL", "TAXINC", "STATETAX"]


def main() -> None:
    """Compare, print and draw."""
    found = compare(datasets.load("census"), ["mdav", "cbfs", "vmdav", "iamat"], range(3, 11), keys=KEYS)
    print(found)
    path = Path(__file__).parent.parent / "docs" / "risk_utility.png"
    found.plot().figure.savefig(path, dpi=130, metadata={"Software": None})
    print(f"drawn to {path}")


if __name__ == "__main__":
    main()
