"""A plain request for JSON brings replies that strict parsing rejects."""

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
    id="server/naive-json-fails",
    sentence=__doc__,
    source=Source(
        document="one-call",
        where="section 4, naive prompt",
        setting="8 log lines twice at each of 5 temperatures, top-p 0.95 above zero",
    ),
    figure=Figure(
        limit=0.5,
        unit="share of replies that fail strict parsing or the three keys",
        claimed="80 of 80 fail, all in a Markdown fence",
        setting="Qwen3-8B, thinking off, T in 0, 0.3, 0.7, 1.0, 1.3",
        why="one half: a parser behind such a prompt breaks more often than it works; 8 replies "
        "of 8 put the exact lower bound at 0.63",
    ),
    rule=share_at_least,
    needs=frozenset({Need.SERVER, Need.TRAINED}),
    scope=Scope(lanes=frozenset({"server"}), says="eight log lines at each of three temperatures"),
    mechanism="A prompt only shifts scores; nothing forbids the fence or the words around it.",
    cases=tuple(Case(name=f"T={t}", params={"t": t}) for t in json_replies.TEMPERATURES),
    controls=(Control(*lying(Lie.BARE_JSON), case="T=0.0"),),
)


def measure(engine: Any, case: Case) -> Measured:
    """1 for each reply that breaks the parser behind it, 0 for each that it accepts."""
    found = json_replies.extractions(engine, "naive", case.params["t"])
    return Measured(
        samples=[float(not e.complies) for e in found],
        x=case.params["t"],
        points={"complies": sum(e.complies for e in found) / len(found)},
        notes=json_replies.told(found),
    )


test_holds, test_control_is_caught = CLAIM.tests(measure)
