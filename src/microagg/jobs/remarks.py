"""What the library remarks while it works, such as that kernels compile, passed to what shows it."""

import logging
from collections.abc import Callable

_LOGGER = "microagg"


class _Handler(logging.Handler):
    """Passes remarks on to one listener."""

    def __init__(self, listener: Callable[[str], None]) -> None:
        super().__init__()
        self._listener = listener

    def emit(self, record: logging.LogRecord) -> None:
        """Pass a remark on."""
        self._listener(record.getMessage())


def listen(listener: Callable[[str], None]) -> None:
    """Pass remarks of the library to this listener, and to no earlier one."""
    logger = logging.getLogger(_LOGGER)
    for former in [one for one in logger.handlers if isinstance(one, _Handler)]:
        logger.removeHandler(former)
    logger.addHandler(_Handler(listener))


def listen_closely() -> None:
    """Let the library also remark what it does step by step."""
    logging.getLogger(_LOGGER).setLevel(logging.INFO)
