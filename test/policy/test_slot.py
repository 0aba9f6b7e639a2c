import time

import numpy as np
from example_policies import REACH, make

from ompo_ros.policy.errors import ChecksumMismatch
from ompo_ros.policy.slot import PolicySlot


def step_until(slot, condition) -> None:
    deadline = time.monotonic() + 20
    while not condition() and time.monotonic() < deadline:
        slot.pause()
        time.sleep(0.001)
    assert condition()


def test_a_loop_swaps_policies_and_keeps_its_own_when_one_is_refused():
    refused = []
    slot = PolicySlot(REACH, refused.append, batch=2)
    assert slot.runtime is None
    first, second = make(1), make(2)
    slot.offer(first.onnx, first.sha256)
    time.sleep(0.05)
    assert slot.runtime is None  # the loop has not said that it rests
    step_until(slot, lambda: slot.runtime is not None)
    slot.offer(second.onnx, first.sha256)
    step_until(slot, lambda: refused)
    assert isinstance(refused[0], ChecksumMismatch)
    assert slot.runtime.version == 1
    slot.offer(second.onnx, second.sha256)
    step_until(slot, lambda: slot.runtime.version == 2)
    assert slot.runtime.act(np.zeros((2, 20), np.float32)).shape == (2, 7)
    slot.close()
