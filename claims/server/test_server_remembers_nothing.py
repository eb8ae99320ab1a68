"""A second, isolated call knows nothing of the first; with the transcript it does."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Scope, Source
from claims._kit.measure import Measured
from claims._kit.rules import every_one_of
from fixtures.faults.serving import lying
from fixtures.needs import Need
from fixtures.servers import tasks
from fixtures.servers.lies import Lie

ALONE = Figure(
    limit=1.0,
    unit="share of isolated replies without the number",
    claimed="the isolated call guessed 5432, not the 5439 just given",
    setting="Qwen3-8B, one fact",
    why="five random digits are guessed once in 90,000 times, so one reply that holds them shows "
    "memory between calls",
)
JOINED = replace(
    ALONE,
    limit=0.5,
    unit="share of replies with the number when the transcript is sent along",
    claimed="memory is the client sending the transcript again",
    why="one half: from chance (0) as far as from always; without this arm a model that never "
    "repeats a number would look stateless",
)

CLAIM = Claim(
    id="server/server-remembers-nothing",
    sentence=__doc__,
    source=Source(document="one-call", where="section 1, nothing is remembered"),
    figure=ALONE,
    rule=every_one_of,
    needs=frozenset({Need.SERVER, Need.TRAINED}),
    scope=Scope(lanes=frozenset({"server"}), says="any server, greedy, ten facts"),
    mechanism="Weights are read-only; a request brings all that its reply can rest on.",
    cases=(
        Case(name="alone"),
        Case(name="with the transcript", figure=JOINED, rule="share_at_least"),
    ),
    controls=(
        Control(*lying(Lie.REMEMBERS), case="alone"),
        Control(*lying(Lie.FORGETS), case="with the transcript"),
    ),
)


def measure(engine: Any, case: Case) -> Measured:
    """1 for each isolated reply without its number, or for each joined one with it."""
    recalls = tasks.recalls(engine)
    if case.name == "alone":
        samples = [float(r.number not in r.alone) for r in recalls]
    else:
        samples = [float(r.number in r.with_transcript) for r in recalls]
    off = next((r for r, s in zip(recalls, samples, strict=True) if not s), None)
    return Measured(
        samples=samples,
        witness=f"{off.number}: alone {off.alone!r}" if off else "",
        notes={"replies": [[r.number, r.alone, r.with_transcript] for r in recalls]},
    )


test_holds, test_control_is_caught = CLAIM.tests(measure)
