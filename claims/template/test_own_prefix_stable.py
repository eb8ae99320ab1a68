"""The target's own chat template takes the same number of ids back at every turn of a chat."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from jinja2.exceptions import TemplateError

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Source
from claims._kit.measure import Measured
from claims._kit.rules import every_sample_equals
from fixtures.chat_formats import shared
from fixtures.chats import devops_chat, devops_turns
from fixtures.faults import templates as faults
from fixtures.needs import Need

CLAIM = Claim(
    id="template/own-prefix-stable",
    sentence=__doc__,
    source=Source(document="one-call", where="section 1, rule 1"),
    figure=Figure(
        limit=0,
        unit="ids taken back at a turn beyond those at the first",
        claimed="no figure: check your model's template too",
        setting="ten turns of a DevOps chat, thinking off",
        why="a turn is rewritten by the same lines of the template as the turn before it, so one "
        "look at two turns tells the bill of a chat; counts are exact",
    ),
    rule=every_sample_equals,
    mechanism="A template that takes back 0 ids leaves every prompt a prefix of the next one.",
    needs=frozenset({Need.TOKENIZER, Need.CHAT_TEMPLATE}),
    controls=(
        Control(
            name="number printed",
            sentence="The template prints a number that grows with every request.",
            plant=faults.engine_clock_printed,
        ),
    ),
)


def measure(engine: Any, _case: Case) -> Measured:
    """How many more ids are taken back at each turn than at the first."""
    chats = [devops_chat(turn) for turn in range(1, devops_turns() + 1)]
    try:
        prompts = [engine.render(chat) for chat in chats]
    except TemplateError:
        # Some templates refuse a system message; the chat is the same without it.
        prompts = [engine.render(chat[1:]) for chat in chats]
    lost = [len(before) - shared(before, after) for before, after in pairwise(prompts)]
    return Measured(
        samples=[n - lost[0] for n in lost[1:]],
        witness=f"ids taken back at each turn: {lost}",
        points={"ids taken back a turn": lost[0]},
    )


test_holds, test_control_is_caught = CLAIM.tests(measure)
