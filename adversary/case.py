"""A case: files in a folder, the commands that are run on them, and what they must keep."""

import base64
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass
class Case:
    """One case of the campaign.

    Attributes
    ----------
    kind : str
        The generator that made it.
    files : dict of str to bytes
        What lies in the folder before the first command.
    commands : list of list of str
        Command lines, without the program's name; run one after the other, as long as each succeeds. "{masked}" and
        "{recipe}" stand for what the first has written, wherever that is.
    chosen : dict
        What the case itself has chosen of the promise: "quasi", "strata", "k", "unit" and so on; the rest is read
        from the recipe that was written.
    secrets : list of str
        Cells that no message of a refusal may show.
    absent : list of str
        What no released file may hold in its bytes, such as a label of somebody who is left out.
    act : callable, optional
        What is done in place of commands, in this process; gives the released table, or None.
    """

    kind: str
    files: dict[str, bytes] = field(default_factory=dict)
    commands: list[list[str]] = field(default_factory=list)
    chosen: dict[str, Any] = field(default_factory=dict)
    secrets: list[str] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)
    act: Callable[[], Any] | None = None

    def write(self, folder: Path) -> None:
        """Put the files into a folder."""
        for name, content in self.files.items():
            (folder / name).write_bytes(content)

    def as_json(self) -> str:
        """Return the case as the corpus keeps it."""
        return json.dumps(
            {
                "kind": self.kind,
                "files": {name: _as_text(content) for name, content in self.files.items()},
                "commands": self.commands,
                "chosen": self.chosen,
                "secrets": self.secrets,
                "absent": self.absent,
            },
            indent=1,
            default=str,
        )

    @classmethod
    def from_json(cls, text: str) -> "Case":
        """Read a case that the corpus keeps; what it does not know is a remark for people."""
        stored = json.loads(text)
        files = {name: _as_bytes(content) for name, content in stored["files"].items()}
        rest = {name: stored[name] for name in ("kind", "commands", "chosen", "secrets", "absent") if name in stored}
        return cls(files=files, **rest)


def _as_text(content: bytes) -> dict[str, str]:
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(content).decode("ascii")}
    return {"text": text}


def _as_bytes(stored: dict[str, str]) -> bytes:
    return stored["text"].encode("utf-8") if "text" in stored else base64.b64decode(stored["base64"])
