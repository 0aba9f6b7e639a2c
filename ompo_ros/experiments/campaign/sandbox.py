"""Namespaces in which a campaign can cut the network and fill a disk without affecting the machine.

They hold their own processes, mounts, network and shared memory; all end with the campaign, even if it is killed.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from shutil import which
from xml.etree import ElementTree

from ament_index_python.packages import get_package_share_directory

NEEDED_BY = ("disk", "network")
_INSIDE = "OMPO_CAMPAIGN_SANDBOX"
_NAMESPACES = ("--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc")
# Discovery of the run's nodes. With localhost only, DDS adds shared memory by itself.
LOCAL = {"ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}
BY_UDP = {"ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET", "ROS_STATIC_PEERS": "127.0.0.1"}
_PROFILES = "{http://www.eprosima.com/XMLSchemas/fastRTPS_Profiles}"
DISK_SIZE = "48m"


def is_inside() -> bool:
    """Whether this process already runs in the namespaces."""
    return _INSIDE in os.environ


def is_possible() -> bool:
    """Whether this user may make the namespaces; tested by trying, because kernels and containers differ."""
    if which("unshare") is None or which("ip") is None:
        return False
    trial = [*_unshare(), "sh", "-c", "ip link set lo up && mount -t tmpfs tmpfs /dev/shm"]
    return subprocess.run(trial, capture_output=True, check=False).returncode == 0


def enter(arguments: Sequence[str]) -> None:
    """Replace this process by the same campaign inside the namespaces."""
    os.environ[_INSIDE] = "1"
    command = [*_unshare(), sys.executable, "-m", "ompo_ros.experiments.campaign", *arguments]
    sys.stdout.flush()
    os.execvp(command[0], command)  # noqa: S606 - no shell is wanted


def furnish(disk: Path) -> None:
    """Give the new namespaces a loopback, shared memory of their own, and a small disk."""
    disk.mkdir(parents=True)
    for command in (
        ["ip", "link", "set", "lo", "up"],
        ["mount", "-t", "tmpfs", "tmpfs", "/dev/shm"],  # noqa: S108 - mounted, not written to
        ["mount", "-t", "tmpfs", "-o", f"size={DISK_SIZE}", "tmpfs", str(disk)],
    ):
        subprocess.run(command, check=True)


def remove(disk: Path) -> None:
    """Remove the small disk, whose folder is outside the namespaces."""
    subprocess.run(["umount", "--lazy", str(disk)], check=True)
    disk.rmdir()


def set_loopback(state: str) -> None:
    """Take the network `down` or bring it `up` again."""
    subprocess.run(["ip", "link", "set", "lo", state], check=True)


@contextmanager
def udp_only(folder: Path) -> Iterator[None]:
    """Remove shared memory from the launch's DDS profile, so that cutting the network has an effect."""
    profile = Path(get_package_share_directory("ompo_ros")) / "config" / "fastdds.xml"
    without = folder / "udp_only.xml"
    without.write_bytes(_without_shared_memory(profile))
    subprocess.run(["mount", "--bind", str(without), str(profile)], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", str(profile)], check=True)


def _without_shared_memory(profile: Path) -> bytes:
    ElementTree.register_namespace("", _PROFILES.strip("{}"))
    root = ElementTree.parse(profile).getroot()  # noqa: S314 - our own file
    for parent in list(root.iter()):
        for child in list(parent):
            of_shared_memory = child.tag == f"{_PROFILES}transport_id" and child.text == "shared_memory"
            if of_shared_memory and parent.tag == f"{_PROFILES}userTransports":
                parent.remove(child)
    return bytes(ElementTree.tostring(root))


def _unshare() -> list[str]:
    return ["unshare", *(() if os.geteuid() == 0 else ("--map-root-user",)), *_NAMESPACES]
