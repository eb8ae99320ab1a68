"""A run for machines and job pages: ``python -m reports.summary LEDGER [--markdown FILE] ...``.

``--json`` writes what ``summary.schema.json`` describes, ``--badge`` an SVG. Without an option
the Markdown is printed. Exit status: 0, or 2 when the ledger cannot be read; the run's own status
is in the JSON and never this command's.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from math import isfinite
from pathlib import Path
from typing import Any

from reports import markdown, read, words
from reports.badge import svg
from reports.cases import Case
from reports.model import ClaimView, RunView, view

SCHEMA = Path(__file__).with_name("summary.schema.json")
VERSION = 1
WRITTEN, UNREADABLE = 0, 2


def as_json(run: RunView) -> dict[str, Any]:
    """The run as plain JSON values: numbers in full, NaN and infinity as words."""
    header, footer = run.header, run.footer
    return {
        "schema": VERSION,
        "run": header["run"],
        "started": header["started"],
        "finished": footer["finished"] if footer else None,
        "exit": footer["exit"] if footer else None,
        "command": header["command"],
        "lane": header["lane"],
        "device": header["device"],
        "target": words.model(run),
        "machine": words.machine(run),
        "judged": run.judged,
        "counts": run.counts,
        "notes": list(footer["notes"]) if footer else [],
        "claims": [_claim(claim) for claim in run.claims],
    }


def _claim(claim: ClaimView) -> dict[str, Any]:
    row = claim.row
    caught = [control.caught is True for control in claim.controls if control.caught is not None]
    return {
        "id": claim.id,
        "verdict": claim.label,
        "reason": claim.reason,
        "sentence": row["sentence"] if row else "",
        "source": claim.document,
        "where": row["source"]["where"] if row else "",
        "repeat": row["repeat"] if row else "",
        "controls": {"caught": sum(caught), "of": len(caught)},
        "cases": [_case(case) for case in claim.cases],
    }


def _case(case: Case) -> dict[str, Any]:
    low, high = case.bounds
    return {
        "case": case.name,
        "verdict": case.label,
        "reason": case.verdict["reason"],
        "estimate": _number(case.estimate),
        "low": _number(low),
        "high": _number(high),
        "n": case.verdict["n"],
        "limit": _number(case.limit),
        "unit": case.figure["unit"],
        "rule": case.rule,
        "claimed": case.figure["claimed"],
    }


def _number(value: float | None) -> float | str | None:
    return value if value is None or isfinite(value) else str(value)


def main(arguments: Sequence[str] | None = None) -> int:
    """Write what was asked for; the exit status."""
    given = _parser().parse_args(arguments)
    try:
        run = view(read.rows(given.ledger))
    except read.NotALedger as error:
        print(f"onecall: {error}", file=sys.stderr)
        return UNREADABLE
    wanted = {
        given.markdown: lambda: markdown.summary(run),
        given.json: lambda: json.dumps(as_json(run), indent=1, sort_keys=True) + "\n",
        given.badge: lambda: svg(run),
    }
    files = [path for path in wanted if path]
    for path in files:
        path.write_text(wanted[path](), encoding="utf-8")
    if not files:
        print(markdown.summary(run), end="")
    return WRITTEN


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m reports.summary",
        description="A run as Markdown, JSON and a badge. Without an option: Markdown, printed.",
    )
    parser.add_argument("ledger", type=Path, metavar="LEDGER")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="for a job page")
    parser.add_argument("--json", type=Path, metavar="FILE", help="see summary.schema.json")
    parser.add_argument("--badge", type=Path, metavar="FILE", help="an SVG")
    return parser


if __name__ == "__main__":
    sys.exit(main())
