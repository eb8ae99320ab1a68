"""Made-up claims and runs of them: no model, and no file but a ledger in a temporary folder."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from claims._kit.claim import Claim, Control
from claims._kit.claim_row import SUBJECT
from claims._kit.figures import Case, Figure, Source
from claims._kit.ledger import Row, Writer
from claims._kit.measure import Measured
from claims._kit.rules import every_sample_at_most
from claims._kit.run import Conditions, Run

ROOT = Path(__file__).parents[1]
TODAY = "2026-01-01"

# What is measured in a made-up claim: a function of the case that answers with samples.
Subject = Callable[[Case], Measured]


def figure(limit: float = 1.0, **changes: Any) -> Figure:
    """A figure in seconds."""
    about = {"unit": "seconds", "why": "made up for a test of the suite", "claimed": "1 s"}
    return Figure(limit=limit, **{**about, **changes})


def answers(*samples: float, **more: Any) -> Subject:
    """A subject that gives these samples for every case."""
    return lambda _case: Measured(samples=list(samples), **more)


def raises(error: BaseException) -> Subject:
    """A subject that cannot be measured."""

    def subject(_case: Case) -> Measured:
        raise error

    return subject


def control(subject: Subject | None = None, *, name: str = "too slow", case: str = "") -> Control:
    """A planted fault; without ``subject`` one that breaks every limit under 1,000."""
    planted = subject or answers(1000.0)
    return Control(name=name, sentence="It is too slow.", plant=lambda _: planted, case=case)


def claim(subject: Subject | None = None, **changes: Any) -> Claim:
    """A claim whose samples come from ``subject``; confirmed unless told otherwise."""
    about: dict[str, Any] = {
        "id": "made/up",
        "sentence": "It takes at most a second.",
        "source": Source(document="one-call", where="nowhere"),
        "figure": figure(),
        "rule": every_sample_at_most,
        "controls": (control(),),
        "subject": subject or answers(0.5, 0.75),
    }
    made = Claim(**{**about, **changes})
    made.tests(lambda subject, case: subject(case))
    return made


def header(**changes: Any) -> Row:
    """A valid first row of a ledger."""
    about = {
        "kind": "header",
        "schema": 1,
        "run": "made-up",
        "started": TODAY,
        "command": "pytest",
        "seed": 0,
        "lane": "all",
        "device": "cpu",
        "target": {"name": "nothing"},
        "engine": {},
        "machine": {},
        "software": {},
    }
    return {**about, **changes}


def conditions(**changes: Any) -> Conditions:
    """A machine without CUDA, and an engine that is a subject of its own."""
    about: dict[str, Any] = {
        "device": "cpu",
        "target": "nothing",
        "engine": lambda: answers(0.5),
        "offers": frozenset,
    }
    return Conditions(**{**about, **changes})


def run_of(folder: Path, *claims: Claim, **changes: Any) -> Run:
    """A run that has every case and control of the claims before it."""
    on = changes.pop("conditions", conditions())
    writer = changes.pop("writer", None) or Writer(folder / "run.jsonl")
    if not writer.rows:
        writer.write(header())
    run = Run(writer=writer, conditions=on, deviations=changes.pop("deviations", []), **changes)
    for each in claims:
        for case in each.cases:
            run.plan(each, SUBJECT, case.name)
        for fault in each.controls:
            run.plan(each, fault.name, each.case(fault.case).name)
    return run


def outcome(act: Callable[[], None]) -> tuple[str, str]:
    """What pytest would show for ``act``, and with which words."""
    try:
        act()
    except pytest.xfail.Exception as error:
        return "xfailed", str(error)
    except pytest.skip.Exception as error:
        return "skipped", str(error)
    except pytest.fail.Exception as error:
        return "failed", str(error)
    return "passed", ""


def judge(run: Run, *claims: Claim) -> list[str]:
    """Judge everything; the outcomes in order."""
    acts = []
    for each in claims:
        acts += [(run.holds, each, case) for case in each.cases]
        acts += [(run.control, each, fault) for fault in each.controls]
    return [outcome(lambda a=act: a[0](a[1], a[2]))[0] for act in acts]


def claim_of(folder: Path, made: Claim, **changes: Any) -> Row:
    """The row of ``made`` after a run of all its cases and controls."""
    run = run_of(folder, made, **changes)
    judge(run, made)
    return run.finished[made.id]


# A claim file for runs of pytest itself. Each measurement leaves a line in calls.log, and the
# case named in ONECALL_HOLD_AT never ends, so that a test can kill the run there.
FILE = '''"""It takes at most a second."""
import os, threading
from pathlib import Path
from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Scope, Source
from claims._kit.measure import Measured
from claims._kit.rules import every_sample_at_most
CLAIM = Claim(
    id="made/{name}", sentence=__doc__, source=Source(document="one-call", where="nowhere"),
    figure=Figure(limit={limit}, unit="seconds", why="made up for a test", claimed="1 s"),
    rule=every_sample_at_most, cases=tuple(Case(name=n) for n in {cases}), subject=1.0,
    scope=Scope(judged_on=frozenset({judged_on})), timed={timed},
    controls=(Control(name="too slow", sentence="It is too slow.", plant=lambda s: 1000 * s),),
)
def measure(subject, case):
    with (Path(__file__).parent / "calls.log").open("a") as log:
        print("{name}", case.name, subject, file=log, flush=True)
    if case.name == os.environ.get("ONECALL_HOLD_AT"):
        threading.Event().wait()
    {body}
    return Measured(samples=[subject * s for s in {samples}])
test_holds, test_control_is_caught = CLAIM.tests(measure)
'''


def write_claim(folder: Path, name: str = "up", **changes: Any) -> Path:
    """A claim file in ``folder``; ``changes`` are the fields of ``FILE``."""
    about: dict[str, Any] = {"limit": 1.0, "cases": ["all"], "samples": [0.5], "body": "pass"}
    about |= {"judged_on": {"cpu", "cuda"}, "timed": False}
    path = folder / f"test_{name}.py"
    path.write_text(FILE.format(name=name, **{**about, **changes}), encoding="utf-8")
    return path


def calls(folder: Path) -> list[str]:
    """What was measured in ``folder``, in order."""
    log = folder / "calls.log"
    return log.read_text(encoding="utf-8").splitlines() if log.exists() else []


def arguments(*args: object, stand_in: bool = True) -> list[str]:
    """Arguments of pytest that bring the suite's own options into any folder."""
    plugins = ["-p", "meta_tests.stand_in"] if stand_in else []
    # In the checkout itself pytest finds the suite's conftest, elsewhere it is named.
    if not any(str(arg).startswith(str(ROOT)) for arg in args):
        plugins += ["-p", "conftest"]
    where = ["-c", str(ROOT / "pyproject.toml"), "--rootdir", str(ROOT)]
    return [*where, *plugins, "-p", "no:cacheprovider", *map(str, args)]


def command(
    args: Iterable[object],
    *,
    folder: Path,
    prelude: str = "pass",
    **env: str,
) -> subprocess.Popen[str]:
    """A pytest of its own, with output in one stream; the code of ``prelude`` runs first."""
    code = f"import sys, pytest; {prelude}; sys.exit(pytest.main(sys.argv[1:]))"
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, args)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", **env},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def finished(args: Iterable[object], **options: Any) -> tuple[int, str]:
    """Exit status and output of a pytest of its own."""
    process = command(args, **options)
    output, _ = process.communicate(timeout=120)
    return process.returncode, output


def refused(result: tuple[int, str]) -> str:
    """The one line of a run that was refused as it began."""
    status, output = result
    assert status == 4, output
    assert "Traceback" not in output
    lines = [line for line in output.splitlines() if "onecall:" in line]
    assert len(lines) == 1, output
    return lines[0]
