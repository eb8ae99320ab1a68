"""Caching prefills the last prompt and what the template rewrites; re-sending, every prompt."""

from __future__ import annotations

from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Source
from claims._kit.measure import Measured
from claims._kit.rules import every_sample_equals
from fixtures.chat_formats import Shelf
from fixtures.chats import devops_chat, devops_turns
from fixtures.faults import templates as faults
from fixtures.turns import bill

OURS = "on the source's own chat, which is not published; judged on a ten-turn chat of ours"
LAW = Figure(
    limit=36,
    unit="ids prefilled beyond the last prompt",
    claimed="999 = 963 + 9 x 4",
    setting=f"Qwen3-8B's template, {OURS}",
    why="ten prompts are nine finished turns, and Qwen3's template takes 4 ids of each back: "
    "9 x 4; the total itself depends on the chat, this part does not",
)
KEPT = Figure(
    limit=0,
    unit="ids prefilled beyond the last prompt",
    claimed="no figure; by the same law + 9 x 0",
    setting="a later template of the same family, which keeps the think block in history",
    why="each prompt then begins with the whole one before it, so every id is prefilled once",
)
DEARER = Figure(
    limit=2,
    unit="times as many ids re-sent as cached",
    claimed="5,549 vs 999 tokens, 5.55x",
    setting=f"last prompt 963 tokens, {OURS}",
    why="ten turns of one size re-send (10 + 1) / 2 = 5.5 last prompts, and turns differ from "
    "chat to chat; only the direction carries over: 2 lies well above 1, which is no gain",
)

CLAIM = Claim(
    id="prefix/token-bill",
    sentence=__doc__,
    source=Source(document="one-call", where="section 1, the ten-turn chat"),
    figure=LAW,
    rule=every_sample_equals,
    cases=(
        Case(name="Qwen3"),
        Case(name="history kept", params={"template": "qwen3_8"}, figure=KEPT),
        Case(name="re-sent over cached", figure=DEARER, rule="every_sample_at_least"),
    ),
    subject=Shelf(),
    quick=True,
    controls=(
        Control(
            name="prefix compared as text",
            sentence="Messages of equal text are taken for equal ids.",
            plant=faults.each(faults.compared_as_messages),
        ),
        Control(
            name="nothing reused",
            sentence="The cache secretly starts afresh at every turn.",
            plant=faults.each(faults.nothing_reused),
            case="re-sent over cached",
        ),
    ),
)


def measure(shelf: Any, case: Case) -> Measured:
    """The bill of the ten-turn chat: ids beyond the last prompt, or re-sent over cached."""
    chat_format = shelf.format(case.params.get("template", "qwen3"))
    total = bill(chat_format, [devops_chat(turn) for turn in range(1, devops_turns() + 1)])
    sample = total.ratio if case.figure is DEARER else total.beyond
    return Measured(samples=[sample], witness=str(total))


test_holds, test_control_is_caught = CLAIM.tests(measure)
