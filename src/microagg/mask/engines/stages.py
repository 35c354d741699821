"""The stages from a file to what is released: one list, whoever does the work.

`memory` does them on a whole table, `disk` by threads on scratch files, `cluster` by tasks of a Dask cluster. All give
the same values for the same blocks: cuts are by rank, sums exact, and blocks are grouped by the same functions.
"""

from abc import ABC, abstractmethod
from typing import Generic, TypeVar

Opened = TypeVar("Opened")
Formed = TypeVar("Formed")
Represented = TypeVar("Represented")
Released = TypeVar("Released")


class Engine(ABC, Generic[Opened, Formed, Represented, Released]):
    """Who does the stages."""

    def run(self) -> Released:
        """Do all stages, one after the other."""
        opened = self.open()
        formed = self.form_groups(opened)
        return self.release(opened, formed, self.represent(opened, formed))

    @abstractmethod
    def open(self) -> Opened:
        """Code the columns, with strata, units and weights; refuse what cannot be masked."""

    @abstractmethod
    def form_groups(self, opened: Opened) -> Formed:
        """Find which record is in which group."""

    @abstractmethod
    def represent(self, opened: Opened, formed: Formed) -> Represented:
        """Find what groups release of each column, and of weights."""

    @abstractmethod
    def release(self, opened: Opened, formed: Formed, represented: Represented) -> Released:
        """Put that in the place of the values, whole or not at all, and count the promise on it."""
