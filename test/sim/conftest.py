import pytest

from ompo_ros.sim.distributions import Constant
from ompo_ros.sim.domain import Domain, Drawn


@pytest.fixture(scope="session")
def fixed_domain():
    """Make a domain in which the named parameters have the given values."""

    def make(**values) -> Domain:
        return Domain("test", {name: Drawn(Constant(value)) for name, value in values.items()})

    return make
