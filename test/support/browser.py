"""A person at a browser: Debian's chromium, driven by Playwright, on a machine without a screen."""

import contextlib
import shutil
import time

import pytest
from waiting import PATIENCE, wait_until

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def require_browser() -> None:
    """Skip with what is missing where no browser can be driven."""
    pytest.importorskip("playwright", reason="playwright is missing: pip install playwright")
    if CHROMIUM is None:
        pytest.skip("no browser is installed: apt-get install chromium")


@contextlib.contextmanager
def browser():
    """One chromium; contexts of it are people with cookies of their own."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--use-angle=swiftshader", "--disable-dev-shm-usage"]
        )
        try:
            yield chromium
        finally:
            chromium.close()


class Person:
    """Somebody who looks at the page; small, since every pixel is drawn by software."""

    def __init__(self, chromium, address: str) -> None:
        self.page = chromium.new_context(viewport={"width": 1000, "height": 620}).new_page()
        self.page.set_default_timeout(1000.0 * PATIENCE)
        self.requests: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.response = self.page.goto(address)

    @property
    def panels(self):
        return self.page.frame_locator("#scene")

    def sees(self, text: str):
        """Wait until a text is on the page, in our bar or in viser's panels."""
        deadline = time.monotonic() + PATIENCE
        while text not in (shown := self.text()):
            assert time.monotonic() < deadline, f"no {text!r} on the page within {PATIENCE:g} s, but:\n{shown}"
            time.sleep(0.1)

    def text(self) -> str:
        frame = self.page.frame(url="**/scene")
        return self.page.inner_text("body") + (frame.inner_text("body") if frame else "")

    def press(self, button: str) -> None:
        """Press at once: a click of the mouse waits for frames, which a busy machine draws slowly."""
        self.panels.get_by_role("button", name=button, exact=True).dispatch_event("click")

    def open_tab(self, name: str, with_button: str) -> None:
        """Click a tab until what is on it shows: a page that is grey for a moment takes no clicks."""
        tab = self.panels.get_by_role("tab", name=name, exact=True)
        button = self.panels.get_by_role("button", name=with_button, exact=True)

        def opened() -> bool:
            box = tab.bounding_box()
            self.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
            return button.count() > 0

        wait_until(opened, f"the tab {name}", pause=1.0)

    @property
    def canvas(self):
        return self.panels.locator("canvas[data-engine]")

    def click_scene(self, across: float = 0.5, down: float = 0.5) -> None:
        """Click into the scene, at shares of its width and height."""
        box = self.canvas.bounding_box()
        self.page.mouse.click(box["x"] + across * box["width"], box["y"] + down * box["height"])

    def picture(self) -> bytes:
        """The scene as pixels; a picture of the canvas by name would wait until it is at rest."""
        return self.page.screenshot(clip=self.canvas.bounding_box())

    def sees_motion(self) -> None:
        """Wait until the scene has changed, twice: once it may only have been drawn for the first time."""
        for _ in range(2):
            before = self.picture()
            wait_until(lambda before=before: self.picture() != before, "another picture of the arm", pause=0.1)
