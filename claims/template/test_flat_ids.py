"""Chat messages become one flat id sequence; the sample request is exactly 38 ids long."""

from __future__ import annotations

from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Source
from claims._kit.measure import Measured
from claims._kit.rules import every_sample_equals
from fixtures.chat_formats import QWEN3
from fixtures.chats import STATUS_CODE
from fixtures.faults import templates as faults

START, END, THINK, THOUGHT = 151644, 151645, 151667, 151668
PLACES = {(0, START), (14, END), (16, START), (29, END), (31, START), (34, THINK), (36, THOUGHT)}

LENGTH = Figure(
    limit=38,
    unit="ids",
    claimed="exactly 38 tokens",
    setting="Qwen3-8B, system and user message as printed in the source, thinking off",
    why="the source's own count of a deterministic rendering, so nothing but 38 will do",
)
CONTROL = Figure(
    limit=7,
    unit="positions with one of the four control ids",
    claimed="7 positions, 18.4 % of the prompt",
    setting="ids 151644, 151645, 151667, 151668",
    why="three openings of a turn, two closings, one empty think block of two: 3 + 2 + 2",
)
PLACED = Figure(
    limit=0,
    unit="control tokens missing from their places or standing elsewhere",
    claimed="seven positions, not printed",
    why="opening, role and line end are 3 ids, the two texts 11 and 10, closing and line end 2: "
    "turns open at 0, 16, 31 and close at 14, 29; the last opening, 3 on, leads to 34 and 36",
)

CLAIM = Claim(
    id="template/flat-ids",
    sentence=__doc__,
    source=Source(document="one-call", where="section 2, the sample request"),
    figure=LENGTH,
    rule=every_sample_equals,
    mechanism="The template writes one text in which control tokens mark the turns, and each of "
    "them becomes one id of its own.",
    cases=(
        Case(name="length"),
        Case(name="control tokens", figure=CONTROL),
        Case(name="where they stand", figure=PLACED),
    ),
    subject=QWEN3,
    quick=True,
    controls=tuple(
        Control(
            name=f"control tokens read as text, {case}",
            sentence="The tokenizer reads the template's control tokens as ordinary text.",
            plant=faults.control_tokens_as_text,
            case=case,
        )
        for case in ("length", "control tokens", "where they stand")
    ),
)


def measure(chat_format: Any, case: Case) -> Measured:
    """One sample: the length, the number of control ids, or how many of them stand elsewhere."""
    ids = chat_format.ids(STATUS_CODE)
    found = {(at, i) for at, i in enumerate(ids) if i in {START, END, THINK, THOUGHT}}
    counts = (len(ids), len(found), len(found ^ PLACES))
    sample = counts[[c.name for c in CLAIM.cases].index(case.name)]
    places = f"control ids at {sorted(at for at, _ in found)} of {len(ids)}"
    return Measured(samples=[sample], witness=places, notes={"ids": ids})


test_holds, test_control_is_caught = CLAIM.tests(measure)
