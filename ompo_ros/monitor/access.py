"""Who may see the page and press its buttons: a gate before viser's web server, which has none of its own."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import hmac
import http.cookies
import ipaddress
import secrets
from collections.abc import Callable, Iterator, Mapping
from http import HTTPStatus
from typing import Any, Final, NamedTuple
from urllib.parse import parse_qs, urlsplit

import websockets.asyncio.server
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

SCENE: Final = "/scene"  # where viser's own page is; ours frames it
PRESS_HEADER: Final = "X-Ompo-Press"  # a foreign site cannot set it without asking, and the answer is no
_STRANGER: Final = "Open the address that the launch printed: it carries the token of this run."
_FOREIGN: Final = "This page takes requests of its own address only."


class Reply(NamedTuple):
    """What a path of ours gives."""

    kind: str
    body: bytes


@dataclasses.dataclass(frozen=True)
class Route:
    """How a path is answered; one that presses something is refused to whoever was led here by another site."""

    reply: Callable[[], Reply]
    presses: bool = False


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Gate:
    """Refuses strangers, answers our own paths and lets viser's through. Beyond this machine a token is needed."""

    def __init__(self, host: str, routes: Mapping[str, Route]) -> None:
        self._local = is_loopback(host)
        self.token = "" if self._local else secrets.token_urlsafe(24)
        self._routes = routes
        # Browsers keep one jar for all ports of a host, so that the page of a second run needs a name of its own.
        self._cookie = f"ompo_view_{hashlib.sha256(self.token.encode()).hexdigest()[:12]}"

    def answer(self, request: Request) -> Response | Request:
        """What to say, or the request that viser is to answer."""
        path = urlsplit(request.path)
        if problem := self._foreign(request.headers):
            return _refusal(HTTPStatus.FORBIDDEN, problem)
        if self.token and (given := parse_qs(path.query).get("token")):
            return self._admit(given[0])
        if self.token and not self._knows(_cookie(request.headers, self._cookie)):
            return _refusal(HTTPStatus.UNAUTHORIZED, _STRANGER)
        if path.path == SCENE:
            return dataclasses.replace(request, path="/")
        route = self._routes.get(path.path)
        if route is None:
            return _refusal(HTTPStatus.NOT_FOUND, "There is nothing here.")
        if route.presses and PRESS_HEADER not in request.headers:
            return _refusal(HTTPStatus.FORBIDDEN, _FOREIGN)
        reply = route.reply()
        return _response(HTTPStatus.OK, reply.body, {"Content-Type": reply.kind})

    def _foreign(self, headers: Headers) -> str:
        """Why a request is not of our own page, or empty: sites that a browser visits may try our address, too."""
        host, origin = headers.get("Host", ""), headers.get("Origin")
        if self._local and not is_loopback(urlsplit(f"//{host}").hostname or ""):
            return _FOREIGN
        return _FOREIGN if origin is not None and urlsplit(origin).netloc != host else ""

    def _admit(self, given: str) -> Response:
        if not self._knows(given):
            return _refusal(HTTPStatus.UNAUTHORIZED, _STRANGER)
        cookie = f"{self._cookie}={self.token}; HttpOnly; SameSite=Strict; Path=/"
        return _response(HTTPStatus.SEE_OTHER, b"", {"Location": "/", "Set-Cookie": cookie})

    def _knows(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self.token.encode())


@contextlib.contextmanager
def guarded(gate: Gate) -> Iterator[None]:
    """Put a gate before the web server that viser starts within; fails where viser starts it in another way."""
    serve = websockets.asyncio.server.serve
    used = False

    def serve_behind(*args: Any, process_request: Callable[..., Any], **options: Any) -> Any:  # noqa: ANN401 - serve's own
        nonlocal used
        used = True

        def process(connection: Any, request: Request) -> Response | None:  # noqa: ANN401 - as above
            answer = gate.answer(request)
            if isinstance(answer, Response):
                return answer
            page: Response | None = process_request(connection, answer)
            if page is not None:
                page.headers.update(_SAFE)
            return page

        return serve(*args, process_request=process, **options)

    websockets.asyncio.server.serve = serve_behind  # type: ignore[assignment, misc]
    try:
        yield
    finally:
        websockets.asyncio.server.serve = serve  # type: ignore[misc]
    if not used:
        raise RuntimeError("this version of viser cannot be guarded: install the one that requirements/view.txt names")


_SAFE: Final = {
    "Content-Security-Policy": "frame-ancestors 'self'",  # no other site may lay our buttons under its own
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
}


def _cookie(headers: Headers, name: str) -> str:
    jar: http.cookies.SimpleCookie = http.cookies.SimpleCookie()
    with contextlib.suppress(http.cookies.CookieError):
        jar.load("; ".join(headers.get_all("Cookie")))
    return jar[name].value if name in jar else ""


def _refusal(status: HTTPStatus, text: str) -> Response:
    return _response(status, f"{text}\n".encode(), {"Content-Type": "text/plain; charset=utf-8"})


def _response(status: HTTPStatus, body: bytes, headers: Mapping[str, str]) -> Response:
    lines = {**headers, **_SAFE, "Content-Length": str(len(body))}
    return Response(status.value, status.phrase, Headers(lines), body)
