"""The page as pytest-html writes it, in a real browser: it works, loads nothing, runs nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from meta_tests.chromium import NEEDED, Written, js
from meta_tests.pages import many

pytestmark = NEEDED


@pytest.fixture
def at(browser: Any, address: str) -> Callable[..., Any]:
    """Opens the page: at a width, at an anchor, with a colour scheme or medium."""

    def go(anchor: str = "", *, width: int = 1280, media: str = "", scheme: str = "light") -> Any:
        screen = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        browser.execute_cdp_cmd(
            "Emulation.setEmulatedMedia", {"media": media, "features": features}
        )
        browser.get("about:blank")
        browser.get_log("browser")
        browser.get(f"{address}{anchor}")
        return browser

    return go


def shown(browser: Any) -> list[str]:
    """Ids of the claims that can be seen, in page order."""
    every = "[...document.querySelectorAll('tbody.claim')]"
    return js(browser, f"{every}.filter(c => c.getClientRects().length).map(c => c.id)")


def choose(browser: Any, name: str, value: str) -> None:
    """Set a field of the tools as a reader's choice does."""
    browser.execute_script(
        "const f = document.querySelector('.tools').elements[arguments[0]];"
        "f.value = arguments[1]; f.dispatchEvent(new Event('change', {bubbles: true}))",
        name,
        value,
    )


def test_nothing_goes_wrong_and_nothing_is_loaded(at: Any):
    """No message in the console, no request beside the page itself."""
    browser = at()

    assert browser.get_log("browser") == []
    assert js(browser, "performance.getEntriesByType('resource').map(e => e.name)") == []


def test_the_answer_is_what_people_see_first(at: Any):
    """The first sentence lies at the top of the first screen; the test log is closed, below."""
    browser = at()
    top = "document.querySelector('{}').getBoundingClientRect().top"

    assert js(browser, top.format(".answer")) < 120
    assert js(browser, top.format("#test-log")) > js(browser, top.format("table.claims"))
    assert not js(browser, "document.getElementById('test-log').open")
    assert js(browser, "document.querySelector('#test-log #results-table') !== null")


def test_the_test_log_still_works(at: Any):
    """pytest-html's own list is filled, sorts and filters inside its fold."""
    browser = at()
    browser.execute_script("document.getElementById('test-log').open = true")
    rows = "document.querySelectorAll('#test-log .results-table-row').length"
    assert js(browser, rows) == 3

    browser.execute_script("document.querySelector('[data-test-result=failed]').click()")

    assert js(browser, rows) == 2
    assert browser.get_log("browser") == []


@pytest.mark.parametrize("width", [320, 400, 700, 1000, 1280, 1920])
def test_no_width_scrolls_sideways(at: Any, width: int):
    """Everything opened, the page is never wider than the screen."""
    browser = at(width=width)
    browser.execute_script("document.querySelectorAll('details').forEach(d => { d.open = true })")

    assert js(browser, "document.documentElement.scrollWidth") <= width


def test_a_deep_link_opens_its_claim(at: Any):
    """The claim is open and in view; the others stay closed; app.js kept the address."""
    browser = at("#sample/share-is-refuted")
    claim = "document.getElementById('sample/share-is-refuted')"

    assert js(browser, f"{claim}.querySelector('details').open")
    assert js(browser, "document.querySelectorAll('tbody.claim td > details[open]').length") == 1
    assert 0 <= js(browser, f"{claim}.getBoundingClientRect().top") < 900
    assert js(browser, "location.hash") == "#sample/share-is-refuted"


def test_a_link_to_a_filtered_claim_shows_it(at: Any):
    """Following a link brings back what a filter had hidden."""
    browser = at()
    choose(browser, "family", "speed")
    assert "text/crashes" not in shown(browser)

    browser.execute_script("location.hash = '#text/crashes'")
    browser.execute_async_script("setTimeout(arguments[0], 50)")

    assert "text/crashes" in shown(browser)
    assert js(browser, "document.getElementById('text/crashes').querySelector('details').open")


