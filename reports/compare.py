"""Compares runs: ``python -m reports.compare FIRST.jsonl NEXT.jsonl [...] [-o page.html]``.

The first ledger is the baseline of every other. Exit status: 0 when nothing got worse, 1 when a
claim did, 2 when a ledger cannot be read.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from reports import compare_html, compare_text, read
from reports.changes import compare
from reports.model import view

SAME, WORSE, UNREADABLE = 0, 1, 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what differs, write the page where one is wanted; the exit status."""
    given = _parser().parse_args(arguments)
    try:
        runs = [view(read.rows(path)) for path in given.ledgers]
    except read.NotALedger as error:
        print(f"onecall: {error}", file=sys.stderr)
        return UNREADABLE
    names = _names(given.ledgers)
    found = [compare(runs[0], run, common=given.common) for run in runs[1:]]
    print(compare_text.told(runs, names, found), end="")
    if given.output:
        given.output.write_text(compare_html.page(runs, names, found), encoding="utf-8")
        print(f"page: {given.output}")
    worse = any(each.got_worse(strict=given.strict) for each in found)
    return WORSE if worse else SAME


def _names(paths: Sequence[Path]) -> list[str]:
    """File names, with as much of the folder as tells them apart."""
    short = [path.name for path in paths]
    return short if len(set(short)) == len(short) else [str(path) for path in paths]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m reports.compare",
        description="What changed between runs. The first ledger is the baseline of the others.",
        epilog="Exit status: 0 nothing got worse, 1 a claim did, 2 a ledger cannot be read.",
    )
    parser.add_argument("ledgers", nargs="+", type=Path, metavar="LEDGER")
    parser.add_argument("-o", "--output", type=Path, help="write a page of it, one HTML file")
    parser.add_argument(
        "--common", action="store_true", help="leave out claims that not both runs hold"
    )
    parser.add_argument(
        "--strict", action="store_true", help="a value that moved towards its limit is worse too"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
