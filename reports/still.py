"""The page of a replay says nothing of when or how fast it was made: same ledger, same bytes.

pytest-html writes the date, its own durations, the plugins and the paths of this checkout around
the page. All of that describes the replay; a reader of a stored run takes it for the run's.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from reports.cases import Row
from reports.html import text
from reports.page import CSS

_WRITTEN = re.compile(r"<p>Report generated on [^<]*? by <a")
_TOOK = re.compile(r'(<p class="run-count">[\d/]+ tests?) took [^<]*\.</p>')


class Still:
    """A pytest plugin for a replay: what pytest-html would add about this moment is left out."""

    def __init__(self, header: Row, root: Path, metadata: dict[str, Any]) -> None:
        """``metadata`` is what pytest-html shows as the environment; it becomes the run's name."""
        self.header = header
        self.root = f"{root}/"
        metadata.clear()
        metadata.update({"Replay of": header["run"], "Started": header["started"]})

    def pytest_html_duration_format(self) -> str:
        """No duration: a replay measures nothing."""
        return ""

    def pytest_html_results_table_html(self, data: list[str]) -> None:
        """Paths in the test log start at the checkout, wherever that lies."""
        data[:] = [line.replace(self.root, "") for line in data]

    def settle(self, path: Path) -> None:
        """Rewrite the file that pytest-html wrote."""
        path.write_text(settled(path.read_text(encoding="utf-8"), self.header), encoding="utf-8")


def settled(page: str, header: Row) -> str:
    """pytest-html's file without the time at which it was written and how long that took."""
    said = f"<p>Run of {text(header['started'])}, judged again from its ledger; written by <a"
    page = _WRITTEN.sub(lambda _: said, page, count=1)
    page = _TOOK.sub(r"\1.</p>", page, count=1)
    return page.replace(str(CSS), CSS.name)
