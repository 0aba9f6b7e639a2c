"""A clock that the campaign sets for one run alone; libfaketime shows it to the nodes, the machine's own stays."""

from __future__ import annotations

from pathlib import Path
from shutil import which


def library() -> Path | None:
    """libfaketime, where Debian's `faketime` is installed: it lies beside the command."""
    command = which("faketime")
    if command is None:
        return None
    beside = Path(command).resolve().parent.parent / "lib"
    return next(iter(sorted(beside.glob("*/faketime/libfaketimeMT.so.1"))), None)


class FakeClock:
    """The wall clock of one run; the monotonic clock is left alone."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "clock_offset"
        self.offsets: list[float] = []  # s, all it ever had
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
        """Put the clock ahead of the machine's by so many seconds."""
        self.offsets.append(float(round(offset)))
        fresh = self._file.with_suffix(".new")
        fresh.write_text(f"{self.offsets[-1]:+.0f}\n")
        fresh.replace(self._file)
