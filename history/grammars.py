"""The grammars half of the history benchmark: defects of constrained-decoding engines."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from history.install import NotInstalled, installed
from history.result import CONFIRMED, GREEN, INCONCLUSIVE, RED, REFUTED, VOID, Result

HERE = Path(__file__).parent
DATA = HERE / "grammars.toml"
EXAMPLES = 100
LONGEST_S = 600
# A green release has to be judged on nearly all that was drawn: refusals confirm nothing.
LEAST_JUDGED = 0.5
STAND_INS = HERE / "stand_ins"


@dataclass(frozen=True, kw_only=True)
class Row:
    """One released defect: what it is, the two releases, and what is tried on both."""

    report: str
    package: str
    red: str
    green: str
    says: str
    tries: tuple[tuple[str, str], ...]
    examples: int = EXAMPLES
    quick: bool = False
    narrowed: str = ""


def read(path: Path = DATA) -> tuple[list[Row], dict[str, list[str]]]:
    """The rows, and what each package needs beside itself; a misspelt key is a TypeError."""
    told = tomllib.loads(path.read_text(encoding="utf-8"))
    return [_row(line) for line in told["row"]], told["needs"]


def _row(line: dict[str, Any]) -> Row:
    tries = [tuple(one.split(": ")) for one in line.pop("try")]
    return Row(**line, tries=tuple(tries))


def judged(row: Row, side: str, needs: list[str]) -> Result:
    """What the laws say about one release of a row, in a process of its own."""
    release = row.red if side == RED else row.green
    began = time.monotonic()
    try:
        place = installed(row.package, release, alone_with=needs)
    except NotInstalled as lack:
        return _result(row, side, {"found": VOID, "note": str(lack)}, began)
    spec: dict[str, Any] = {"package": row.package, "release": release, "tries": row.tries}
    spec |= {"examples": row.examples}
    with tempfile.TemporaryDirectory() as work:
        out = Path(work) / "lines"
        told = _verdict(spec, place, out, row)
    return _result(row, side, told, began)


def _verdict(spec: dict[str, Any], place: Path, out: Path, row: Row) -> dict[str, str]:
    command = [sys.executable, "-m", "history.grammar_child", json.dumps(spec), str(out)]
    paths = [str(place), str(STAND_INS), str(HERE.parent)]
    env = os.environ | {"PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1"}
    try:
        done = subprocess.run(  # noqa: S603
            command, cwd=HERE.parent, env=env, timeout=LONGEST_S, capture_output=True, check=False
        )
    except subprocess.TimeoutExpired:
        return {"found": VOID, "note": f"not done in {LONGEST_S} s{_trial(out)}"}
    text = out.read_text(encoding="utf-8") if out.is_file() else ""
    lines = [json.loads(line) for line in text.splitlines()]
    if done.returncode < 0:
        # The library's own code is the only one here that can end a process by a signal.
        name = signal.Signals(-done.returncode).name
        return {"found": REFUTED, "witness": f"the process ends by {name}{_trial(out)}"}
    if done.returncode or any("crash" in line for line in lines):
        crash = next((line["crash"][-1] for line in lines if "crash" in line), "")
        return {"found": VOID, "note": crash or done.stderr.decode(errors="replace")[-300:]}
    return _told(lines, row)


def _trial(out: Path) -> str:
    last = out.with_suffix(".trial")
    return f" on {last.read_text(encoding='utf-8')[:300]}" if last.is_file() else ""


def _told(lines: list[dict[str, Any]], row: Row) -> dict[str, str]:
    """REFUTED with the first broken law; CONFIRMED when enough was judged and nothing broke."""
    counted = sum(line["judged"] for line in lines)
    refused = sum(line["unsupported"] for line in lines)
    note = f"{counted} trials judged" + (f", {refused} schemas refused" if refused else "")
    note += f"; narrowed: {row.narrowed}" if row.narrowed else ""
    broken = [line for line in lines if line["broken"]]
    if broken:
        laws = " and ".join(dict.fromkeys(line["law"] for line in broken))
        shown = "; ".join(f"{line['law']}: {line['schema']}: {line['how']}" for line in broken)
        return {"found": REFUTED, "property": laws, "witness": shown, "note": note}
    enough = counted >= LEAST_JUDGED * (counted + refused) and counted
    return {"found": CONFIRMED if enough else INCONCLUSIVE, "note": note}


def _result(row: Row, side: str, told: dict[str, str], began: float) -> Result:
    laws = dict.fromkeys(law for law, _ in row.tries)
    told = {"property": " and ".join(laws)} | told
    return Result(
        report=row.report,
        package=row.package,
        release=row.red if side == RED else row.green,
        expected=side,
        subject=", ".join(dict.fromkeys(family for _, family in row.tries)),
        seconds=time.monotonic() - began,
        **told,
    )


def results(*, quick: bool = False, only: str = "") -> Iterator[Result]:
    """Red and green of every row, or of the quick ones, or of those whose words hold ``only``."""
    rows, needs = read()
    for row in rows:
        words = f"{row.report} {row.package} {row.red} {row.green} {row.says}"
        if (row.quick or not quick) and only in words:
            for side in (RED, GREEN):
                yield judged(row, side, needs.get(row.package, []))
