"""The job that masks to a table of PostgreSQL: a server of the campaign's own, and a table for each case."""

import hashlib
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pyarrow as pa

import microagg as ma
from adversary.children import Child
from adversary.jobs import FORMER, Job
from microagg.errors import MicroaggError

TABLE = "table"  # stands for the table among the outputs; there is no file of this name


def start_server(stack: ExitStack) -> Any:
    """Start a server that ends with the campaign, or give None where there is none on this machine."""
    from tests.conftest import find_program
    from tests.io.server import postgresql

    try:
        find_program("initdb")
        return stack.enter_context(postgresql())
    except BaseException as error:  # a test that is left out is no Exception
        if isinstance(error, KeyboardInterrupt):
            raise
        return None


class InServer(Job):
    """A mask to a table; the former table holds canaries."""

    server: Any = None

    def _address(self, place: Path) -> str:
        own = hashlib.sha256(str(place).encode()).hexdigest()[:12]
        return str(self.server.address(f"t{own}"))

    def lay_out(self, place: Path, *, with_former: bool) -> None:
        """Put the source and the former output there, and a table to replace into the database."""
        table, self.outputs = self.outputs[0], self.outputs[1:]
        try:
            super().lay_out(place, with_former=with_former)
        finally:
            self.outputs = [table, *self.outputs]
        if with_former:
            ma.write(_former(), self._address(place), overwrite=True)

    def start(self, place: Path, scratch: Path, *, k: int = 5, again: bool = False) -> Child:
        """Start it, with a table of its own as the target."""
        is_there = self.digest_of(TABLE, place) != "absent" or (place / "out").exists()
        force = ["--force"] if again or is_there else []
        return Child([*self.words, "--to", self._address(place), "-k", str(k), *force], place, scratch)

    def digest_of(self, name: str, place: Path) -> str:
        """Return a checksum of the table, or of a file."""
        if name != TABLE:
            return super().digest_of(name, place)
        if place == self.pool / self.name / "former" and self.former == {}:
            ma.write(_former(), self._address(place), overwrite=True)  # what each case begins with
        with suppress(MicroaggError):
            table = ma.read(self._address(place)).table
            rows = sorted(map(repr, table.to_pylist()))
            return hashlib.sha256("\n".join(rows).encode()).hexdigest()[:16]
        return "absent"

    def state(self, place: Path, with_former: bool) -> tuple[str, str]:
        """Look when the server has heard that its client is no more."""
        time.sleep(0.3)
        return super().state(place, with_former)

    def canaries_in_outputs(self, place: Path, state: str) -> list[str]:
        """Look into the table too."""
        found = super().canaries_in_outputs(place, state)
        with suppress(MicroaggError):
            if state == "new" and FORMER in repr(ma.read(self._address(place)).table.to_pylist()):
                found.append("the table holds what it held before")
        return found


def _former() -> pa.Table:
    return pa.table({"who": [f"{FORMER}{row}" for row in range(50)], "wage": list(range(50))})
