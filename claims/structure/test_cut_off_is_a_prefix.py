"""A masked reply that the token limit cuts off is the beginning of valid JSON, and no JSON."""

from __future__ import annotations

from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Source
from claims._kit.measure import Measured
from claims._kit.rules import every_one_of
from fixtures import json_probes
from fixtures.faults import structure as faults
from fixtures.needs import Need

CLAIM = Claim(
    id="structure/cut-off-is-a-prefix",
    sentence=__doc__,
    source=Source(document="one-call", where="section 5, what the mask does not give"),
    figure=Figure(
        limit=1.0,
        unit="share of budgets whose reply begins a sentence of the grammar and does not parse",
        claimed="stated for a call that is cut early, without a number",
        setting="Qwen3-8B under the grammar mask",
        why="a statement about every budget too small, so one that gives whole JSON, or text "
        "that no sentence begins with, refutes it; with the tiny model each one is tried",
    ),
    rule=every_one_of,
    needs=frozenset({Need.MODEL, Need.TOKENIZER}),
    mechanism="The mask answers for each id; only the last brace makes an object of them.",
    cases=(
        Case(name="every budget, tiny random model, T=1.3", params={"tiny": True}),
        Case(name="least, half and all but one, the target, T=0"),
    ),
    controls=(
        Control(
            "full budget",
            "Every reply gets all the ids it needs, whatever the limit says.",
            faults.BudgetIgnored,
        ),
        Control(
            "repaired",
            "A lenient reader fills in what was cut off.",
            faults.CutRepliesRepaired,
        ),
    ),
)


def measure(engine: Any, case: Case) -> Measured:
    """1 for each budget below the full length whose reply is a beginning and no JSON."""
    tiny = case.params.get("tiny", False)
    writer = json_probes.with_tiny_model(engine) if tiny else engine
    whole, cut = json_probes.cut_replies(writer, 1.3 if tiny else 0.0, every=tiny)
    texts = [reply.text for reply in cut.values()]
    right = [json_probes.is_prefix(text) and not json_probes.parses(text) for text in texts]
    wrong = [text for text, good in zip(texts, right, strict=True) if not good]
    return Measured(
        samples=[float(good) for good in right],
        witness=wrong[0] if wrong else "",
        notes={
            "whole reply": whole.text,
            "its ids": len(whole.ids),
            "it parses": json_probes.parses(whole.text),
            "cut replies": {budget: reply.text for budget, reply in cut.items()},
        },
    )


test_holds, test_control_is_caught = CLAIM.tests(measure)
