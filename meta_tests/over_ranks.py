"""Runs of the suite under torchrun with two ranks on a processor, and claims made up for them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from meta_tests.made_up import ROOT, arguments

# A claim about the run's own model, whose measure is the code of ``body``: it gives ``samples``.
FILE = '''"""It takes at most a second."""
import os, torch
from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Scope, Source
from claims._kit.measure import Measured
from claims._kit.rules import every_sample_at_most
from fixtures import ranks, stages
from fixtures.faults.caching import Fault
from fixtures.needs import Need
RANK = int(os.environ.get("RANK", "0"))
CLAIM = Claim(
    id="made/{name}", sentence=__doc__, source=Source(document="one-call", where="nowhere"),
    figure=Figure(limit=1.0, unit="seconds", why="made up for a test", claimed="1 s"),
    rule=every_sample_at_most, cases=tuple(Case(name=n) for n in {cases}),
    scope=Scope(judged_on=frozenset({judged_on})), needs=frozenset({{Need.MODEL}}),
    timed={timed}, controls=(Control("too slow", "It is too slow.", lambda e: Slow(e), {last!r}),),
)
class Slow(Fault):
    slow = 1000.0
def forward(engine):
    return engine.forward(torch.tensor([[3, 5, 7]], device=engine.device))
def measure(engine, case):
    samples = [0.5]
{body}
    return Measured(samples=[s * getattr(engine, "slow", 1.0) for s in samples])
test_holds, test_control_is_caught = CLAIM.tests(measure)
'''


def write_claim(folder: Path, name: str, body: str, **changes: object) -> Path:
    """A claim file in ``folder`` whose measure runs ``body`` (lines of code) on the engine."""
    about: dict[str, object] = {"cases": ["all"], "judged_on": {"cpu", "cuda"}, "timed": False}
    about |= changes
    about["last"] = list(about["cases"])[-1]  # type: ignore[call-overload]
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    path = folder / f"test_{name}.py"
    path.write_text(FILE.format(name=name, body=lines, **about), encoding="utf-8")
    return path


def torchrun(
    *args: object, folder: Path, ranks: int = 2, longest_s: float = 300, **env: str
) -> tuple[int, str]:
    """torchrun's exit status and everything that it and its ranks wrote."""
    launcher = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={ranks}"]
    given = ["-m", "gpu", "--device", "cpu", "--model", "random:tiny", *args]
    done = subprocess.run(
        [sys.executable, *launcher, "-m", "pytest", *arguments(*given, stand_in=False)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", **env},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=longest_s,
        check=False,
    )
    return done.returncode, done.stdout
