from typer.testing import CliRunner

from microagg.cli import app


def call(*words):
    """Run a command that must succeed."""
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == 0, f"{result.output}{result.stderr}{result.exception!r}"
    return result
