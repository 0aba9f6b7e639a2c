"""A settable clock for one run: libfaketime shows it to the nodes, the machine's clock does not change."""

from __future__ import annotations

from pathlib import Path
from shutil import which


def library() -> Path | None:
    """The path of libfaketime, if Debian's `faketime` is installed."""
    command = which("faketime")
    if command is None:
        return None
    beside = Path(command).resolve().parent.parent / "lib"
    return next(iter(sorted(beside.glob("*/faketime/libfaketimeMT.so.1"))), None)


class FakeClock:
    """The wall clock of one run; the monotonic clock does not change."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "clock_offset"
        self.offsets: list[float] = []  # s, all values so far
        self.set_to(0.0)

    @property
    def environment(self) -> dict[str, str]:
        return {
            "LD_PRELOAD": str(library()),
            "FAKETIME_TIMESTAMP_FILE": str(self._file),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "DONT_FAKE_MONOTONIC": "1",
        }

    def set_to(self, offset: float) -> None:
        """Set the clock so many seconds ahead of the machine's."""
        self.offsets.append(float(round(offset)))
        fresh = self._file.with_suffix(".new")
        fresh.write_text(f"{self.offsets[-1]:+.0f}\n")
        fresh.replace(self._file)
