"""The output of one process: kept, and reported line by line."""

from __future__ import annotations

import codecs
import logging


class ProcessOutput:
    """One stream of a process."""

    def __init__(self, prefix: str, logger: logging.Logger, *, cached: bool) -> None:
        self._prefix = prefix
        self._logger = logger
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._line = ""
        self._cache: list[str] | None = [] if cached else None

    @property
    def text(self) -> str | None:
        return None if self._cache is None else "".join(self._cache)

    def write(self, data: bytes) -> None:
        """Take what the process wrote; report the lines that are complete."""
        text = self._decoder.decode(data)
        if self._cache is not None:
            self._cache.append(text)
        *lines, self._line = (self._line + text).split("\n")
        for line in lines:
            self._report(line)

    def flush(self) -> None:
        """Report what came without a line's end."""
        if self._line:
            self._report(self._line)
        self._line = ""

    def _report(self, line: str) -> None:
        self._logger.info("%s", f"{self._prefix}{line.rstrip(chr(13))}")
