"""The end of a session: whether something would be lost, where it is saved, and how to go on from there."""

from pathlib import Path

from microagg.app.session import Session
from microagg.errors import MicroaggError

_MOST = 1000


def free_name(folder: Path, name: str = "recipe") -> str:
    """Return a name for a recipe that no file of a folder has yet."""
    names = (f"{name}.toml", *(f"{name}_{number}.toml" for number in range(2, _MOST)))
    return next((name for name in names if not (folder / name).exists()), names[-1])


def name_for(session: Session) -> str:
    """Return a free name for the choices of a session: another where candidates are among them."""
    return free_name(session.folder, "session" if session.candidates else "recipe")


def save(session: Session, place: str) -> Path:
    """Write the present choices, and candidates, to a new file; internal, as every recipe."""
    from microagg.recipe._file import Saved, write_candidates

    assert session.opened is not None
    path, name = session.place(place), session.opened.source.name
    recipe = session.recipe.with_profile(session.opened.source)
    if session.candidates:
        kept = [Saved(one.name, one.note, one.recipe) for one in session.candidates]
        write_candidates(path, recipe, kept, name)
    else:
        recipe.write(path, made_for=name)
    session.written = (session.recipe, session.candidates)
    session.saved, session.saved_candidates = path, session.candidates
    return path


def how_to_go_on(session: Session) -> str:
    """Return the command line that has all the choices that were saved; empty where none were."""
    from microagg.jobs.again import app_command

    if session.opened is None or session.saved is None:
        return ""
    return f"Your choices are saved. To continue: {app_command(session.opened.address, session.saved, session.output)}"


def last_words(session: Session) -> str:
    """Save what nobody has saved, as after Ctrl-C, and say how to go on."""
    if session.dirty and not session.abandoned:
        try:
            save(session, name_for(session))
        except (OSError, MicroaggError):
            return "Your choices were not saved: no file could be written to the folder that microagg was started in."
    return how_to_go_on(session)
