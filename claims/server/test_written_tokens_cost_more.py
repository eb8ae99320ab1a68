"""Per token, writing a reply takes longer than reading a prompt."""

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
    id="server/written-tokens-cost-more",
    sentence=__doc__,
    source=Source(document="one-call", where="section 3, prefill against decode"),
    figure=Figure(
        limit=1.5,
        unit="seconds of a reply's token over those of a prompt's",
        claimed="494x at 1,024 tokens",
        setting="Qwen3-8B, bfloat16, A100, eager attention, batch 1",
        why="one is the direction; half more keeps clear of a request's fixed cost. The published "
        "hundredfold needs a prompt of 1,024 tokens on that card",
    ),
    rule=median_at_least,
    needs=frozenset({Need.SERVER, Need.STREAM_USAGE}),
    scope=Scope(
        lanes=frozenset({"server"}),
        says="prompts of 100 tokens, replies of 40, one request at a time",
    ),
    mechanism="One pass reads each weight once for all tokens of a prompt.",
    timed=True,
    controls=(Control(*lying(Lie.WRITES_AT_ONCE)),),
)


def measure(engine: Any, _case: Case) -> Measured:
    """Time of a further token over that of a prompt token, by round; counts are the server's."""
    rounds = waits.rounds(engine)
    return Measured(samples=[w.decode_over_prefill for w in rounds], notes=waits.told(rounds))


test_holds, test_control_is_caught = CLAIM.tests(measure)
