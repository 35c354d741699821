"""The end of a session: whether something would be lost, where it is saved, and how to go on from there."""

from pathlib import Path

from microagg.app.session import Session
from microagg.errors import MicroaggError

_NAME, _MOST = "recipe", 1000


def free_name(folder: Path) -> str:
    """Give a name for a recipe that no file of a folder has yet."""
    names = (f"{_NAME}.toml", *(f"{_NAME}_{number}.toml" for number in range(2, _MOST)))
    return next((name for name in names if not (folder / name).exists()), names[-1])


def save(session: Session, place: str) -> Path:
    """Write the present choices to a new file: no cell and no figure is in it."""
    assert session.opened is not None
    path = session.recipe.write(session.folder / Path(place).expanduser(), made_for=session.opened.source.name)
    session.written = session.recipe
    session.saved = path
    return path


def how_to_go_on(session: Session) -> str:
    """Give the command line that has all the choices that were saved; empty where none were."""
    from microagg.desk.again import app_command

    if session.opened is None or session.saved is None:
        return ""
    return f"Your choices are saved. Go on by: {app_command(session.opened.address, session.saved, session.output)}"


def last_words(session: Session) -> str:
    """Save what nobody has saved, as after Ctrl-C, and say how to go on."""
    if session.dirty and not session.abandoned:
        try:
            save(session, free_name(session.folder))
        except (OSError, MicroaggError):
            return "Your choices were not saved: no file could be written to the folder that microagg was started in."
    return how_to_go_on(session)
