"""JSON cut by the token limit is a beginning of it, no JSON, and says that it was cut."""

from __future__ import annotations

from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Scope, Source
from claims._kit.measure import Measured, NotApplicable
from claims._kit.rules import every_one_of
from fixtures.faults.serving import lying
from fixtures.json_probes import parses
from fixtures.needs import Need
from fixtures.servers import json_replies, tasks
from fixtures.servers.lies import Lie

LOG = "2026-03-02T09:15:31Z INFO search-index ready, port=7700 status=healthy"

CLAIM = Claim(
    id="server/cut-json-says-so",
    sentence=__doc__,
    source=Source(document="one-call", where="section 5, what the mask cannot do"),
    figure=Figure(
        limit=1.0,
        unit="share of limits below the reply's length that cut it so",
        claimed="a cut reply is a prefix of valid JSON, not JSON",
        setting="no figure",
        why="each limit from 1 to one token less than the reply (some 28); a cut that parses, "
        "differs from the whole reply's beginning, or says 'stop' refutes it",
    ),
    rule=every_one_of,
    needs=frozenset({Need.SERVER, Need.JSON_SCHEMA, Need.USAGE}),
    scope=Scope(lanes=frozenset({"server"}), says="one log line, greedy"),
    quick=True,
    controls=(Control(*lying(Lie.CLOSES_CUT_JSON)), Control(*lying(Lie.PADS))),
)


def measure(engine: Any, _case: Case) -> Measured:
    """1 for each limit whose cut is a beginning and says so, 0 for each other."""
    chat = tasks.user(f"Extract service, port and health as JSON.\n\n{LOG}")
    engine.chat(
        chat, schema=json_replies.SCHEMA, max_tokens=1
    )  # its prompt is cached from here on
    whole = engine.chat(chat, schema=json_replies.SCHEMA, max_tokens=json_replies.MAX_TOKENS)
    if not parses(whole.text):
        raise NotApplicable(f"bound to a schema it writes no whole JSON to cut: {whole.text!r}")
    limits = range(1, whole.tokens)
    cuts = [engine.chat(chat, schema=json_replies.SCHEMA, max_tokens=n) for n in limits]
    marks = [
        c.finish == "length" and whole.text.startswith(c.text) and not _is_json(c.text, whole.text)
        for c in cuts
    ]
    odd = [f"{c.finish}: {c.text!r}" for c, right in zip(cuts, marks, strict=True) if not right]
    return Measured(
        samples=[float(mark) for mark in marks],
        witness=odd[0] if odd else "",
        notes={"whole": whole.text, "tokens": whole.tokens},
    )


def _is_json(text: str, whole: str) -> bool:
    """True when ``text`` parses; the end token has no text, so the last cut may be the whole."""
    return text != whole and parses(text)


test_holds, test_control_is_caught = CLAIM.tests(measure)
