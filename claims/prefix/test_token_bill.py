"""Caching prefills the last prompt and what the template rewrites; re-sending, every prompt."""

from __future__ import annotations

from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Source
from claims._kit.measure import Measured
from claims._kit.rules import every_sample_equals
from fixtures.chats import devops_chat, devops_turns
from fixtures.chat_formats import Shelf
from fixtures.faults import templates as faults

OURS = "on the source's own chat, which is not published; judged here on a ten-turn chat of ours"

LAW = Figure(
    limit=36,
    unit="ids prefilled beyond the last prompt, cached",
    claimed="999 = 963 + 9 x 4",
    setting=f"Qwen3-8B's template, {OURS}",
    why="ten prompts are nine finished turns, and Qwen3's template takes 4 ids of each back: "
    "9 x 4; the total itself depends on the chat, this part does not",
)
KEPT = Figure(
    limit=0,
    unit="ids prefilled beyond the last prompt, cached",
    claimed="nothing but the last prompt where the template rewrites nothing",
    setting=f"a later template of the same family, which keeps the think block, {OURS}",
    why="each prompt then begins with the whole one before it, so every id is prefilled once",
)
DEARER = Figure(
    limit=2,
    unit="times as many ids re-sent as cached",
    claimed="5,549 vs 999 tokens, 5.55x",
    setting=f"10 turns, last prompt 963 tokens, {OURS}",
    why="ten turns of one size re-send (10 + 1) / 2 = 5.5 last prompts; a chat's turns differ and "
    "36 ids are rewritten, so its own ratio is not 5.55; 2 is far from both that and 1, no gain",
)

CLAIM = Claim(
    id="prefix/token-bill",
    sentence=__doc__,
    source=Source(document="one-call", where="section 1, the ten-turn chat"),
    figure=LAW,
    rule=every_sample_equals,
    cases=(
        Case(name="Qwen3", params={"template": "qwen3", "sample": "beyond"}),
        Case(name="history kept", params={"template": "qwen3_8", "sample": "beyond"}, figure=KEPT),
        Case(
            name="re-sent over cached",
            params={"template": "qwen3", "sample": "ratio"},
            figure=DEARER,
            rule="every_sample_at_least",
        ),
    ),
    subject=Shelf(),
    quick=True,
    controls=(
        Control(
            name="prefix compared as text",
            sentence="Messages of equal text are taken for equal ids.",
            plant=faults.each(faults.compared_as_messages),
        ),
        *(
            Control(
                name=f"nothing reused, {case}",
                sentence="The cache secretly starts afresh at every turn.",
                plant=faults.each(faults.nothing_reused),
                case=case,
            )
            for case in ("history kept", "re-sent over cached")
        ),
    ),
)


def measure(shelf: Any, case: Case) -> Measured:
    """The bill of the ten-turn chat: ids beyond the last prompt, or re-sent over cached."""
    chat_format = shelf.format(case.params["template"])
    chats = [devops_chat(turn) for turn in range(1, devops_turns() + 1)]
    sizes = [len(chat_format.ids(chat)) for chat in chats]
    reused = [chat_format.reused(a, b) for a, b in zip(chats, chats[1:], strict=False)]
    resent, cached = sum(sizes), sum(sizes) - sum(reused)
    beyond, ratio = cached - sizes[-1], resent / cached
    return Measured(
        samples=[ratio if case.params["sample"] == "ratio" else beyond],
        witness=f"{resent} ids re-sent, {cached} cached = {sizes[-1]} + {beyond}; {ratio:.2f}x",
    )


test_holds, test_control_is_caught = CLAIM.tests(measure)
