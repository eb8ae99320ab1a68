"""A headless Chromium, and pages as pytest-html writes them for it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from claims._kit.ledger import Row
from meta_tests.pages import made_up
from reports import page

CHROMIUM = Path("/usr/bin/chromium")
DRIVER = Path("/usr/bin/chromedriver")
ROOT = Path(__file__).parents[1]
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
# pytest-html's own list of tests has something to show beside the page: each kind of outcome.
TESTS = """
import pytest
def test_passes(): print("<script>window.ran = 'from a test'</script>")
def test_fails(): assert "<b>" == "</b>"
def test_is_skipped(): pytest.skip("a reason")
"""
CONFTEST = """
import json
from reports import page
def pytest_html_report_title(report): report.title = "onecall"
def pytest_html_results_summary(prefix):
    prefix.append(page.body(json.load(open("rows.json", encoding="utf-8"))))
"""

NEEDED = [
    pytest.mark.skipif(find_spec("selenium") is None, reason="selenium is not installed"),
    pytest.mark.skipif(not CHROMIUM.is_file(), reason=f"{CHROMIUM} is not installed"),
    pytest.mark.skipif(not DRIVER.is_file(), reason=f"{DRIVER} is not installed"),
]

Written = Callable[[list[Row]], str]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Written:
    """The address of a page that pytest-html wrote around the body of these rows."""

    def write(rows: list[Row]) -> str:
        folder = tmp_path_factory.mktemp("page")
        (folder / "rows.json").write_text(json.dumps(rows), encoding="utf-8")
        (folder / "conftest.py").write_text(CONFTEST, encoding="utf-8")
        (folder / "test_made_up.py").write_text(TESTS, encoding="utf-8")
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--rootdir=."]
        command += ["--html=page.html", "--self-contained-html", f"--css={page.CSS}"]
        done = subprocess.run(
            command,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == pytest.ExitCode.TESTS_FAILED, done.stdout + done.stderr
        return (folder / "page.html").as_uri()

    return write


@pytest.fixture(scope="module")
def address(written: Written) -> str:
    return written(made_up())


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A headless Chromium with a profile of its own."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = str(CHROMIUM)
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(str(DRIVER)))
    yield driver
    driver.quit()


def js(browser: Any, expression: str, *arguments: Any) -> Any:
    """The value of a JavaScript expression."""
    return browser.execute_script(f"return {expression}", *arguments)
