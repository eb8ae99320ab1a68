"""Both charts in a real browser: nothing overflows, no text lies on another, all can be read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from meta_tests import charted
from meta_tests.chromium import NEEDED, Written, js

pytestmark = NEEDED

TEXTS = """[...document.querySelectorAll(
  ".sweep svg text, .timeline .lane, .timeline figcaption, .ticks span")]
.map(e => {
  const range = document.createRange();
  range.selectNodeContents(e);
  const box = range.getBoundingClientRect();
  return [e.textContent, box.left, box.top, box.right, box.bottom];
})
"""


@pytest.fixture(scope="module")
def charts(written: Written, tmp_path_factory: pytest.TempPathFactory) -> str:
    folder: Path = tmp_path_factory.mktemp("charts")
    return written(charted.rows(folder, charted.passes(), charted.source_like()))


@pytest.fixture
def opened(browser: Any, charts: str):
    def go(width: int, scheme: str = "light") -> Any:
        screen = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        how = {"media": "", "features": features}
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", how)
        browser.get("about:blank")
        browser.get(charts)
        browser.execute_script(
            "document.querySelectorAll('details').forEach(d => { d.open = true })"
        )
        return browser

    return go


WIDTHS = pytest.mark.parametrize("width", [320, 400, 700, 1280, 1920])


@WIDTHS
def test_no_width_scrolls_sideways(opened, width):
    assert js(opened(width), "document.documentElement.scrollWidth") <= width


@WIDTHS
def test_no_text_of_a_chart_lies_on_another_or_outside(opened, width):
    texts = js(opened(width), TEXTS)
    shown = {text for text, *_ in texts}
    assert {"1,024", "ridge, 75.9 operations a byte", "replayed as a graph"} <= shown
    for number, (name, left, top, right, bottom) in enumerate(texts):
        assert left >= 0
        assert right <= width, name
        for other, l2, t2, r2, b2 in texts[:number]:
            apart = right <= l2 + 0.5 or r2 <= left + 0.5 or bottom <= t2 + 3 or b2 <= top + 3
            assert apart, (name, other)


@WIDTHS
def test_text_is_large_enough(opened, width):
    """Texts of an SVG shrink with it; the one that stands upright is turned, not smaller."""
    heights = js(
        opened(width),
        "[...document.querySelectorAll('.sweep svg text')].map(e => {"
        "const at = e.getScreenCTM();"
        "return parseFloat(getComputedStyle(e).fontSize) * Math.hypot(at.c, at.d); })",
    )
    assert min(heights) >= (10 if width >= 400 else 8)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_bars_and_marks_have_the_schemes_colour(opened, scheme):
    browser = opened(1280, scheme)
    fill = js(browser, "getComputedStyle(document.querySelector('.timeline .bars')).fill")
    level = sum(map(int, fill.removeprefix("rgb(").removesuffix(")").split(", "))) / 3
    assert (level > 128) is (scheme == "dark")