def test_filters_hide_what_does_not_fit(at: Any):
    """By verdict, by family, by source and by words; the count is said; reset shows all."""
    from selenium.webdriver.common.by import By

    browser = at()
    every = shown(browser)
    assert len(every) == 15

    for box in browser.find_elements(By.CSS_SELECTOR, ".counts input"):
        if box.get_attribute("value") != "REFUTED":
            box.click()
    assert shown(browser) == ["sample/share-is-refuted"]
    said = "document.querySelector('.shown').textContent"
    assert js(browser, said) == "1 of 15 claims shown"

    browser.find_element(By.CSS_SELECTOR, "button[type=reset]").click()
    browser.execute_async_script("setTimeout(arguments[0], 50)")
    assert every == shown(browser)

    choose(browser, "family", "speed")
    assert {"speed"} == {claim.split("/")[0] for claim in shown(browser)}
    choose(browser, "document", "made-up-notes")
    assert shown(browser) == []
    choose(browser, "family", "")
    choose(browser, "document", "")

    browser.find_element(By.CSS_SELECTOR, "input[type=search]").send_keys("Kernel DIED")
    assert shown(browser) == ["text/crashes"]


def test_claims_can_be_ordered(at: Any):
    """By verdict the refuted one comes first; by family again the page is as it was."""
    browser = at()
    before = shown(browser)

    choose(browser, "order", "verdict")
    assert shown(browser)[0] == "sample/share-is-refuted"
    assert {c for c in before if c.startswith("speed")} <= set(shown(browser)[-9:])

    choose(browser, "order", "family")
    assert before == shown(browser)


def test_claims_open_by_keyboard(at: Any):
    """The fold of a claim is reached with the tab key and opened with enter."""
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    browser = at()
    summary = browser.find_element(By.CSS_SELECTOR, "tbody.claim summary")
    summary.send_keys(Keys.ENTER)

    assert js(browser, "document.querySelector('tbody.claim details').open")


def test_open_all_and_close_all(at: Any):
    """Both buttons act on the claims that are shown."""
    from selenium.webdriver.common.by import By

    browser = at()
    opened = "document.querySelectorAll('tbody.claim td > details[open]').length"

    browser.find_element(By.NAME, "open").click()
    assert js(browser, opened) == 15
    browser.find_element(By.NAME, "close").click()
    assert js(browser, opened) == 0


def test_hostile_output_is_text(at: Any):
    """Nothing that the ledger or a test's output holds became an element or ran."""
    browser = at("#text/hostile-output")
    browser.execute_script("document.querySelectorAll('details').forEach(d => { d.open = true })")
    visible = js(browser, "document.getElementById('text/hostile-output').innerText")

    assert "<script>alert('x')</script><img src=x onerror=alert(1)>" in visible
    assert "\u202e" not in visible and "U+202E" in visible
    assert "{{ 7*7 }}" in visible
    assert (
        js(browser, "document.querySelectorAll('#onecall :is(img, script, iframe)').length") == 0
    )
    assert js(browser, "window.ran === undefined")
    assert browser.get_log("browser") == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_both_colour_schemes_reach_every_part(at: Any, scheme: str):
    """Dark paper in the dark, light paper in the light, for the page and the log below it."""
    browser = at(scheme=scheme)
    paper = js(browser, "getComputedStyle(document.body).backgroundColor")
    level = sum(map(int, paper.removeprefix("rgb(").removesuffix(")").split(", "))) / 3

    assert (level < 60) is (scheme == "dark")


def test_print_opens_everything(at: Any):
    """On paper the folded cases are laid out and the tools are gone."""
    detail = "document.querySelector('tbody.claim .detail').checkVisibility()"
    assert not js(at(), detail)

    browser = at(media="print")

    assert js(browser, detail)
    assert not js(browser, "document.querySelector('.tools').checkVisibility()")


def test_without_scripts_the_page_still_tells_everything(browser: Any, address: str):
    """The answer is on top and every claim is there; only the tools are missing."""
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.get(address)
        root = browser.execute_cdp_cmd("DOM.getDocument", {"depth": 0})["root"]["nodeId"]
        box = {
            css: browser.execute_cdp_cmd("DOM.querySelector", {"nodeId": root, "selector": css})[
                "nodeId"
            ]
            for css in (".answer", "table.claims", "#environment-header")
        }
        top = {
            css: browser.execute_cdp_cmd("DOM.getBoxModel", {"nodeId": node})["model"]["border"][1]
            for css, node in box.items()
        }
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})

    assert top[".answer"] < 120 < top["table.claims"] < top["#environment-header"]


@pytest.mark.timed
def test_a_hundred_claims_load_within_a_second(browser: Any, written: Written):
    """The best of three loads, so that a busy machine does not fail a quick page."""
    address = written(many(100))
    loads = []
    for _ in range(3):
        browser.get("about:blank")
        browser.get(address)
        loads.append(js(browser, "performance.getEntriesByType('navigation')[0].loadEventEnd"))

    assert js(browser, "document.querySelectorAll('tbody.claim').length") == 100
    assert min(loads) < 1000, f"{loads} ms"
