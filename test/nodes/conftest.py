"""What the nodes' tests share."""

import pytest
from probe import Probe


@pytest.fixture
def probe(ros_domain):
    probe = Probe()
    yield probe
    probe.close()
