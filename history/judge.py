"""Judges one task: installs the release, runs it in a process of its own, applies the kit's rule.

``verdict`` is pure, so that meta tests can try it on made-up lines of a child.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from claims._kit.figures import Figure
from claims._kit.rules import every_sample_at_most
from claims._kit.verdict import Verdict, worst
from history.install import NotInstalled, installed
from history.result import REFUTED, VOID, Result
from history.rows import Task

ROOT = Path(__file__).parents[1]
LONGEST_S = 600
FIGURE = Figure(
    limit=1.0,
    unit="times what rounding explains",
    claimed="repaired in the green release",
    why="as in architectures/every-cache-is-invisible: four times the spread of a null arm",
)


def judge(task: Task, *, longest_s: float = LONGEST_S) -> Result:
    """What the general properties say about one release."""
    began = time.monotonic()
    try:
        where = installed("transformers", task.release)
    except NotInstalled as error:
        return _result(task, VOID, note=str(error))
    began = time.monotonic()
    lines = _child(task, where, longest_s)
    return verdict(task, lines, seconds=time.monotonic() - began)


def _child(task: Task, where: Path, longest_s: float) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "lines"
        command = [sys.executable, "-m", "history.child", json.dumps(spec(task)), str(out)]
        try:
            done = subprocess.run(  # noqa: S603
                command,
                env=environment(where),
                cwd=folder,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=longest_s,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return [{"crash": f"no answer within {longest_s:.0f} s"}]
        lines = out.read_text(encoding="utf-8").splitlines() if out.exists() else []
        if done.returncode or not lines:
            said = (done.stderr.strip().splitlines() or ["nothing"])[-1]
            return [{"crash": f"the process ended with {done.returncode}: {said[:300]}"}]
        return [json.loads(line) for line in lines]


def spec(task: Task) -> dict[str, Any]:
    """What the child is told."""
    tried = task.tried
    about = {"type": tried.type, "template": tried.template, "changes": tried.changes}
    return {"release": task.release, "holds": tried.holds, **about}


def environment(where: Path) -> dict[str, str]:
    """Of a child: the old release before the environment's own, and no network."""
    own = {
        "PYTHONPATH": os.pathsep.join([str(where), str(ROOT)]),
        "HF_HUB_OFFLINE": "1",
        "TOKENIZERS_PARALLELISM": "false",
        "OMP_NUM_THREADS": "1",
        "PYTHONWARNINGS": "ignore",
    }
    return {**os.environ, **own}


def verdict(task: Task, lines: Sequence[dict[str, Any]], *, seconds: float) -> Result:
    """The child's lines under the kit's rule; a crash of our own code judges nothing."""
    crash = next((line for line in lines if "crash" in line), None)
    if crash or not lines:
        told = crash["crash"] if crash else "the child wrote nothing"
        note = f"{told} {_last(crash)}" if crash else told
        return _result(task, VOID, seconds=seconds, note=note.strip())
    found = {line["property"]: _one(line) for line in lines}
    broken = [name for name, one in found.items() if one == REFUTED]
    witness = next((line["witness"] for line in lines if line["property"] in broken), "")
    judged = worst(found.values())
    asked = set(task.tried.holds) - set(found)
    if asked and judged is not Verdict.REFUTED:
        return _result(task, VOID, seconds=seconds, note=f"not tried: {', '.join(sorted(asked))}")
    notes = [_why(line) for line in lines if _why(line)]
    names = ", ".join(broken or found)
    return Result(
        **_about(task),
        found=str(judged),
        property=names,
        seconds=seconds,
        witness=witness,
        note="; ".join(notes),
    )


def _one(line: dict[str, Any]) -> Verdict:
    if line["blind"] or not line["samples"]:  # a property that a row names has to be judged
        return Verdict.VOID
    return every_sample_at_most(line["samples"], FIGURE).verdict


def _why(line: dict[str, Any]) -> str:
    if line["blind"]:
        return str(line["blind"])
    told = line["note"].get("not judged", "")
    return f"{line['property']}: {told}" if told else ""


def _last(crash: dict[str, Any]) -> str:
    lines = [line.strip() for line in crash.get("traceback", "").splitlines() if "File" in line]
    return f"({lines[-1]})" if lines else ""


def _about(task: Task) -> dict[str, Any]:
    return {
        "report": task.row.report,
        "package": "transformers",
        "release": task.release,
        "expected": task.side,
        "subject": task.tried.subject,
    }


def _result(task: Task, found: str, *, note: str, seconds: float = 0.0) -> Result:
    holds = ", ".join(task.tried.holds)
    return Result(**_about(task), found=found, property=holds, seconds=seconds, note=note)
