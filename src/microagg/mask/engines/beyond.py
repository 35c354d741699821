"""The stages on a file that need not fit into memory.

`disk` does their steps by threads of this process, `cluster` by tasks of a Dask cluster, which leaves a folder of parts
unless the target is text. Both give the same records in the same order, and the same as `protect` in memory.
"""

from abc import abstractmethod
from dataclasses import replace

from microagg.checks import check_enough_records
from microagg.columns.patterns import Patterns
from microagg.errors import InvalidData
from microagg.files.batches import Batches
from microagg.mask.engines.census import Census
from microagg.mask.engines.cuts import CutTree
from microagg.mask.engines.figures import Drawn, Figures, Lost, Outcome, share_drawn
from microagg.mask.engines.plan import Known, Plan
from microagg.mask.engines.stages import Engine
from microagg.mask.weights import Calibrated, RoundedFacts

Opened = tuple[Plan, Known, Patterns]  # what is to be done, what is known of the file, and which columns lack values
Formed = tuple[Plan, int, Figures]  # with how to search settled, into how many blocks it was cut, and their groups
Represented = tuple[Known, Calibrated | None, RoundedFacts | None]  # which categories are released, and the weights


class BeyondMemory(Engine[Opened, Formed, Represented, Outcome]):
    """The stages, each by the steps that `disk` and `cluster` do."""

    n: int
    plan: Plan

    def open(self) -> Opened:
        """Find out what must be known of the whole file."""
        plan, census = self.read(self.look(self.plan))
        return plan, self.constants(plan, census), census.patterns

    def form_groups(self, opened: Opened) -> Formed:
        """Cut the file; each part then fits into memory, and what its groups release is found there too."""
        plan, known, _ = opened
        tree = self.grow(plan, known)
        largest = tree.largest_block(plan.k, plan.max_block)
        plan = replace(plan, grouping=plan.grouping.searching(largest, known.space.n_entries, known.space.n_codes))
        figures = self.mask(plan, known, tree)
        figures.check(plan)
        return plan, sum(tree.blocks), figures

    def represent(self, opened: Opened, formed: Formed) -> Represented:
        """Settle what depends on the groups of the whole file."""
        (_, known, _), (plan, _, _) = opened, formed
        known = self.take_turns(plan, known)
        return known, *(self.finish_weights(plan, known) if plan.weighing.by_group else (None, None))

    def release(self, opened: Opened, formed: Formed, represented: Represented) -> Outcome:
        """Write the file; give what is known of it, and the records to judge it by."""
        (_, _, patterns), (plan, n_blocks, figures), (known, calibrated, rounded) = opened, formed, represented
        k_achieved, lost, drawn = self.write(plan, known, share_drawn(self.n, figures.n_groups))
        return Outcome(plan, known, self.n, n_blocks, k_achieved, figures, lost, patterns, drawn, calibrated, rounded)

    @abstractmethod
    def look(self, plan: Plan) -> Plan:
        """Find out how columns are coded, reading those whose types do not say it."""

    @abstractmethod
    def read(self, plan: Plan) -> tuple[Plan, Census]:
        """Read all records; count what must be known of columns, strata, units and weights."""

    @abstractmethod
    def constants(self, plan: Plan, census: Census) -> Known:
        """Find the moments of all columns, and what they weigh, exactly; they say where records lie."""

    @abstractmethod
    def grow(self, plan: Plan, known: Known) -> CutTree:
        """Cut the file by rank, until a part is small enough for one worker."""

    @abstractmethod
    def mask(self, plan: Plan, known: Known, tree: CutTree) -> Figures:
        """Bring the records of each part together, cut them into blocks, group and refine them, and mask them."""

    @abstractmethod
    def take_turns(self, plan: Plan, known: Known) -> Known:
        """Let groups choose in turn which categories they release; return which of them are released."""

    @abstractmethod
    def finish_weights(self, plan: Plan, known: Known) -> tuple[Calibrated | None, RoundedFacts]:
        """Calibrate the weights of groups, where that is asked for, and round them."""

    @abstractmethod
    def write(self, plan: Plan, known: Known, share: float) -> tuple[int, Lost, Drawn]:
        """Write what is released, whole or not at all; count k on it, what is lost, and draw groups to judge it by."""


def count_records(file: Batches, k: int) -> int:
    """Return how many records a file has, or say that they are too few."""
    n = file.count()
    if n == 0:
        raise InvalidData("the file has no records. Pass at least k of them.")
    check_enough_records(n, k)
    return n
