"""A grammar mask fixes the form of a reply; a wrong value still passes."""

from __future__ import annotations

from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Source
from claims._kit.measure import Measured
from claims._kit.rules import every_sample_at_least
from fixtures import json_probes, json_task
from fixtures.engines.loop import Reply
from fixtures.faults import structure as faults
from fixtures.needs import Need

CLAIM = Claim(
    id="structure/form-not-truth",
    sentence=__doc__,
    source=Source(document="one-call", where="section 5, what the mask does not give"),
    figure=Figure(
        limit=1,
        unit="replies of the right form with a wrong value",
        claimed="5432 in place of 5439, given as an example",
        setting="Qwen3-8B under the grammar mask, an ambiguous prompt",
        why="one reply that passes and says what is not so shows it",
    ),
    rule=every_sample_at_least,
    needs=frozenset({Need.MODEL, Need.TRAINED, Need.TOKENIZER, Need.CHAT_TEMPLATE}),
    mechanism="A grammar knows digits and names; which of them are true is not in it.",
    cases=(
        Case(name="drawn replies"),
        Case(
            name="5432 for 5439",
            params={"digit": True},
            figure=Figure(
                limit=1,
                unit="wrong ports that pass the mask and the parser, of one",
                claimed="5432 in place of 5439, given as an example",
                setting="a log that names both ports; the model's scores after 543",
                why="the source says it can happen, which any share above exactly zero is",
            ),
        ),
    ),
    controls=(
        Control("oracle", "An oracle whose every value is the record's.", faults.TellsTheTruth),
        Control(
            "knows the truth",
            "A mask that lets the true digit through and no other.",
            faults.KnowsTheTruth,
            "5432 for 5439",
        ),
    ),
)


def measure(engine: Any, case: Case) -> Measured:
    """How many replies have the right form and a wrong value."""
    if case.params.get("digit"):
        return measure_digit(engine)
    wrong = json_probes.wrong_values(engine)
    return Measured(
        samples=[float(sum(wrong))] if wrong else [],
        notes={"wrong value": f"{sum(wrong)} of {len(wrong)} replies of the right form"},
    )


def measure_digit(engine: Any) -> Measured:
    """1 when the wrong port has a share under the mask and its record passes, else 0."""
    shares = json_probes.digit_shares(engine)
    passes = json_task.marks_of(Reply((), json_probes.WRONG_RECORD, ended=True)).complies
    return Measured(
        samples=[float(shares.wrong > 0 and passes)],
        witness=json_probes.WRONG_RECORD,
        notes={"5439": shares.true, "5432": shares.wrong, "any other end": shares.other},
    )


test_holds, test_control_is_caught = CLAIM.tests(measure)
