"""Who gets in: requests to a real page over real sockets, as browsers and others send them."""

import http.client
import json
from urllib.parse import urlsplit

import pytest
from waiting import PATIENCE
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from ompo_ros.monitor.page import Page
from ompo_ros.monitor.press import Act
from ompo_ros.monitor.run_state import RunState
from ompo_ros.task.robot import load_robot
from ompo_ros.task.tasks import Task

PRESS = {"X-Ompo-Press": "1"}


class Server:
    """A page, and what was pressed on it."""

    def __init__(self, host: str) -> None:
        self.presses = []
        task = Task("reach", "dense")
        self.page = Page(
            load_robot("panda"),
            task,
            RunState(),
            self.presses.append,
            host=host,
            port=0,
            reasons=("speed",),
            nominal={},
        )
        self.url = urlsplit(self.page.address)
        self.token = self.url.query.removeprefix("token=")
        self.host = f"127.0.0.1:{self.url.port}"

    def get(self, path: str, **headers: str) -> http.client.HTTPResponse:
        connection = http.client.HTTPConnection("127.0.0.1", self.url.port, timeout=PATIENCE)
        connection.request("GET", path, headers={"Host": self.host, **headers})
        return connection.getresponse()

    def socket(self, **headers: str) -> None:
        """Connect as viser's own page does."""
        import viser

        with connect(
            f"ws://{self.host}/scene",
            subprotocols=[f"viser-v{viser.__version__}"],
            additional_headers=headers,
            open_timeout=PATIENCE,
            max_size=None,
        ) as socket:
            assert socket.recv(30)

    def cookie(self) -> str:
        answer = self.get(f"/?token={self.token}")
        assert (answer.status, answer.headers["Location"]) == (303, "/")
        assert "HttpOnly" in answer.headers["Set-Cookie"]
        assert "SameSite=Strict" in answer.headers["Set-Cookie"]
        return answer.headers["Set-Cookie"].split(";")[0]


@pytest.fixture(scope="module")
def local():
    server = Server("127.0.0.1")
    yield server
    server.page.close()


@pytest.fixture(scope="module")
def open_to_all():
    server = Server("0.0.0.0")  # noqa: S104 - that is the test
    yield server
    server.page.close()


def test_on_this_machine_the_page_opens_without_a_token(local):
    assert local.token == ""
    assert b"STOP" in local.get("/").read()
    assert local.get("/scene").status == 200
    assert json.loads(local.get("/state").read())["stage"]
    local.socket()
    local.socket(Origin=f"http://{local.host}")


def test_another_site_can_neither_see_nor_press(local):
    before = len(local.presses)
    elsewhere = {"Origin": "http://evil.example"}
    assert local.get("/state", **elsewhere).status == 403
    assert local.get("/press/stop", **PRESS, **elsewhere).status == 403
    assert local.get("/press/stop").status == 403, "a link or an image presses nothing"
    with pytest.raises(InvalidStatus):
        local.socket(**elsewhere)
    assert len(local.presses) == before


def test_a_name_that_was_led_to_this_machine_is_refused(local):
    assert local.get("/", Host="evil.example").status == 403
    assert local.get("/", Host=f"localhost:{local.url.port}").status == 200


def test_no_other_site_may_frame_the_buttons(local):
    for path in ("/", "/scene"):
        assert "frame-ancestors 'self'" in local.get(path).headers["Content-Security-Policy"]


def test_the_stop_button_is_heard(local):
    local.presses.clear()
    assert local.get("/press/stop", **PRESS).status == 200
    assert [press.act for press in local.presses] == [Act.STOP]


def test_nothing_else_is_served(local):
    for path in ("/index.html", "/../page.py", "/%2e%2e/page.py", "/press", "/scene/", "//"):
        assert local.get(path).status == 404


def test_beyond_this_machine_nothing_goes_without_the_token(open_to_all):
    assert len(open_to_all.token) >= 32
    for path in ("/", "/scene", "/state", "/press/stop", "/?token=", "/?token=wrong", "/?token=%ff"):
        answer = open_to_all.get(path, **PRESS)
        assert answer.status == 401, path
        assert b"the launch printed" in answer.read()
    for cookie in ("", "=", "ompo_view=x", f"{open_to_all.cookie().split('=')[0]}=wrong", "a=b;;="):
        assert open_to_all.get("/", Cookie=cookie).status == 401
    with pytest.raises(InvalidStatus):
        open_to_all.socket()
    assert open_to_all.presses == []


def test_the_token_opens_page_and_socket(open_to_all):
    cookie = {"Cookie": open_to_all.cookie()}
    assert open_to_all.get("/", **cookie).status == 200
    open_to_all.socket(**cookie)
    assert open_to_all.get("/press/stop", **PRESS, **cookie).status == 200
    with pytest.raises(InvalidStatus):
        open_to_all.socket(**cookie, Origin="http://evil.example")
    assert len(open_to_all.presses) == 1


def test_the_page_of_a_second_run_leaves_the_first_ones_cookie(open_to_all):
    second = Server("0.0.0.0")  # noqa: S104 - as above
    try:
        assert second.cookie().split("=")[0] != open_to_all.cookie().split("=")[0]
        assert second.get("/", Cookie=open_to_all.cookie()).status == 401
    finally:
        second.page.close()


def test_an_address_of_another_machine_is_refused_with_what_to_give():
    with pytest.raises(ValueError, match="an address of this machine"):
        Server("192.0.2.1")
