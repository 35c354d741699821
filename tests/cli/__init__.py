from pathlib import Path

from typer.testing import CliRunner

from microagg.cli import app
from microagg.cli._options import as_option
from microagg.jobs import told


def call(*words):
    """Run a command that must succeed."""
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == 0, f"{result.output}{result.stderr}{result.exception!r}"
    return result


def complaint(*words):
    """Run a command that must be refused, and give what a person reads of it."""
    return told(CliRunner().invoke(app, [str(word) for word in words]).exception, as_option).text


def files_in(folder):
    """Name every file of an output, as seen from its folder."""
    return sorted(str(path.relative_to(folder)) for path in Path(folder).rglob("*") if path.is_file())
