"""Several targets' ledgers side by side, claim by target, whatever became of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from reports import compare_html, compare_text, read
from reports.model import RunView, view


def write(
    ledgers: Mapping[str, Path], absent: Sequence[tuple[str, str]], page: Path
) -> tuple[str, list[tuple[str, str]]]:
    """Write ``page`` from the ledgers by name; its text for a terminal, and all that are absent.

    A ledger that is missing or cannot be read makes its target absent, with the reason.
    """
    runs: dict[str, RunView] = {}
    gone = list(absent)
    for name, path in ledgers.items():
        try:
            runs[name] = view(read.rows(path))
        except read.NotALedger as error:
            gone.append((name, str(error)))
    views, names = list(runs.values()), list(runs)
    page.write_text(compare_html.side_by_side(views, names, gone), encoding="utf-8")
    return compare_text.side_by_side(views, names, gone), gone
