"""Documentation stays readable: short lines, a short README, links and pictures that exist."""

import re
from pathlib import Path

import pytest

from ompo_ros.sim.domain import load_domain

ROOT = Path(__file__).parent.parent
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), ROOT / "pip_ros" / "README.md"]
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]*)(?:#([^)\s]+))?\)")


def anchors(page):
    """Headings as GitHub names them in links."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CHANGELOG.rst"], ids=lambda page: page.name)
def test_lines_have_at_most_100_characters(page):
    # A table's row cannot be broken.
    lines = [line for line in page.read_text().splitlines() if len(line) > 100 and not line.startswith("|")]
    assert not lines


def test_the_readme_fits_on_two_screens():
    assert 60 <= len((ROOT / "README.md").read_text().splitlines()) <= 80


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target, anchor in LINK.findall(page.read_text()):
        if not target.startswith("http"):
            file = (page.parent / target).resolve() if target else page
            assert file.exists(), f"{page.name} links to {target}"
            assert not anchor or anchor in anchors(file), f"{page.name} links to {target}#{anchor}"


def test_the_moving_picture_is_small():
    assert (ROOT / "docs" / "images" / "adaptation.gif").stat().st_size < 1_500_000


def test_the_index_names_every_page():
    index = (ROOT / "docs" / "README.md").read_text()
    assert all(f"]({page.name})" in index for page in (ROOT / "docs").glob("*.md") if page.name != "README.md")


def test_the_example_of_a_domain_is_one(tmp_path):
    (example,) = re.findall(r"```yaml\n(parameters:.*?)```", (ROOT / "docs" / "domains.md").read_text(), re.DOTALL)
    path = tmp_path / "example.yaml"
    path.write_text(example)
    assert load_domain(path).drift
