"""What the page costs: the control loop of benchmarks/loop.py without it, and with it and one browser watching.

Usage: benchmarks/monitor.py [--seconds S]

cpu_share          of one core that the monitor's process takes while a browser watches
updates_per_s      messages a second that reach the browser; the arm is drawn at most at the monitor's `rate`
late_ticks         share of the target collector's ticks late by more than 10 % of the period, with page and browser
late_ticks_without the same in the same run, after both are gone

Learner and sources never pause, as in benchmarks/loop.py. Needs chromium. The browser draws by software, with the
monitor's low priority: on a desk a graphics card does that, mostly on another machine.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from domain_coordinator import domain_id
from loop import PATIENCE, Peer, run_without_pauses
from playwright.sync_api import Page, sync_playwright

from ompo_ros.resources import resource_path

SAID = "The run in a browser: "
BROWSER_NICE = 10  # at idle priority it would starve beside a learner that never pauses
START = 180.0  # s for page and browser on a busy machine


class Share(NamedTuple):
    """Late ticks of all ticks."""

    late: int
    ticks: int

    @property
    def share(self) -> float:
        return self.late / max(self.ticks, 1)


class Ticks(Peer):
    """Listens to the target collector's own counts."""

    def __init__(self) -> None:
        super().__init__()
        self._reports: list[dict[str, str]] = []
        self.node.create_subscription(DiagnosticArray, "/diagnostics", self._on_report, 10)
        self.until(lambda: bool(self._reports) and int(self._reports[-1]["policy_version"]) > 1)

    def _on_report(self, msg: DiagnosticArray) -> None:
        self._reports.append({pair.key: pair.value for pair in msg.status[0].values})

    def during(self, seconds: float, look: Callable[[], None] = lambda: None) -> Share:
        """Count for a while, and `look` at the browser now and then."""
        first, end = self._reports[-1], time.monotonic() + seconds
        while time.monotonic() < end:
            self.spin(0.5)
            look()
        late, ticks = (int(self._reports[-1][name]) - int(first[name]) for name in ("late_ticks", "ticks"))
        return Share(late, ticks)


@contextlib.contextmanager
def loop() -> Iterator[Ticks]:
    """A run in which nobody ever waits."""
    with contextlib.ExitStack() as nodes:
        nodes.enter_context(run_without_pauses())
        yield nodes.enter_context(Ticks())


@contextlib.contextmanager
def monitor() -> Iterator[tuple[int, str]]:
    """The page's node, its process and its address."""
    command = [sys.executable, "-m", "ompo_ros.nodes.monitor", "--ros-args", "-p", "port:=0"]
    profile = {"FASTRTPS_DEFAULT_PROFILES_FILE": str(resource_path("config/fastdds.xml"))}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, **profile})
    try:
        assert process.stdout is not None  # noqa: S101 - it is a pipe
        with within(START, "the page's address"):
            address = next(line.removeprefix(SAID).strip() for line in process.stdout if line.startswith(SAID))
        yield process.pid, address
    finally:
        process.terminate()
        process.wait(PATIENCE)


@contextlib.contextmanager
def watched(address: str) -> Iterator[tuple[list[str], Callable[[], None]]]:
    """A browser on the page: what has reached it, and how to let Playwright hand that over."""
    before = os.getpriority(os.PRIO_PROCESS, 0)
    os.setpriority(os.PRIO_PROCESS, 0, before + BROWSER_NICE)  # what starts now inherits it
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--use-angle=swiftshader", "--disable-dev-shm-usage"]
        with within(START, "the browser"):
            chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=arguments)
            os.setpriority(os.PRIO_PROCESS, 0, before)
            page: Page = chromium.new_page(viewport={"width": 800, "height": 500})
            came: list[str] = []
            page.on("websocket", lambda socket: socket.on("framereceived", lambda _: came.append(socket.url)))
            page.goto(address)
            while not came:  # nothing moves yet, so that the scene itself is all
                page.wait_for_timeout(100)
        yield came, lambda: page.wait_for_timeout(1)
        with within(PATIENCE, "the browser's end"):
            chromium.close()


@contextlib.contextmanager
def within(seconds: float, what: str) -> Iterator[None]:
    """Bound waits that have no limit of their own."""

    def give_up(*_: object) -> None:
        raise TimeoutError(f"{what} did not come within {seconds:g} s")

    signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)


def cpu_seconds(pid: int) -> float:
    """Processor time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Measure, and print one line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--seconds", type=float, default=60.0)
    seconds = parser.parse_args().seconds
    with domain_id() as number:
        os.environ |= {"ROS_DOMAIN_ID": str(number), "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}
        rclpy.init()
        with contextlib.ExitStack() as seen:
            pid, address = seen.enter_context(monitor())
            came, look = seen.enter_context(watched(address))  # before the loop takes all cores
            with loop() as ticks:
                look()
                came.clear()
                spent, began = cpu_seconds(pid), time.monotonic()
                during = ticks.during(seconds, look)
                elapsed, spent, frames = time.monotonic() - began, cpu_seconds(pid) - spent, len(came)
                seen.close()
                without = ticks.during(seconds)
        rclpy.shutdown()
    figures = {
        "cpu_share": round(spent / elapsed, 3),
        "updates_per_s": round(frames / elapsed, 1),
        "late_ticks": round(during.share, 4),
        "late_ticks_without": round(without.share, 4),
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
