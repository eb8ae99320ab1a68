"""Through the chat endpoint short questions get short replies that stop; raw text runs on."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Scope, Source
from claims._kit.measure import Measured
from claims._kit.rules import share_at_least
from fixtures import prompts
from fixtures.faults.serving import lying
from fixtures.needs import Need
from fixtures.servers import tasks
from fixtures.servers.lies import Lie

TOKENS = 32
CHAT = Figure(
    limit=0.5,
    unit="share of replies that stop by themselves",
    claimed="5 of 5 clean in the model's own template",
    setting="Qwen3-8B, greedy, at most 32 new tokens",
    why="one half is as far from always as from never; the exact interval over 60 questions lies "
    "clear of it for any share below 0.36 or above 0.64",
)
RAW = replace(CHAT, claimed="0 of 5 as raw text")

CLAIM = Claim(
    id="server/template-stops-raw-runs-on",
    sentence=__doc__,
    source=Source(document="one-call", where="section 2, five questions in three wrappings"),
    figure=CHAT,
    rule=share_at_least,
    needs=frozenset({Need.SERVER, Need.TRAINED, Need.COMPLETIONS}),
    scope=Scope(lanes=frozenset({"server"}), says="60 short questions, greedy, 32 tokens"),
    mechanism="Control tokens around each turn are what the model was trained to end on.",
    cases=(Case(name="chat"), Case(name="raw", figure=RAW, rule="share_at_most")),
    controls=(
        Control(*lying(Lie.NO_TEMPLATE), case="chat"),
        Control(*lying(Lie.CHATS_RAW), case="raw"),
    ),
)


def measure(engine: Any, case: Case) -> Measured:
    """1 for each question whose reply ends by itself, 0 for each that the limit ends."""
    about = prompts.read("questions")
    asked = [q["ask"] for q in about["question"]]
    system = {"role": "system", "content": about["system"]}
    if case.name == "chat":
        asks = [partial(engine.chat, [system, *tasks.user(a)], max_tokens=TOKENS) for a in asked]
    else:
        raw = [f"{about['system']}\n{a}" for a in asked]
        asks = [partial(engine.complete, text, max_tokens=TOKENS) for text in raw]
    replies = tasks.at_once(engine, asks)
    return Measured(
        samples=[float(reply.ended) for reply in replies],
        notes={"replies": [[a, r.finish, r.text] for a, r in zip(asked, replies, strict=True)]},
    )


test_holds, test_control_is_caught = CLAIM.tests(measure)
