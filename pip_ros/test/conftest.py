"""Keeps every test to itself: a ROS domain and a log folder of its own, no talk beyond this machine."""

from collections.abc import Iterator
from pathlib import Path

import domain_coordinator
import pytest


@pytest.fixture(autouse=True)
def isolated(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Give the test an environment that no other test shares."""
    logs: Path = tmp_path_factory.mktemp("logs")
    with domain_coordinator.domain_id() as domain:
        monkeypatch.setenv("ROS_DOMAIN_ID", str(domain))
        monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
        monkeypatch.setenv("ROS_LOG_DIR", str(logs))
        monkeypatch.setenv("PYTHONUNBUFFERED", "1")
        yield
