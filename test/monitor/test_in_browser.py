"""The page without a robot in a real browser: what a person sees and presses reaches the other side."""

import threading
import time

import numpy as np
import pytest
from browser import Person, browser, require_browser
from waiting import wait_until

from ompo_ros.monitor.page import Page
from ompo_ros.monitor.press import Act
from ompo_ros.monitor.run_state import PolicyRow, RunState
from ompo_ros.task.robot import load_robot
from ompo_ros.task.tasks import Task

pytestmark = pytest.mark.xdist_group("browser")


class Stage:
    """A page with an arm that waves in a thread of its own, in place of a node."""

    def __init__(self, host="127.0.0.1") -> None:
        self.run, self.presses = RunState(target_steps=500), []
        robot, task = load_robot("panda"), Task("reach", "dense")
        self.page = Page(robot, task, self.run, self.press, host=host, port=0, reasons=("speed",), nominal={})
        self.run.policies = (PolicyRow(4, ("latest",), False, float("nan"), 0, ""),)
        self._done = threading.Event()
        self.silent = False
        self._thread = threading.Thread(target=self._play)
        self._thread.start()

    def press(self, press) -> None:
        self.presses.append(press)
        self.run.answer(press.act.value, f"heard {len(self.presses)}", True)

    def acts(self):
        return [press.act for press in self.presses]

    def _play(self) -> None:
        home, available = load_robot("panda").home, set(Act)
        while not self._done.wait(0.1):
            now = time.monotonic()
            if not self.silent:
                self.run.hear_joint_state(now)
                self.run.hear_arm("playing an episode", "", {}, now)
                self.page.scene.show_arm(home + 0.4 * np.sin(2.0 * now + np.arange(7)), None)
            self.page.show(available)

    def close(self) -> None:
        self._done.set()
        self._thread.join()
        self.page.close()


@pytest.fixture(scope="module")
def chromium():
    require_browser()
    with browser() as chromium:
        yield chromium


@pytest.fixture
def stage():
    stage = Stage()
    yield stage
    stage.close()


def test_a_person_presses_and_the_other_side_hears_it(chromium, stage):
    person = Person(chromium, stage.page.address)
    person.sees("playing an episode")
    person.press("Evaluate")
    person.sees("evaluate: heard 1")
    assert stage.presses[-1].number == 10
    person.page.keyboard.press("Escape")
    person.sees("stop: heard 2")
    person.click_scene()
    person.page.keyboard.press("Escape")  # the scene has the keyboard now
    person.sees("stop: heard 3")
    person.page.get_by_role("button", name="STOP").click()
    person.sees("stop: heard 4")
    assert stage.acts() == [Act.EVALUATE, Act.STOP, Act.STOP, Act.STOP]
    others = {url for url in person.requests if not url.startswith((stage.page.address, "data:", "blob:"))}
    assert not others, "the page asks no other host"
    person.page.close()


@pytest.mark.slow
def test_of_two_who_press_one_leaves_before_the_answer(chromium, stage):
    anna, bert = (Person(chromium, stage.page.address) for _ in range(2))
    for person in (anna, bert):
        person.sees("playing an episode")
    for person in (anna, bert):
        person.press("Enable")
    anna.page.close()
    bert.sees("enable: heard 2")
    bert.page.close()


def test_a_side_that_falls_silent_greys_the_page_and_says_so(chromium, stage):
    person = Person(chromium, stage.page.address)
    person.sees("playing an episode")
    assert person.page.locator("body").get_attribute("class") == ""
    stage.silent = True
    person.sees("Old: the robot and its node are silent for ")
    assert person.page.locator("body").get_attribute("class") == "lost"
    stage.silent = False
    wait_until(lambda: person.page.locator("body").get_attribute("class") == "", "colours again")
    stage.page.close()
    person.sees("The page's node is gone")
    person.page.close()


def test_a_stranger_gets_no_page_and_a_guest_with_the_token_does(chromium):
    stage = Stage("0.0.0.0")  # noqa: S104 - that is the test
    try:
        address, _, token = stage.page.address.partition("?token=")
        address = f"http://127.0.0.1:{address.rstrip('/').rpartition(':')[2]}/"
        assert Person(chromium, address).response.status == 401
        assert Person(chromium, f"{address}?token=guessed").response.status == 401
        guest = Person(chromium, f"{address}?token={token}")
        guest.sees("playing an episode")
        assert guest.page.url == address, "the token does not stay in the address"
        guest.page.keyboard.press("Escape")
        guest.sees("stop: heard 1")
    finally:
        stage.close()
