"""Evidence in a run's recordings, by the genuine reader of MCAP files."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from mcap.reader import NonSeekingReader

TOLERATED = 1.0  # s before its end that a killed recorder may lose
_BEGINNING = 64 * 1024  # bytes; the contract, and a first chunk that a kill has cut
_JOINT_STATE = "sensor_msgs/msg/JointState"


def newest_recording(run_dir: Path) -> Path | None:
    """The file that is written to now; None before the first."""
    return max((run_dir / "recordings").glob("*.mcap"), default=None)


def seconds_missing(file: Path, killed: float) -> float:
    """Time between the last joint state of a file and its recorder's end (monotonic s); 0 if it had heard none."""
    last = max((received for kind, received in _messages(file) if kind == _JOINT_STATE), default=None)
    if last is None:
        return 0.0
    return killed + time.time() - time.monotonic() - last * 1e-9


def unreadable_recordings(run_dir: Path) -> int:
    """Files in which the reader finds no message although there is more than a beginning."""
    files = (run_dir / "recordings").glob("*.mcap")
    return sum(file.stat().st_size > _BEGINNING and next(_messages(file), None) is None for file in files)


def _messages(file: Path) -> Iterator[tuple[str, int]]:
    """Kind and time (ns) of all messages before the cut."""
    with file.open("rb") as stream:
        messages = NonSeekingReader(stream).iter_messages(log_time_order=False)
        while True:
            try:
                schema, _, message = next(messages)
            except Exception:  # the end, or whatever the reader makes of a cut
                return
            yield schema.name if schema else "", message.log_time
