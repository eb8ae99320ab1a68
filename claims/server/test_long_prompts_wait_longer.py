"""The first-token wait grows with the length of a prompt that is not cached."""

from __future__ import annotations

from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Scope, Source
from claims._kit.measure import Measured
from claims._kit.rules import median_at_least
from fixtures.faults.serving import lying
from fixtures.needs import Need
from fixtures.servers import waits
from fixtures.servers.lies import Lie

CLAIM = Claim(
    id="server/long-prompts-wait-longer",
    sentence=__doc__,
    source=Source(document="where-time-goes", where="prefill"),
    figure=Figure(
        limit=1.5,
        unit="first-token wait of 300 tokens over that of 100",
        claimed="151 ms at 1,024 tokens, 468 at 2,048",
        setting="Tesla T4, Qwen2.5-0.5B, 16-bit, eager",
        why="three times the tokens take three times as long where arithmetic binds, no longer "
        "where a step's fixed cost does (the published knee is near 500 tokens on that card); "
        "half more is the direction with room for a request's fixed cost",
    ),
    rule=median_at_least,
    needs=frozenset({Need.SERVER, Need.STREAM}),
    scope=Scope(
        lanes=frozenset({"server"}),
        says="prompts of 100 and 300 tokens never seen; beyond the server's knee",
    ),
    mechanism="Prefill does its arithmetic for each token of the prompt.",
    timed=True,
    controls=(Control(*lying(Lie.FLAT_WAIT)),),
)


def measure(engine: Any, _case: Case) -> Measured:
    """First-token wait of the long prompt over that of the short one, by paired round."""
    rounds = waits.rounds(engine)
    return Measured(samples=[w.by_prompt for w in rounds], notes=waits.told(rounds))


test_holds, test_control_is_caught = CLAIM.tests(measure)
