"""The same stages on files that need not fit into memory."""

from microagg.beyond.files import FileRelease, protect_file

__all__ = ["FileRelease", "protect_file"]
