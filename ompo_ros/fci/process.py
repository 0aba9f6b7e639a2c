"""The loop's process as its node sees it: start, setpoints, states, recovery, end."""

from __future__ import annotations

import contextlib
import importlib.util
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Final

from ompo_ros.fci import messages
from ompo_ros.fci.messages import Settings
from ompo_ros.task.kinematics import FloatArray

_END: Final = 5.0  # s in which the arm comes to rest and the process ends


class FciProcess:
    """One process with the robot's 1 kHz loop; closing it brings the arm to rest."""

    def __init__(self, settings: Settings) -> None:
        missing = [name for name in ("pylibfranka", "ruckig") if importlib.util.find_spec(name) is None]
        if missing:
            raise ValueError(
                f"{' and '.join(missing)} is missing: pip install 'ompo_ros[franka]'; it has wheels for Linux on "
                "x86_64 (glibc 2.34 or newer) and Python 3.10 to 3.12"
            )
        self._address = settings.robot_ip
        self._end, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "ompo_ros.fci.loop", str(theirs.fileno()), settings.as_text()],
                pass_fds=[theirs.fileno()],
                start_new_session=True,  # a Ctrl-C is meant for the node
            )

    def connect(self, patience: float) -> None:
        """Wait until the robot answers; ConnectionError says what to check."""
        deadline, problem = time.monotonic() + patience, "no answer"
        for packet in self.packets(deadline):
            if packet == messages.CONNECTED:
                return
            if packet[:1] == messages.EVENT:
                problem = packet[1:].decode()
        self.process.kill()
        raise ConnectionError(
            f"no FCI at {self._address!r} within {patience:g} s ({problem}). Check robot_ip, the cable, and that FCI "
            "is activated in Desk with the brakes open."
        )

    def packets(self, deadline: float | None = None) -> Iterator[bytes]:
        """Packets as they come, until the process ends or the deadline (s of time.monotonic) passes."""
        while True:
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0.0:
                return
            try:
                self._end.settimeout(left)
                packet = self._end.recv(messages.LARGEST)
            except OSError:  # it is too late, or we have closed our side
                return
            if not packet:
                return
            yield packet

    def send_setpoint(self, position: FloatArray) -> None:
        self._send(messages.SETPOINT + position.astype("float64").tobytes())

    def ask_recovery(self, number: int) -> None:
        """The answer comes as a RECOVERED packet of that number."""
        self._send(b"%b%d" % (messages.RECOVER, number))

    def close(self, patience: float = _END) -> None:
        """Bring the arm to rest and end the process, which is killed where it takes longer than `patience`."""
        self._end.shutdown(socket.SHUT_WR)
        try:
            self.process.wait(patience)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._end.close()

    def _send(self, packet: bytes) -> None:
        """A loop that hangs is the robot's to notice, not ours to wait for."""
        with contextlib.suppress(BlockingIOError, BrokenPipeError):
            self._end.send(packet, socket.MSG_DONTWAIT)
