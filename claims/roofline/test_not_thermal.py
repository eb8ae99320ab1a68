"""After a minute of decoding without a pause a step takes about as long as before it."""

from __future__ import annotations

from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Scope, Source
from claims._kit.measure import Measured
from claims._kit.rules import median_at_most
from fixtures import phases, probes, stages
from fixtures.faults.tracing import Tires
from fixtures.needs import Need

SETTING = "Tesla T4, Qwen2.5-0.5B, 16-bit, batch 1, rested and after a minute of decoding"
ROUNDS, CONTEXT = 24, 64

CLAIM = Claim(
    id="roofline/not-thermal",
    sentence=__doc__,
    source=Source(document="where-time-goes", where="why decode is slow", setting=SETTING),
    figure=Figure(
        limit=0.1,
        unit="departure of after / before from 1",
        claimed="39.0 and 40.0 ms (0.026), at 1,200 and 1,380 MHz, the temperature unchanged",
        setting=SETTING,
        why="about four times the source's own difference; a clock that fell from its highest to "
        "its base would make a step that needs it half as long again",
    ),
    rule=median_at_most,
    needs=frozenset({Need.MODEL, Need.KV_CACHE}),
    scope=Scope(
        lanes=frozenset({"gpu"}),
        judged_on=frozenset({"cuda"}),
        says="CUDA, eager, batch 1; clocks, temperature and their reasons stand in the notes",
    ),
    timed=True,
    mechanism="A step that waits for launches leaves the device too idle to get hot.",
    cases=(Case(name="a minute", params={"seconds": 60.0}, rehearsal={"seconds": 0.2}),),
    controls=(Control("tires", Tires.__doc__, Tires),),
)


def measure(engine: Any, case: Case) -> Measured:
    """How far each step after the work is from the typical one before it."""
    before = _steps(engine)
    stages.work(engine, case.params["seconds"])
    after, typical = _steps(engine), phases.middle(before)
    return Measured(
        samples=[abs(ms / typical - 1) for ms in after],
        notes={"before, ms": before, "after, ms": after},
    )


def _steps(engine: Any) -> list[float]:
    step = phases.one_step(engine, CONTEXT)
    step()
    return [1e3 * probes.one_seconds(step, engine.device) for _ in range(ROUNDS)]


test_holds, test_control_is_caught = CLAIM.tests(measure)
