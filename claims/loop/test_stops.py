"""An end token ends the loop where it comes; without one the length limit does, exactly."""

from __future__ import annotations

from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Source
from claims._kit.measure import Measured
from claims._kit.rules import every_sample_equals
from fixtures import looping
from fixtures.faults import looping as faults
from fixtures.needs import Need

END, LIMIT = "end token", "length limit"
LIMITS, PROMPTS, LONG = (1, 2, 7), (3, 8), 16

CLAIM = Claim(
    id="loop/stops",
    sentence=__doc__,
    source=Source(document="inference-chapter", where="one forward pass, one token"),
    figure=Figure(
        limit=0,
        unit="tokens too many or too few, or ends misreported",
        claimed="an end token, or a limit of length, ends the loop",
        why="counts: limited to n, and ended by nothing else, a reply has n tokens; ended by a "
        "token that first comes at place j it has the j tokens before it, and says so",
    ),
    rule=every_sample_equals,
    needs=frozenset({Need.MODEL, Need.KV_CACHE}),
    cases=(Case(name=END), Case(name=LIMIT)),
    controls=(
        Control(
            name="end token ignored",
            sentence="The loop never looks for an end token.",
            plant=faults.EndIsIgnored,
            case=END,
        ),
        Control(
            name="one too many",
            sentence="The loop counts up to its limit, the limit included.",
            plant=faults.OneTooMany,
            case=LIMIT,
        ),
    ),
)


def measure(engine: Any, case: Case) -> Measured:
    """For each reply: tokens beyond what is expected, and 1 if it misreports how it ended."""
    samples, witness = [], ""
    for length in PROMPTS:
        ids = looping.prompt_ids(engine, length)
        if case.name == LIMIT:
            expected = [(n, looping.reply(engine, ids, limit=n)) for n in LIMITS]
        else:
            free = looping.hand_reply(engine, ids, LONG)
            place = max(free.index(token) for token in set(free))  # the latest newcomer
            ended = looping.reply(engine, ids, limit=LONG, ends=[free[place]])
            expected = [(place, ended)]
        for n, reply in expected:
            misreported = reply.ended != (case.name == END)
            samples += [float(len(reply.ids) - n), float(misreported)]
            witness = witness or (f"{len(reply.ids)} for {n}" if any(samples[-2:]) else "")
    return Measured(samples=samples, witness=witness)


test_holds, test_control_is_caught = CLAIM.tests(measure)
