"""One launch for all tests of a module: its order, its shutdown, its parameters."""

import launch
import launch_pytest
import pytest
from launching import beyond_genuine


@pytest.fixture(scope="module")
def order():
    return []


@launch_pytest.fixture(scope="module", params=["a", "b"])
def description(request):
    sleeper = launch.actions.ExecuteProcess(cmd=["sleep", "60"])
    return launch.LaunchDescription([sleeper, launch_pytest.actions.ReadyToTest()]), request.param


@pytest.mark.launch(fixture=description, shutdown=True)
def test_after_shutdown(order, description, launch_service):
    order.append(f"after {description[1]}")
    assert launch_service.event_loop is None


@pytest.mark.launch(fixture=description)
async def test_coroutine(order, description):
    order.append(f"coroutine {description[1]}")


@pytest.mark.launch(fixture=description)
def test_function(order, description):
    order.append(f"function {description[1]}")


@beyond_genuine
@pytest.mark.launch(fixture=description)
def test_every_parameter_has_a_running_launch(launch_service):
    assert launch_service.event_loop is not None


@pytest.mark.launch(fixture=description)
def test_generator(order, description, launch_service):
    order.append(f"generator {description[1]}")
    yield
    assert launch_service.event_loop is None
    order.append(f"generator after {description[1]}")


@pytest.mark.launch(fixture=description)
async def test_asynchronous_generator(order, description, launch_service):
    order.append(f"async {description[1]}")
    yield
    assert launch_service.event_loop is None
    order.append(f"async after {description[1]}")


class TestInAClass:
    @pytest.mark.launch(fixture=description)
    def test_method(self, order, description, launch_service):
        order.append(f"method {description[1]}")
        yield
        assert launch_service.event_loop is None
        order.append(f"method after {description[1]}")


@beyond_genuine
def test_every_part_has_an_id_of_its_own(request):
    ids = [item.nodeid for item in request.session.items if item.path == request.path]
    assert len(ids) == len(set(ids))


def test_order(order):
    before = ["coroutine", "function", "generator", "async", "method"]
    parts = [*before, "after", "generator after", "async after", "method after"]
    assert order == [f"{part} {param}" for param in "ab" for part in parts]
