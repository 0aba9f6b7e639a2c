"""Changes the policy of a running loop between two of its steps: loading happens beside it, in a thread."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Final

from ompo_ros.policy.errors import RefusedPolicy
from ompo_ros.policy.runtime import PolicyRuntime
from ompo_ros.task.contract import Contract

_SWITCH_INTERVAL: Final = 1e-4  # s


def favour_the_loop() -> None:
    """Let a loop that wakes up take the interpreter from the loader within 0.1 ms, not 5: for the whole process."""
    sys.setswitchinterval(_SWITCH_INTERVAL)


class PolicySlot:
    """Holds the runtime a loop acts with; asking for it never waits for a newer one."""

    def __init__(
        self, contract: Contract, on_refused: Callable[[RefusedPolicy], None], *, batch: int | None = None
    ) -> None:
        self._contract, self._on_refused, self._batch = contract, on_refused, batch
        self._offered: tuple[bytes, str] | None = None
        self._pausing = False
        self._changed = threading.Condition()
        self._closed = False
        self.runtime: PolicyRuntime | None = None  # read it once a step
        self._thread = threading.Thread(target=self._load_offers, name="policy loader", daemon=True)
        self._thread.start()

    def offer(self, onnx: bytes, sha256: str) -> None:
        """Hand in a policy; one that was not yet begun to load is skipped for it."""
        with self._changed:
            self._offered = (onnx, sha256)

    def pause(self) -> None:
        """Call it at the end of each step: loading begins only then, to be over before the next."""
        if self._offered is not None:
            with self._changed:
                self._pausing = True
                self._changed.notify()

    def close(self) -> None:
        """End the thread."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join()

    def _load_offers(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._closed or (self._pausing and self._offered is not None))
                if self._closed or self._offered is None:
                    return
                (onnx, sha256), self._offered, self._pausing = self._offered, None, False
            try:
                self.runtime = PolicyRuntime(onnx, self._contract, sha256=sha256, batch=self._batch)
            except RefusedPolicy as refusal:
                self._on_refused(refusal)
