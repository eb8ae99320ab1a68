"""A strict system prompt alone brings JSON that passes on this small schema."""

from __future__ import annotations

from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Scope, Source
from claims._kit.measure import Measured
from claims._kit.rules import share_at_least
from fixtures.faults.serving import lying
from fixtures.needs import Need
from fixtures.servers import json_replies
from fixtures.servers.lies import Lie

CLAIM = Claim(
    id="server/strict-json-passes",
    sentence=__doc__,
    source=Source(
        document="one-call",
        where="section 4, strict prompt",
        setting="8 log lines twice at each of 5 temperatures, top-p 0.95 above zero",
    ),
    figure=Figure(
        limit=0.5,
        unit="share of replies with the three keys and nothing else",
        claimed="80 of 80 pass",
        setting="Qwen3-8B, thinking off, T in 0, 0.3, 0.7, 1.0, 1.3",
        why="one half: from always (80 of 80) as far as from never; 8 of 8 put the exact lower "
        "bound at 0.63, 0 of 8 the upper one at 0.37",
    ),
    rule=share_at_least,
    needs=frozenset({Need.SERVER, Need.TRAINED}),
    scope=Scope(lanes=frozenset({"server"}), says="eight log lines at each of three temperatures"),
    mechanism="The prompt moves most of the mass to the opening brace.",
    cases=tuple(Case(name=f"T={t}", params={"t": t}) for t in json_replies.TEMPERATURES),
    controls=(Control(*lying(Lie.FENCES_JSON), case="T=0.0"),),
)


def measure(engine: Any, case: Case) -> Measured:
    """1 for each reply that the parser behind it accepts, 0 for each other."""
    found = json_replies.extractions(engine, "strict", case.params["t"])
    return Measured(
        samples=[float(e.complies) for e in found],
        x=case.params["t"],
        points={"complies": sum(e.complies for e in found) / len(found)},
        notes=json_replies.told(found),
    )


test_holds, test_control_is_caught = CLAIM.tests(measure)
