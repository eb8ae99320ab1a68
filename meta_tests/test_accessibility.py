"""axe-core finds nothing serious in the page of a run or of a comparison, dark and light."""

from __future__ import annotations

import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest

from meta_tests.chromium import NEEDED
from meta_tests.pages import made_up
from reports import compare_html
from reports.changes import compare
from reports.model import view

AXE = "axe-core@4.14.1"
NPM_S = 60
GRAVE = ("serious", "critical")

pytestmark = [
    *NEEDED,
    pytest.mark.skipif(shutil.which("npm") is None, reason="npm, which brings axe, is missing"),
]


@pytest.fixture(scope="module")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The script of axe-core as npm packs it; no package is installed and none of it is kept."""
    folder = tmp_path_factory.mktemp("axe")
    command = ["npm", "pack", AXE, "--silent", "--ignore-scripts"]
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, check=False, timeout=NPM_S
        )
    except subprocess.TimeoutExpired:
        pytest.skip(f"{AXE} did not come within {NPM_S} s")
    packed = list(folder.glob("*.tgz"))
    if done.returncode or not packed:
        pytest.skip(f"npm cannot bring {AXE}: {done.stderr.strip()[-200:]}")
    with tarfile.open(packed[0]) as archive:
        script = archive.extractfile("package/axe.min.js")
        assert script is not None
        return script.read().decode()


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of a page that compares a whole run with an unfinished one."""
    runs = [view(made_up()), view(made_up("made_up_unfinished"))]
    path: Path = tmp_path_factory.mktemp("compared") / "page.html"
    shown = compare_html.page(runs, ["whole", "cut"], [compare(*runs)])
    path.write_text(shown, encoding="utf-8")
    return path.as_uri()


def findings(browser: Any, axe: str) -> list[str]:
    """What axe finds grave, with the element it means."""
    browser.execute_script(axe)
    found = browser.execute_async_script(
        "const done = arguments[0];"
        "axe.run({resultTypes: ['violations']})"
        ".then(r => done(r.violations), e => done(String(e)))"
    )
    assert isinstance(found, list), found
    assert browser.execute_script("return axe.version") == AXE.split("@")[1]
    return [
        f"{each['impact']} {each['id']}: {node['html'][:160]} {node['failureSummary'][:200]}"
        for each in found
        if each["impact"] in GRAVE
        for node in each["nodes"]
    ]


def opened(browser: Any, address: str, scheme: str, width: int) -> None:
    """The page with every fold open, so that axe sees all of it."""
    screen = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": features})
    browser.get("about:blank")
    browser.get(address)
    browser.execute_script("document.querySelectorAll('details').forEach(d => { d.open = true })")
    browser.execute_async_script("setTimeout(arguments[0], 50)")  # what opening sets off has run


@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_of_a_run_has_no_grave_finding(browser, axe, address, scheme, width):
    opened(browser, address, scheme, width)

    assert findings(browser, axe) == []


@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_of_a_comparison_has_no_grave_finding(browser, axe, compared, scheme, width):
    opened(browser, compared, scheme, width)

    assert findings(browser, axe) == []
    assert browser.get_log("browser") == []
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width


def test_axe_sees_a_planted_fault(browser, axe, compared):
    """The control: text without contrast and an image without words are both found."""
    opened(browser, compared, "light", 1280)
    browser.execute_script(
        "document.querySelector('.answer').style.color = '#eee';"
        "document.querySelector('main').append(document.createElement('img'))"
    )
    found = " ".join(findings(browser, axe))

    assert "color-contrast" in found
    assert "image-alt" in found
