"""Runs the history benchmark: released defects that the general checks have to find.

``python -m history.run [--quick] [--only NAME] [--half transformers|grammars]``
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from history import grammars, table
from history.judge import judge
from history.result import Result, exit_status, summary
from history.rows import tasks

OUT = Path(__file__).parents[1] / "reports" / "out"
HALVES = ("transformers", "grammars")


def transformers(*, quick: bool, only: str, jobs: int = 1) -> Iterator[Result]:
    """Results of the transformers half, in the order of its data file."""
    with ThreadPoolExecutor(jobs) as pool:
        yield from pool.map(judge, tasks(quick=quick, only=only))


def written(results: Sequence[Result], where: Path) -> None:
    """The results so far, as JSON lines, Markdown and a page."""
    where.mkdir(parents=True, exist_ok=True)
    lines = "".join(f"{result.to_json()}\n" for result in results)
    for name, text in (
        ("history.jsonl", lines),
        ("history.md", table.markdown(results)),
        ("history.html", table.page(results)),
    ):
        (where / name).write_text(text, encoding="utf-8")


def options(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(prog="python -m history.run", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one row per distinct detector")
    parser.add_argument("--only", default="", metavar="NAME", help="results that contain NAME")
    parser.add_argument("--half", choices=HALVES, help="one of the two halves")
    parser.add_argument("--jobs", type=int, default=1, help="releases judged at a time")
    parser.add_argument("--out", type=Path, default=OUT, help="where the table is written")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    """Judge, show and write; the exit status is ``history.result.exit_status``."""
    asked, began = options(argv), time.monotonic()
    halves: dict[str, Callable[..., Iterator[Result]]] = {
        "transformers": partial(transformers, jobs=asked.jobs),
        "grammars": grammars.results,
    }
    results: list[Result] = []
    for name in [asked.half] if asked.half else HALVES:
        for result in halves[name](quick=asked.quick, only=asked.only):
            results.append(result)
            print(table.line(result), flush=True)
            written(results, asked.out)
    minutes = (time.monotonic() - began) / 60
    print(f"{summary(results)}, in {minutes:.1f} min: {asked.out / 'history.html'}")
    return exit_status(results)


if __name__ == "__main__":
    sys.exit(main())
