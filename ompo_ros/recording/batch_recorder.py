"""Records the transitions of a run without ROS, in the form of the recorder."""

from __future__ import annotations

import sys
import time
from collections import Counter
from pathlib import Path

from ompo_ros.recording.batches import KIND, Batch, batch_to_bytes
from ompo_ros.recording.writer import RecordingWriter, SizeLimits
from ompo_ros.task.contract import Contract
from ompo_ros.transitions import Origin, Transitions


class BatchRecorder:
    """Writes one stream per origin, without a run_id."""

    def __init__(self, folder: Path, contract: Contract) -> None:
        self._writer = RecordingWriter(folder, {"contract": contract.to_json()}, SizeLimits(), sys.stderr.write)
        self._sequence: Counter[Origin] = Counter()

    def write(self, transitions: Transitions) -> None:
        """Write one batch."""
        now, side = time.time_ns(), transitions.origin.name.lower()
        batch = Batch(now, "", f"/ompo/{side}_collector", 1, self._sequence[transitions.origin], transitions)
        self._sequence[transitions.origin] += 1
        self._writer.write(f"/ompo/{side}/transitions", KIND, batch_to_bytes(batch), now, now)

    def close(self) -> None:
        """Finish the file."""
        self._writer.close()
