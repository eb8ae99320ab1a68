"""Under a source's own conditions a pass takes the time that was published."""

from __future__ import annotations

import time
from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Scope, Source
from claims._kit.measure import Measured, NotApplicable, seconds_of
from claims._kit.rules import median_at_most
from fixtures import phases, settings
from fixtures.faults.tracing import StepsTwice
from fixtures.needs import Need

ROUNDS = 24
WHY = (
    "0 is the published time; a quarter either way, since no source names the processor that "
    "launches and releases move launch costs by tens of percent; twice the time would be 1"
)


def case(name: str, where: settings.Setting, attention: str, ms: float, **size: int) -> Case:
    """One published time of a pass over ``new`` tokens after ``past``."""
    figure = Figure(
        limit=0.25, unit="departure from it", claimed=f"{ms} ms", setting=str(where), why=WHY
    )
    params = {"where": where, "attention": attention, "ms": ms, **size}
    small = {key: max(1, value // 16) for key, value in size.items()}
    return Case(name=name, params=params, figure=figure, rehearsal=small)


CASES = (
    case("8B step", settings.A100_8B, "eager", 64.0, new=1, past=1024),
    case("8B prefill of 512", settings.A100_8B, "eager", 78.0, new=512, past=0),
    case("0.5B step", settings.T4_SMALL, "sdpa", 33.0, new=1, past=1024),
    case("0.5B prefill of 1,024", settings.T4_SMALL, "sdpa", 151.0, new=1024, past=0),
    case("1.5B step", settings.T4_LARGE, "sdpa", 37.6, new=1, past=1024),
)

CLAIM = Claim(
    id="phases/published-step-times",
    sentence=__doc__,
    source=Source(document="one-call", where="section 3; where-time-goes, throughout"),
    figure=CASES[0].figure,
    rule=median_at_most,
    needs=frozenset({Need.WHOLE, Need.MODEL, Need.KV_CACHE}),
    scope=Scope(
        lanes=frozenset({"gpu"}),
        judged_on=frozenset({"cuda"}),
        says="each time only on its own device, model, number type and attention",
    ),
    timed=True,
    cases=CASES,
    controls=tuple(
        Control(f"twice, {case.name}", StepsTwice.__doc__, StepsTwice, case.name) for case in CASES
    ),
)


def measure(engine: Any, case: Case) -> Measured:
    """How far each pass is from the published time."""
    asked = case.params
    if why := settings.unmatched(engine, asked["where"]):
        raise NotApplicable(why)
    runner = engine.variant(attention=asked["attention"])
    step = phases.one_step(runner, asked["past"]) if asked["past"] else None
    act = step or phases.one_pass(runner, asked["new"])
    act()
    took = [seconds_of(act, clock=time.perf_counter, settle=engine.settle) for _ in range(ROUNDS)]
    found = [1e3 * seconds for seconds in took]
    return Measured(samples=[abs(ms / asked["ms"] - 1) for ms in found], notes={"ms": found})


test_holds, test_control_is_caught = CLAIM.tests(measure)
