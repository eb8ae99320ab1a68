"""A plain request for JSON gives replies that strict parsing rejects."""

from __future__ import annotations

from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Source
from claims._kit.measure import Measured
from claims._kit.rules import share_at_least
from fixtures import json_task
from fixtures.faults import masking
from fixtures.needs import Need

CLAIM = Claim(
    id="structure/naive-prompt-fails",
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
        "of 8, the least any temperature has here, put the exact lower bound at 0.63",
    ),
    rule=share_at_least,
    needs=frozenset({Need.MODEL, Need.TRAINED, Need.TOKENIZER, Need.CHAT_TEMPLATE}),
    mechanism="A prompt only shifts scores; nothing forbids the fence or the sentence around it.",
    cases=tuple(Case(name=f"T={t}", params={"temperature": t}) for t in json_task.TEMPERATURES),
    controls=(
        Control(
            "bare JSON", "An oracle that answers with the object alone.", masking.AnswersInBareJson
        ),
        Control(
            "fence stripped",
            "Fenced replies whose fence is taken off before parsing.",
            masking.FenceIsStripped,
            "T=0.7",
        ),
    ),
)


def measure(engine: Any, case: Case) -> Measured:
    """1 for each reply that breaks the parser behind it, 0 for each that it accepts."""
    temperature = case.params["temperature"]
    replies = json_task.all_replies(engine, "naive", masked=False)[temperature]
    marks = [json_task.marks_of(reply) for reply in replies]
    return Measured(
        samples=[float(not mark.complies) for mark in marks],
        x=temperature,
        points={
            "parses": sum(m.parses for m in marks) / len(marks),
            "complies": sum(m.complies for m in marks) / len(marks),
            "stops": sum(m.stops for m in marks) / len(marks),
        },
        notes={
            "parses": f"{sum(m.parses for m in marks)} of {len(marks)}",
            "complies": f"{sum(m.complies for m in marks)} of {len(marks)}",
            "stops": f"{sum(m.stops for m in marks)} of {len(marks)}",
            "fenced": f"{sum('```' in r.text for r in replies)} of {len(replies)}",
            "replies": [reply.text for reply in replies],
        },
    )


test_holds, test_control_is_caught = CLAIM.tests(measure)
