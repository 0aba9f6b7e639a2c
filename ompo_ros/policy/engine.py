"""onnxruntime on one thread with fixed memory: observations are written into an array, outputs appear in others."""

from __future__ import annotations

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from ompo_ros.policy.export import INPUT, OUTPUTS

WARM_UP_RUNS = 20


class Engine:
    """A graph bound to its arrays once; a run neither allocates nor copies."""

    def __init__(self, onnx: bytes, rows: int, obs_dim: int, act_dim: int) -> None:
        self._session = onnxruntime.InferenceSession(onnx, _options(), providers=["CPUExecutionProvider"])
        self._binding = self._session.io_binding()
        self.obs: NDArray[np.float32] = np.zeros((rows, obs_dim), np.float32)
        self._binding.bind_input(INPUT, "cpu", 0, np.float32, self.obs.shape, self.obs.ctypes.data)
        outputs = []
        for name in OUTPUTS:
            values: NDArray[np.float32] = np.zeros((rows, act_dim), np.float32)
            self._binding.bind_output(name, "cpu", 0, np.float32, values.shape, values.ctypes.data)
            outputs.append(values)
        self.action, self.mean, self.log_std = outputs

    def warm_up(self) -> None:
        """Let the first runs, which plan and allocate, happen before an arm waits for one."""
        for _ in range(WARM_UP_RUNS):
            self.run()

    def run(self) -> None:
        """Compute all outputs of what stands in `obs`."""
        self._session.run_with_iobinding(self._binding)


def _options() -> onnxruntime.SessionOptions:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    options.log_severity_level = 3  # errors; they come as exceptions anyway
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return options
