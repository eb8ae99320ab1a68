"""The server counts a repeated prefix as cached up to the first change, and the waits agree."""

from __future__ import annotations

from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Scope, Source
from claims._kit.measure import Measured
from claims._kit.rules import every_sample_at_least
from fixtures.faults.serving import lying
from fixtures.needs import Need
from fixtures.servers import prefix_rounds
from fixtures.servers.lies import Lie

HALF = 0.5
REUSED = Figure(
    limit=HALF,
    unit="share of the prompt counted as cached",
    claimed="one needs to process only the new part",
    why="a change in the last 20 of some 300 tokens leaves 0.9; engines that keep whole blocks "
    "of up to 128 tokens keep 0.8 of it at the least; half lies clear of both",
)
MISSED = Figure(
    limit=0.25,
    unit="share of the prompt counted as cached",
    claimed="everything after the change misses the cache",
    why="only the template's own opening stands before the change: 3 tokens here, some 30 in "
    "templates that print a preamble, of 300; a quarter lies clear of both",
)
AGREE = Figure(
    limit=HALF,
    unit="share of requests whose count and wait say the same",
    claimed="a shared prefix cuts the first-token wait about tenfold",
    why="a count of at least half goes with at most half of the cold wait; more than half of the "
    "18 requests agree at 95 % from 14 on, so that four may be disturbed by the machine",
)

CLAIM = Claim(
    id="server/prefix-reuse-is-counted",
    sentence=__doc__,
    source=Source(document="one-call", where="section 1, rule 1; where-time-goes, prefix caching"),
    figure=REUSED,
    rule=every_sample_at_least,
    needs=frozenset({Need.SERVER, Need.STREAM_USAGE, Need.CACHED_TOKENS}),
    scope=Scope(lanes=frozenset({"server"}), says="a server alone with us; 300-token prompts"),
    timed=True,
    cases=(
        Case(name="same"),
        Case(name="late change"),
        Case(name="early change", figure=MISSED, rule="every_sample_at_most"),
        Case(name="counts and waits agree", figure=AGREE, rule="share_at_least"),
    ),
    controls=(
        Control(*lying(Lie.NO_CACHE), case="same"),
        Control(*lying(Lie.CLAIMS_ALL), case="early change"),
        Control(*lying(Lie.CLAIMS_CACHE), case="counts and waits agree"),
    ),
)


def measure(engine: Any, case: Case) -> Measured:
    """The share counted as cached by round; or 1 where count and wait agree, 0 where not."""
    rounds = prefix_rounds.rounds(engine)
    if case.figure is AGREE:
        pairs = [(r.cached(a), r.wait(a)) for r in rounds for a in ("same", "late change")]
        samples = [float((cached >= HALF) == (wait <= HALF)) for cached, wait in pairs]
    else:
        samples = [r.cached(case.name) for r in rounds]
    return Measured(samples=samples, notes=prefix_rounds.told(rounds))


test_holds, test_control_is_caught = CLAIM.tests(measure)
