"""The pages, one file each, in the order of the work.

To add a page:

1. Write ``pages/compare.py`` with ``async def show(request, session) -> Response`` for GET, and a function of the same
   shape for each thing that can be posted there::

       async def show(request, session):
           return rendered(session, "compare.html.j2", found=session.candidates)

       async def remove(request, session):
           posted = await form_of(request)
           session.history.check(number_in(posted))  # a form of a former state is answered with 409
           session.forget(number_in(posted, "candidate"))
           return back("/compare")

2. Write ``templates/compare.html.j2``, which extends ``page.html.j2``; forms begin with ``{{ state() }}``, which posts
   the number of the history. What may change while the page is open has an id and ``data-swap``: the script asks for
   the page again whenever `Session.stamp` has risen, and exchanges those parts.

   Forms and buttons that the script posts have ids too, so that it finds them again after an exchange.

3. Add a line to `PAGES`: ``Page("Compare", "/compare", "compare", ("remove",))``. What is posted to /compare/remove
   goes to `remove`. The path may end in ``/{number:int}``; such a page has no place among the steps: step=False.

Fields for a table of a recipe come from ``forms.table_of("compare", session.recipe, session.columns)``, the macro
``field`` of ``controls.html.j2`` draws one, and ``forms.changed_by(posted, ...)`` gives the recipe that was posted.
Name the table in `trying.ELSEWHERE`, so that Try leaves it to your page.

Work that takes time is a `Job` (`microagg.app.jobs` has some) that calls `microagg.jobs`, passes ``job.progress`` on,
puts what it has found into the session and calls ``session.touch()``; a page shows what is there and says what is
missing; ``await settled(session, kind)`` lets it wait a moment for what is quick. ``session.release`` is the last
release that was tried, with its key (`Session.key`); others are made again from their recipes. Modules of pages are
imported when they are first asked for; where `needs_file` is set, that is after a file was opened.
"""

from microagg.base.frozen import frozen


@frozen()
class Page:
    """A page: its name among the steps, its address, its module, what can be posted to it, and what shows it."""

    title: str
    path: str
    module: str
    actions: tuple[str, ...] = ()
    needs_file: bool = True
    step: bool = True
    shown: str = "show"


PAGES = (
    Page("Open", "/open", "opening", ("read", "make", "recipe", "anyway"), needs_file=False),
    Page("Columns", "/", "columns", ("apply", "bulk", "load", "read")),
    Page("Try", "/try", "trying", ("apply", "keep", "forget")),
    Page("Compare", "/compare", "comparing", ("apply", "keep", "use", "forget", "remove")),
    Page("Look", "/look", "looking", ("draw", "use", "peek")),
    Page("Look", "/look/{number:int}", "looking", step=False),
    Page("Release", "/release", "release", ("apply", "write", "prepare", "reread")),
    Page("Release", "/release/{number:int}", "release", ("apply", "write", "prepare", "reread"), step=False),
    Page("Report", "/report/{number:int}", "report", step=False),
    Page("Quit", "/quit", "quitting", ("end",), needs_file=False, step=False),
    Page("Public report", "/public/{number:int}", "report", step=False, shown="public"),
)
