"""The stages of a run on a file that need not fit into memory: one list, whoever does the work.

`disk` does them by threads of this process, `cluster` by tasks of a Dask cluster, which leaves a folder of parts unless
the target is text. Both give the same records in the same order, and the same as `protect` in memory: cuts are by rank,
sums exact, and blocks are grouped by the same functions.
"""

from dataclasses import replace
from typing import Protocol

from microagg.checks import check_enough_records
from microagg.errors import InvalidData
from microagg.files.batches import Batches
from microagg.mask.engines.census import Census
from microagg.mask.engines.cuts import CutTree
from microagg.mask.engines.figures import Drawn, Figures, Lost, Outcome, share_drawn
from microagg.mask.engines.plan import Known, Plan
from microagg.mask.weights import Calibrated, RoundedFacts


class Engine(Protocol):
    """Who does the stages."""

    n: int

    def look(self, plan: Plan) -> Plan:
        """Find out how columns are coded, reading those whose types do not say it."""

    def read(self, plan: Plan) -> tuple[Plan, Census]:
        """Read all records; count what must be known of columns, strata, units and weights."""

    def constants(self, plan: Plan, census: Census) -> Known:
        """Find the moments of all columns, and what they weigh, exactly; they say where records lie."""

    def grow(self, plan: Plan, known: Known) -> CutTree:
        """Cut the file by rank, until a part is small enough for one worker."""

    def mask(self, plan: Plan, known: Known, tree: CutTree) -> Figures:
        """Bring the records of each part together, cut them into blocks, group and refine them, and mask them."""

    def take_turns(self, plan: Plan, known: Known) -> Known:
        """Let groups choose in turn which categories they release; return which of them are released."""

    def finish_weights(self, plan: Plan, known: Known) -> tuple[Calibrated | None, RoundedFacts]:
        """Calibrate the weights of groups, where that is asked for, and round them."""

    def write(self, plan: Plan, known: Known, share: float) -> tuple[int, Lost, Drawn]:
        """Write what is released, whole or not at all; count k on it, what is lost, and draw groups to judge it by."""


def mask_file(engine: Engine, plan: Plan) -> Outcome:
    """Do all stages; give what is known of the file, and the records to judge it by."""
    plan = engine.look(plan)
    plan, census = engine.read(plan)
    known = engine.constants(plan, census)
    tree = engine.grow(plan, known)
    largest = tree.largest_block(plan.k, plan.max_block)
    plan = replace(plan, grouping=plan.grouping.searching(largest, known.space.n_entries, known.space.n_codes))
    figures = engine.mask(plan, known, tree)
    figures.check(plan)
    known = engine.take_turns(plan, known)
    finished = engine.finish_weights(plan, known) if plan.weighing.by_group else (None, None)
    k_achieved, lost, drawn = engine.write(plan, known, share_drawn(engine.n, figures.n_groups))
    blocks = sum(tree.blocks)
    return Outcome(plan, known, engine.n, blocks, k_achieved, figures, lost, census.patterns, drawn, *finished)


def count_records(file: Batches, k: int) -> int:
    """Return how many records a file has, or say that they are too few."""
    n = file.count()
    if n == 0:
        raise InvalidData("the file has no records. Pass at least k of them.")
    check_enough_records(n, k)
    return n
