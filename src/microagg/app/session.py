"""What all pages are about: the file, the history of recipes, the candidates, the figures and the work that goes on.

There is one session, since a steward has one file and one desk. It is changed on the thread that serves pages; the
worker hands in what it has found.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from microagg.app.history import History, KeptCandidate, Step
from microagg.app.releasing import Releasing
from microagg.app.shelf import Cache, Shelf, Times
from microagg.app.worker import COMPARE, DRAW, LOOK, PREPARE, READ, TRY, Job, Worker
from microagg.errors import InvalidParameter

if TYPE_CHECKING:
    from microagg.jobs.memory import Beyond
    from microagg.jobs.messages import Told
    from microagg.jobs.opening import Opened, ReadingGuess
    from microagg.jobs.trial import Tried
    from microagg.recipe import Recipe
    from microagg.recipe._file import Saved
    from microagg.release import Release
    from microagg.study.inspection import Exposure, Inspection

OUTPUT = "out"  # as `microagg mask` has it
_LOOKING = "looking at the columns"
AT_ONCE = 1.0  # seconds: what takes longer is done only when it is asked for


class Session:
    """The state that pages show and change.

    Attributes
    ----------
    folder : Path
        Where files are offered from.
    output : Path or None
        Where a release goes, if that was said at the start.
    peek : bool
        Whether some rows of the masked file may be shown.
    opened : Opened or None
        The file as it was read; its recipe is the first one, not the present one.
    inspection : Inspection or None
        What its columns hold and probably are.
    history : History or None
    stamp : int
        It rises whenever a page may have something else to show.
    """

    def __init__(self, folder: Path, *, output: Path | None = None, peek: bool = True) -> None:
        self.folder, self.output, self.peek = folder, output, peek
        self.opened: Opened | None = None
        self.inspection: Inspection | None = None
        self.history: History | None = None
        self.guesses: list[ReadingGuess] = []  # of how the file is written
        self.stamp = 0
        self._read_as: Any = None
        self._content = ""  # a digest of the bytes that were read
        self._readings = 0
        self.refused: Told | None = None  # why a file was not read
        self.beyond: Beyond | None = None  # what can be done where it does not fit into memory
        self.release: tuple[str, Release[Any]] | None = None  # the last one, and its key
        self.shown: tuple[str, Tried] | None = None  # the last figures, and what they are of
        self.written: tuple[Recipe, tuple[KeptCandidate, ...]] | None = (
            None  # what was chosen and kept when it last was
        )
        self.saved_candidates: tuple[KeptCandidate, ...] = ()
        self.saved: Path | None = None  # where the choices are, if that was asked for
        self.abandoned = False  # whether somebody has quit without saving
        self.end: Callable[[], None] = lambda: None  # the server says how
        self.address = ""  # what was asked for last
        self.open_anyway: Callable[[], None] = lambda: None  # once more, be it too large or not
        self.releasing = Releasing(str(output or OUTPUT))
        self._figures: Cache[Tried] = Cache()
        self._failures: Cache[Told] = Cache()
        self._exposures: Cache[Exposure] = Cache()
        self._times = Times()
        self._stopped = ""  # what a person has cancelled, and is not tried again by itself
        self._trying = ""  # what was tried last
        self.shelf = Shelf()
        self.worker = Worker(self.touch)

    def touch(self) -> None:
        """Let pages look again."""
        self.stamp += 1

    def place(self, typed: str) -> Path:
        """Return the file or folder that was typed, as seen from the starting folder; refuse what no name can be."""
        try:
            path = self.folder / Path(typed).expanduser()
            with suppress(FileNotFoundError, NotADirectoryError):
                path.stat()
        except (OSError, ValueError, RuntimeError):  # too long, not a name, not allowed, nobody's home
            raise InvalidParameter(
                f"this path of {len(typed)} letters cannot be used: it is too long, holds a character that no name "
                "can have, or is where you may not look. Type another."
            ) from None
        return path

    @property
    def recipe(self) -> "Recipe":
        """The present recipe."""
        assert self.history is not None
        return self.history.now.recipe

    @property
    def candidates(self) -> tuple[KeptCandidate, ...]:
        """What was kept, in order."""
        return () if self.history is None else self.history.now.candidates

    def candidate(self, number: int) -> KeptCandidate | None:
        """Return a candidate by its number."""
        return next((one for one in self.candidates if one.number == number), None)

    @property
    def columns(self) -> list[str]:
        """The names of the file's columns."""
        return [] if self.opened is None else list(self.opened.source.table.column_names)

    @property
    def ready(self) -> bool:
        """Whether the file is read, and as the present recipe says."""
        return self.opened is not None and self.history is not None and _read_as(self.recipe) == self._read_as

    @property
    def lacking(self) -> str:
        """Why nothing can be tried; empty where it can."""
        if not self.ready:
            return "No file is open yet."
        if not self.recipe.masked(self.columns):
            return "No column is left to mask. Give at least one the role “quasi”."
        return ""

    @property
    def dirty(self) -> bool:
        """Whether something was chosen that was not written."""
        if self.history is None:
            return False
        first = self.history.steps[0]
        return (self.recipe, self.candidates) not in (self.written, (first.recipe, first.candidates))

    @property
    def unsaved(self) -> bool:
        """Whether leaving would lose something: choices that were not written, or candidates, which no release has."""
        return self.dirty or self.candidates not in ((), self.saved_candidates)

    def open(
        self,
        address: str,
        recipe: "Recipe | None" = None,
        candidates: "tuple[Saved, ...]" = (),
        *,
        anyway: bool = False,
        **chosen: Any,
    ) -> None:
        """Read a file, and begin a new history with it; one that does not fit into memory is read only `anyway`."""
        self.address, self.beyond = address, None
        self.open_anyway = lambda: self.open(address, recipe, candidates, anyway=True, **chosen)

        def work(job: Job) -> None:
            from microagg.jobs.memory import beyond_memory
            from microagg.jobs.opening import open_source, read_file

            if not anyway and (beyond := beyond_memory(address, recipe, **chosen)) is not None:
                self.beyond, self.refused = beyond, beyond.told
                return
            source = read_file(address, recipe, progress=job.progress, **chosen)
            job.phase(_LOOKING)
            opened = open_source(address, source, recipe, progress=job.progress, **chosen)
            for other in candidates:
                other.recipe.check_columns(source.table.column_names)
            for cache in (self._figures, self._failures, self._exposures):
                cache.clear()
            self._take(opened, job)
            self._times, self.shelf = Times(), Shelf()
            self.history = History(Step(opened.recipe, "opened", self.kept_with(candidates)))
            self.saved_candidates = self.candidates
            self.release = self.shown = self.written = self.saved = None

        def does_not_fit() -> None:
            from microagg.jobs.memory import after_all

            self.beyond = after_all(address, recipe, **chosen)

        self._submit_reading(work, does_not_fit)

    def read_differently(
        self, recipe: "Recipe", words: str, candidates: tuple[KeptCandidate, ...] | None = None
    ) -> None:
        """Read the file in another way; the roles stay where the columns have the same names."""
        assert self.opened is not None
        address, names = self.opened.address, self.columns

        def work(job: Job) -> None:
            from microagg.jobs.opening import open_source, read_file

            source = read_file(address, recipe, progress=job.progress)
            same = list(source.table.column_names) == names
            job.phase(_LOOKING)
            more = {} if same else recipe.reading.said
            opened = open_source(address, source, recipe if same else None, progress=job.progress, **more)
            self._take(opened, job)
            self.change(opened.recipe, words, candidates)

        self._submit_reading(work)

    def read_again(self) -> None:
        """Read the file as the present recipe says, after undo or redo, or since it was changed."""
        assert self.opened is not None
        address, recipe = self.opened.address, self.recipe

        def work(job: Job) -> None:
            from microagg.jobs.opening import open_file

            self._take(open_file(address, recipe, progress=job.progress), job)

        self._submit_reading(work)

    def _submit_reading(self, work: Callable[[Job], None], does_not_fit: Callable[[], None] = lambda: None) -> None:
        def failed(told: "Told", error: BaseException) -> None:
            self.refused = told
            if isinstance(error, MemoryError):
                does_not_fit()

        self.refused = None
        self.worker.cancel(TRY, LOOK, COMPARE, DRAW, PREPARE)  # which are of the file as it was
        self.worker.submit(Job(READ, "reading the file", work, failed))

    def _take(self, opened: "Opened", job: Job) -> None:
        from microagg.jobs.inspecting import looked_at
        from microagg.jobs.opening import reading_guesses

        job.phase(_LOOKING)
        found, guesses = looked_at(opened, job.progress), reading_guesses(opened.source)
        self._readings += 1
        self._content = _content(opened, self._readings)
        # Together, since pages may be shown meanwhile.
        self.inspection, self.guesses, self._read_as = found, guesses, _read_as(opened.recipe)
        self.opened, self.refused = opened, None
        if opened.inspection is not None:  # which has counted that already
            self._exposures.store(self._exposed(opened.recipe), opened.inspection.exposure)

    def change(self, recipe: "Recipe", words: str, candidates: tuple[KeptCandidate, ...] | None = None) -> None:
        """Go on with another recipe, or other candidates."""
        assert self.history is not None
        if recipe.masking.nominal == "draw" and recipe.masking.nominal_seed is None:  # else each try would differ
            recipe = recipe.replace(nominal_seed=recipe.spelt_out().masking.nominal_seed)
        self.history.add(Step(recipe, words, self.candidates if candidates is None else candidates))
        self._leave_former()
        self.touch()

    def keep(self, name: str, note: str = "", recipe: "Recipe | None" = None) -> KeptCandidate:
        """Keep a recipe as a candidate, the present one by default."""
        recipe = self.recipe if recipe is None else recipe
        number = self.number_of(recipe)
        kept = KeptCandidate(number if self.candidate(number) is None else self.shelf.fresh(recipe), name, recipe, note)
        self.change(self.recipe, f"kept “{name}” as a candidate", (*self.candidates, kept))
        return kept

    def kept_with(self, saved: "tuple[Saved, ...]", kept: tuple[KeptCandidate, ...] = ()) -> tuple[KeptCandidate, ...]:
        """Return candidates, and those from a file that are not among them yet."""
        for one in saved:
            if all((one.name, one.recipe) != (other.name, other.recipe) for other in kept):
                number = self.number_of(one.recipe)
                fresh = number in [other.number for other in kept]
                kept += (
                    KeptCandidate(self.shelf.fresh(one.recipe) if fresh else number, one.name, one.recipe, one.note),
                )
        return kept

    def forget(self, number: int) -> None:
        """Take a candidate away; undo brings it back."""
        names = [one.name for one in self.candidates if one.number == number]
        if names:
            left = tuple(one for one in self.candidates if one.number != number)
            self.change(self.recipe, f"removed the candidate “{names[0]}”", left)

    def go(self, at: int) -> None:
        """Go to another state of the history."""
        assert self.history is not None
        self.history.go(at)
        if not self.ready:
            self.read_again()
        self._leave_former()
        self.touch()

    def _leave_former(self) -> None:
        """Stop the try of another recipe: nobody waits for it, and all else would wait for it."""
        if self.opened is not None and self._trying != self.key():
            self.worker.cancel(TRY)

    def key(self, recipe: "Recipe | None" = None) -> str:
        """Return what figures are about: the file as it was read, and the choices that they depend on."""
        from microagg.recipe import Compare, OutputChoices

        assert self.opened is not None
        recipe = (self.recipe if recipe is None else recipe).replace(output=OutputChoices(), compare=Compare())
        return f"{self._content} {recipe.digest}"

    def number_of(self, recipe: "Recipe | None" = None) -> int:
        """Return the number of a recipe in addresses."""
        recipe = self.recipe if recipe is None else recipe
        return self.shelf.number(self.key(recipe), recipe)

    def is_read_for(self, recipe: "Recipe") -> bool:
        """Return whether the file is read as a recipe says."""
        return bool(_read_as(recipe) == self._read_as)

    def figures(self, recipe: "Recipe | None" = None) -> "Tried | None":
        """Return the figures of a recipe, the present one by default, if there are any."""
        return self.figures_at(self.key(recipe))

    def figures_at(self, key: str) -> "Tried | None":
        """Return figures by their key."""
        return self._figures.get(key)

    def failure(self) -> "Told | None":
        """Say why the present recipe could not be followed, if it was tried."""
        return self._failures.get(self.key())

    def exposure(self) -> "Exposure | None":
        """Return how exposed the records are by the present roles, if that was counted."""
        return self._exposures.get(self._exposed(self.recipe))

    def publish(self, key: str, tried: "Tried", of: str = "") -> None:
        """Let pages show figures; `of` says what the present recipe was, where they are of a try."""
        self._figures.store(key, tried)
        if of:
            self.shown = (of, tried)
        self.touch()

    def _exposed(self, recipe: "Recipe") -> str:
        assert self.opened is not None
        masked, strata = recipe.masked(self.columns), recipe.roles.strata
        return repr((self._content, masked, strata, self._read_as))

    @property
    def seconds(self) -> float:
        """How long a try would take."""
        return self.seconds_of(self.recipe)

    def seconds_of(self, recipe: "Recipe") -> float:
        """Say how long masking by a recipe would take."""
        records = 0 if self.inspection is None else self.inspection.records
        return self._times.estimate(recipe, len(recipe.masked(self.columns)) * records)

    @property
    def timed(self) -> bool:
        """Whether that comes from a try of this file, and is no guess."""
        return self._times.knows(self.recipe)

    @property
    def live(self) -> bool:
        """Whether a change is tried at once."""
        return not self.lacking and self.seconds < AT_ONCE and self.key() != self._stopped

    def cancel(self) -> None:
        """Stop what goes on; what was being tried is not tried again until somebody asks."""
        if self.ready and self.worker.has(TRY):
            self._stopped = self.key()
        if self.worker.has(DRAW):
            self.shelf.stopped = self.shelf.drawing
        self.worker.cancel()

    def look(self) -> None:
        """Count how exposed the records are by the present roles, unless that is known."""
        from microagg.app.jobs import counting

        assert self.opened is not None
        key = self._exposed(self.recipe)
        # Pages ask for this of their own accord: what somebody has asked for and waits keeps its place.
        if key not in self._exposures and not self.worker.has(LOOK) and not self.worker.full:
            self.worker.submit(counting(self.with_recipe(self.recipe), lambda found: self._exposures.store(key, found)))

    @property
    def untried(self) -> bool:
        """Whether figures of the present recipe are lacking and do not come either."""
        tried = self.figures()
        comes = self.worker.has(TRY) and self._trying == self.key()
        return (tried is None or not tried.facts) and not comes

    def attempt(self) -> None:
        """Try the present recipe: mask, then measure the risk; figures are published as they come."""
        from microagg.app.edits import recipe_line
        from microagg.app.jobs import trying

        key, recipe, of = self.key(), self.recipe, recipe_line(self.recipe, self.columns)
        self._failures.pop(key, None)
        self._stopped, self._trying = "", key

        def timed(cells: int, seconds: float) -> None:
            self._times.store(recipe, cells, seconds)

        def done(release: "Release[Any]") -> None:
            self.release = (key, release)

        def failed(told: "Told", error: BaseException) -> None:
            self._failures.store(key, told)
            if isinstance(error, MemoryError) and self.opened is not None:
                from microagg.jobs.memory import tried_beyond

                self.beyond = tried_beyond(self.opened.address, recipe)

        self.worker.submit(
            trying(self.with_recipe(recipe), lambda tried: self.publish(key, tried, of), timed, done, failed)
        )

    def with_recipe(self, recipe: "Recipe") -> "Opened":
        """Return the file with a recipe to mask it by."""
        assert self.opened is not None
        return replace(self.opened, recipe=recipe)

    def attempt_if_quick(self) -> None:
        """Try the present recipe where that takes no time and was not done yet."""
        if self.live and self.failure() is None and not self.worker.has(TRY) and self.untried:
            self.attempt()


def _read_as(recipe: "Recipe") -> tuple[Any, Any]:
    return recipe.reading, recipe.join.households


def _content(opened: "Opened", reading: int) -> str:
    """Return what was read: by the checksum of the file, or of both that were joined; of a database, by when it was."""
    source = opened.source
    files = [source] if source.joined is None else [source.joined.persons, source.joined.households]
    return " ".join(one.sha256 or f"reading {reading}" for one in files)
