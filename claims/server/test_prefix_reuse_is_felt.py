"""A repeated prefix cuts the first-token wait, and a change at its start does not."""

from __future__ import annotations

from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Scope, Source
from claims._kit.measure import Measured
from claims._kit.rules import median_at_most
from fixtures.faults.serving import lying
from fixtures.needs import Need
from fixtures.servers import prefix_rounds
from fixtures.servers.lies import Lie

SHORTER = Figure(
    limit=0.5,
    unit="first-token wait over that of the same length never seen",
    claimed="505 -> 47 ms for a prefix of 2,407 tokens",
    setting="vLLM, Tesla T4",
    why="the published tenth holds for a prompt eight times as long; here blocks of up to 128 "
    "tokens and a request's fixed cost may leave two fifths of 300 tokens' wait; half is the "
    "direction with room for that",
)
AS_LONG = Figure(
    limit=0.5,
    unit="first-token wait over that of the same length never seen",
    claimed="everything after the change misses the cache",
    why="both prompts have one length and nothing in common but the template's opening: about 1; "
    "half is as far from that as the other arms' limit allows",
)

CLAIM = Claim(
    id="server/prefix-reuse-is-felt",
    sentence=__doc__,
    source=Source(document="where-time-goes", where="prefix caching"),
    figure=SHORTER,
    rule=median_at_most,
    needs=frozenset({Need.SERVER, Need.STREAM}),
    scope=Scope(lanes=frozenset({"server"}), says="a server alone with us; 300-token prompts"),
    timed=True,
    cases=(
        Case(name="same"),
        Case(name="late change"),
        Case(name="early change", figure=AS_LONG, rule="median_at_least"),
    ),
    controls=(
        Control(*lying(Lie.NO_CACHE), case="same"),
        Control(*lying(Lie.CLAIMS_CACHE), case="late change"),
        Control(*lying(Lie.REUSES_ENDS), case="early change"),
    ),
)


def measure(engine: Any, case: Case) -> Measured:
    """First-token wait over the cold one, by round."""
    rounds = prefix_rounds.rounds(engine)
    samples = [r.wait(case.name) for r in rounds]
    return Measured(samples=samples, notes=prefix_rounds.told(rounds))


test_holds, test_control_is_caught = CLAIM.tests(measure)
