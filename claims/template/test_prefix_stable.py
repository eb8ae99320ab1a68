"""A chat template takes the same number of ids back at every turn of a chat; Qwen3's takes 4."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Source
from claims._kit.measure import Measured, NotApplicable
from claims._kit.rules import every_sample_equals
from fixtures.chat_formats import COLLECTED, EMBEDDED, CannotRender, Shelf
from fixtures.chats import devops_turns
from fixtures.faults import templates as faults
from fixtures.turns import history

SETTING = "ten turns a minute apart, thinking off; Qwen3's ids, the embedded model's for its own"
QWEN3 = Figure(
    limit=4,
    unit="ids of a prompt that the next one does not repeat",
    claimed="Qwen3: not prefix-stable, 4 tokens a turn",
    setting=SETTING,
    why="the empty think block, four ids, ends each prompt and is left out of history",
)
SAME = Figure(
    limit=0,
    unit="ids taken back at a turn beyond those at the first",
    claimed="no figure: check your model's template too",
    setting=SETTING,
    why="a turn is rewritten by the same lines of the template as the turn before it, so one look "
    "at two turns tells the bill of a chat; counts are exact",
)

CLAIM = Claim(
    id="template/prefix-stable",
    sentence=__doc__,
    source=Source(document="one-call", where="section 1, the trap, and rule 1"),
    figure=SAME,
    rule=every_sample_equals,
    mechanism="A template that takes back 0 ids is prefix-stable. One that prints the date loses "
    "everything after it once a day.",
    cases=tuple(
        Case(name=name, figure=QWEN3 if name == "qwen3" else SAME)
        for name in (*COLLECTED, EMBEDDED)
    ),
    subject=Shelf(),
    quick=True,
    controls=tuple(
        Control(
            name=f"time printed, {name}",
            sentence="The template prints the time of rendering at the top of the prompt.",
            plant=faults.each(faults.clock_on_top),
            case=name,
        )
        for name in ("qwen3", "qwen2_5", EMBEDDED)
    ),
)


def measure(shelf: Any, case: Case) -> Measured:
    """Ids taken back at each turn (Qwen3), or how many more than at the first turn."""
    chat_format = shelf.format(case.name)
    try:
        told = history(chat_format, turns=devops_turns(), apart=timedelta(minutes=1))
        night = history(chat_format, turns=2, apart=timedelta(days=1))
    except CannotRender as why:
        raise NotApplicable(str(why)) from why
    more = [lost - told.lost[0] for lost in told.lost[1:]]
    return Measured(
        samples=told.lost if case.figure is QWEN3 else more,
        witness=f"ids taken back at each turn: {told.lost}",
        points={"ids taken back a turn": told.lost[0], "overnight": night.lost[0]},
        notes={"rewritten": told.rewritten, "form": told.form},
    )


test_holds, test_control_is_caught = CLAIM.tests(measure)
