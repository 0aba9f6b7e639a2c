"""The pytest plugin: starts launch fixtures, runs launch tests beside them, puts shutdown tests last."""

from __future__ import annotations

import asyncio
from collections.abc import Generator, Hashable
from typing import Any

import pytest
from launch import LaunchContext, LaunchDescription, LaunchService

from .launch_fixture import LaunchFixture, launch_fixture_of
from .launch_test import LaunchTest, has_two_parts
from .running_launch import RunningLaunch

RUNNING = pytest.StashKey[dict[LaunchFixture, RunningLaunch]]()
SECOND_PART = pytest.StashKey[pytest.Item]()
FIRST_PART_OF = pytest.StashKey[LaunchTest]()
IS_SECOND_PART = pytest.StashKey[bool]()


def pytest_configure(config: pytest.Config) -> None:
    """Make the mark known, and a place for the launches that run."""
    config.addinivalue_line("markers", "launch(fixture, shutdown=False): run the test beside a launch fixture")
    config.stash[RUNNING] = {}


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_fixture_setup(
    fixturedef: Any,  # noqa: ANN401 - a pytest.FixtureDef, which pytest 7 does not export
    request: pytest.FixtureRequest,
) -> Generator[None, Any, Any]:
    """Launch what a launch fixture returns."""
    fixture = launch_fixture_of(fixturedef.func)
    if fixture is None:
        return (yield)
    running = request.config.stash[RUNNING][fixture] = RunningLaunch(fixture)
    fixturedef.addfinalizer(running.close)
    result = yield
    description = result[0] if isinstance(result, (list, tuple)) and result else result
    if not isinstance(description, LaunchDescription):
        pytest.fail(
            f"launch fixture '{fixture.name}' must return a LaunchDescription, or a sequence that begins with one",
            pytrace=False,
        )
    running.start(description)
    return result


@pytest.fixture
def launch_service(request: pytest.FixtureRequest) -> LaunchService:
    """Give the service of the launch that the test is about."""
    return _running_launch(request).service


@pytest.fixture
def launch_context(launch_service: LaunchService) -> LaunchContext:
    """Give the context of the launch that the test is about."""
    return launch_service.context


@pytest.fixture
def event_loop(request: pytest.FixtureRequest) -> asyncio.AbstractEventLoop:
    """Give the loop of the launch that the test is about."""
    return _running_launch(request).loop


def _running_launch(request: pytest.FixtureRequest) -> RunningLaunch:
    fixture = _fixture_of(request.node)
    if fixture is None:
        pytest.fail("mark the test by @pytest.mark.launch(fixture=...)", pytrace=False)
    if fixture not in request.config.stash[RUNNING]:
        request.getfixturevalue(fixture.name)
    return request.config.stash[RUNNING][fixture]


def _fixture_of(item: pytest.Item) -> LaunchFixture | None:
    mark = item.get_closest_marker("launch")
    return None if mark is None else launch_fixture_of(mark.kwargs.get("fixture"))


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(
    collector: pytest.Module | pytest.Class,
    name: str,
    obj: Any,  # noqa: ANN401 - anything in a module
) -> list[pytest.Function] | None:
    """Collect launch tests, which pytest would refuse where they are generators."""
    if not (collector.istestfunction(obj, name) and hasattr(obj, "__code__")):
        return None
    own = [mark for mark in getattr(obj, "pytestmark", []) if mark.name == "launch"]
    mark = own[-1] if own else collector.get_closest_marker("launch")
    if mark is None:
        return None
    fixture = launch_fixture_of(mark.kwargs.get("fixture"))
    if fixture is None:
        pytest.mark.skip(reason="pytest.mark.launch() needs fixture=, a launch_pytest.fixture")(obj)
        return None
    pytest.mark.usefixtures(fixture.name)(obj)
    items: list[pytest.Function] = list(collector._genfunctions(name, obj))
    if not has_two_parts(obj) or fixture.scope == "function":
        return items
    return items + [_second_part(item) for item in items]


def _second_part(item: pytest.Function) -> pytest.Function:
    """Make the item of a test's part after the yield, for launches that other tests use too."""
    own_name = f"{item.originalname}_after_shutdown"
    other: pytest.Function = pytest.Function.from_parent(
        item.parent,
        name=item.name.replace(item.originalname, own_name, 1),
        originalname=own_name,
        callobj=item.obj,
        callspec=getattr(item, "callspec", None),
        fixtureinfo=item._fixtureinfo,
    )
    other.stash[IS_SECOND_PART] = True
    item.stash[SECOND_PART] = other
    return other


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the tests that come after a shutdown behind all others of the same launch."""
    last = {_launch_key(item): item for item in items if not _comes_after_shutdown(item)}
    held: dict[Hashable, list[pytest.Item]] = {}
    ordered: list[pytest.Item] = []
    for item in items:
        key = _launch_key(item)
        if key is not None and _comes_after_shutdown(item) and key in last and item is not last[key]:
            held.setdefault(key, []).append(item)
            continue
        ordered.append(item)
    for key, waiting in held.items():
        position = max(ordered.index(last[key]), *(ordered.index(item) for item in ordered if _launch_key(item) == key))
        ordered[position + 1 : position + 1] = waiting
    items[:] = ordered


def _launch_key(item: pytest.Item) -> Hashable:
    """Tell launches apart: None for tests that have one for themselves, or none."""
    fixture = _fixture_of(item)
    if fixture is None or fixture.scope == "function":
        return None
    callspec = getattr(item, "callspec", None)
    return fixture, repr(None if callspec is None else callspec.params.get(fixture.name))


def _comes_after_shutdown(item: pytest.Item) -> bool:
    mark = item.get_closest_marker("launch")
    return item.stash.get(IS_SECOND_PART, False) or (mark is not None and bool(mark.kwargs.get("shutdown")))


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a launch test beside its launch."""
    fixture = _fixture_of(pyfuncitem)
    if fixture is None:
        return None
    running = pyfuncitem.config.stash[RUNNING][fixture]
    if running.failure is not None:
        pytest.fail(running.failure, pytrace=False)
    arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
    test = LaunchTest(pyfuncitem.obj, arguments, running)
    if pyfuncitem.stash.get(IS_SECOND_PART, False):
        _run_second_part(pyfuncitem, running)
    elif _comes_after_shutdown(pyfuncitem):
        if has_two_parts(pyfuncitem.obj):
            pytest.fail("a launch test that yields cannot be marked with shutdown=True", pytrace=False)
        running.shut_down()
        test.run()
    else:
        _run_first_part(pyfuncitem, test, running)
    return True


def _run_first_part(item: pytest.Function, test: LaunchTest, running: RunningLaunch) -> None:
    test.run()
    if SECOND_PART in item.stash:
        item.stash[SECOND_PART].stash[FIRST_PART_OF] = test
    elif has_two_parts(item.obj):
        running.shut_down()
        test.run_after_shutdown()


def _run_second_part(item: pytest.Function, running: RunningLaunch) -> None:
    if FIRST_PART_OF not in item.stash:
        pytest.skip("the part before the shutdown did not pass")
    running.shut_down()
    item.stash[FIRST_PART_OF].run_after_shutdown()
