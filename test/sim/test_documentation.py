from pathlib import Path

from ompo_ros.resources import resource_path
from ompo_ros.sim.parameters import PARAMETERS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "domains.md"


def test_the_page_tells_every_parameter_as_it_is():
    page = PAGE.read_text()
    for parameter in PARAMETERS.values():
        name = f"`{parameter.name}`" + (" (x7)" if parameter.size == 7 else "")
        bounds = f"{parameter.low:g} to {parameter.high:g}"
        row = next(line for line in page.splitlines() if line.startswith(f"| {name} |"))
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        assert cells[1:4] == [parameter.unit, f"{parameter.nominal:g}", bounds]
        assert cells[5] == parameter.meaning


def test_the_page_names_every_shipped_domain():
    page = PAGE.read_text()
    for path in resource_path("config/domains").glob("*.yaml"):
        assert f"| `{path.stem}` |" in page
