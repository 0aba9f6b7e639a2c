"""The pytest plugin: starts launch fixtures and runs launch tests beside them, also after the shutdown."""

import functools
import inspect
from collections.abc import Generator
from typing import Any

import pytest
from launch import LaunchContext, LaunchDescription, LaunchService

from .launch_fixture import name_of_launch_fixture
from .running_launch import RunningLaunch

RUNNING = pytest.StashKey[dict[str, RunningLaunch]]()  # by fixture, of the test or module that it is made for
_ENDED = object()


def pytest_configure(config: pytest.Config) -> None:
    """Make the mark known."""
    config.addinivalue_line("markers", "launch(fixture): run the test beside a launch fixture")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_fixture_setup(
    fixturedef: Any,  # noqa: ANN401 - a pytest.FixtureDef, which pytest 7 does not export
    request: pytest.FixtureRequest,
) -> Generator[None, Any, Any]:
    """Launch what a launch fixture returns."""
    name = name_of_launch_fixture(fixturedef.func)
    if name is None:
        return (yield)
    running = request.node.stash.setdefault(RUNNING, {})[name] = RunningLaunch(name)
    fixturedef.addfinalizer(running.close)
    result = yield
    description = result[0] if isinstance(result, (list, tuple)) and result else result
    if not isinstance(description, LaunchDescription):
        pytest.fail(f"launch fixture '{name}' must return a LaunchDescription, or a sequence that begins with one")
    running.start(description)
    return result


@pytest.fixture
def launch_service(request: pytest.FixtureRequest) -> LaunchService:
    """Give the service of the launch that the test is about."""
    name = _launch_fixture(request.node)
    if name is None:
        pytest.fail("mark the test by @pytest.mark.launch(fixture=...)", pytrace=False)
    request.getfixturevalue(name)
    return _running(request.node, name).service


@pytest.fixture
def launch_context(launch_service: LaunchService) -> LaunchContext:
    """Give the context of the launch that the test is about."""
    return launch_service.context


def _launch_fixture(item: pytest.Item) -> str | None:
    mark = item.get_closest_marker("launch")
    return None if mark is None else name_of_launch_fixture(mark.kwargs.get("fixture"))


def _running(item: pytest.Item, name: str) -> RunningLaunch:
    """Find the launch of a fixture that was made for the test or for its module."""
    owners = [node.stash.get(RUNNING, {}) for node in item.listchain()]
    return next(launches[name] for launches in reversed(owners) if name in launches)


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(
    collector: pytest.Module | pytest.Class,
    name: str,
    obj: Any,  # noqa: ANN401 - anything in a module
) -> list[pytest.Function] | None:
    """Collect launch tests, which pytest would refuse where they are generators."""
    marks = [mark for mark in getattr(obj, "pytestmark", []) if mark.name == "launch"]
    if not marks or not collector.istestfunction(obj, name):
        return None
    fixture = name_of_launch_fixture(marks[-1].kwargs.get("fixture"))
    if fixture is None or set(marks[-1].kwargs) != {"fixture"} or inspect.iscoroutinefunction(obj):
        what = "pytest.mark.launch(fixture=...) with a launch_pytest.fixture, on plain functions and generators"
        raise pytest.Collector.CollectError(f"{name}: this stand-in for launch_pytest only knows {what}")
    pytest.mark.usefixtures(fixture)(obj)
    return list(collector._genfunctions(name, obj))


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a launch test beside its launch; one that yields goes on after the shutdown."""
    name = _launch_fixture(pyfuncitem)
    if name is None:
        return None
    running = _running(pyfuncitem, name)
    arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
    result = running.run_in_thread(functools.partial(pyfuncitem.obj, **arguments))
    if inspect.isgenerator(result):
        if name not in pyfuncitem.stash.get(RUNNING, {}):
            pytest.fail("this stand-in ends a launch for tests that yield only in scope 'function'", pytrace=False)
        parts = (running.run_in_thread(functools.partial(next, result, _ENDED)) for _ in range(2))
        if next(parts) is _ENDED:
            pytest.fail("a launch test that is a generator must yield once", pytrace=False)
        running.shut_down()
        if next(parts) is not _ENDED:
            pytest.fail("a launch test that is a generator must yield only once", pytrace=False)
    return True
