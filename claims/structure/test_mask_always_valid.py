"""Under a grammar mask each reply is valid JSON, at every temperature."""

from __future__ import annotations

from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Source
from claims._kit.measure import Measured
from claims._kit.rules import every_one_of
from fixtures import grammar_proof, json_task
from fixtures.faults.masking import OneTokenIsMissing as Missing
from fixtures.faults.masking import OneTokenLeaks as Leaks
from fixtures.faults.structure import AlwaysFenced
from fixtures.needs import Need

PROOF = "all reachable states"

CLAIM = Claim(
    id="structure/mask-always-valid",
    sentence=__doc__,
    source=Source(
        document="one-call",
        where="section 5, grammar mask",
        setting="the naive and strict cases again, hand-written grammar over the vocabulary",
    ),
    figure=Figure(
        limit=1.0,
        unit="share of valid replies (proof: of right states)",
        claimed="80 of 80 valid",
        setting="Qwen3-8B, T in 0, 0.3, 0.7, 1.0, 1.3",
        why="a guarantee: one invalid reply, or one state that lets an illegal id through with "
        "any share above exactly zero, refutes it",
    ),
    rule=every_one_of,
    needs=frozenset({Need.MODEL, Need.TOKENIZER, Need.CHAT_TEMPLATE}),
    mechanism="A score of minus infinity has a share of exactly zero at any temperature.",
    cases=(
        *(Case(name=f"T={t}", params={"temperature": t}) for t in json_task.TEMPERATURES),
        Case(name=PROOF),
    ),
    controls=(
        Control("one token leaks", Leaks.__doc__, Leaks, PROOF),
        Control("one token is missing", Missing.__doc__, Missing, PROOF),
        Control("mask off, fenced replies", AlwaysFenced.__doc__, AlwaysFenced, "T=1.0"),
    ),
)


def measure(engine: Any, case: Case) -> Measured:
    """1 for each valid reply (or right state), 0 for each other."""
    if "temperature" not in case.params:
        return measure_proof(engine)
    temperature = case.params["temperature"]
    replies = json_task.all_replies(engine, "naive", masked=True)[temperature]
    marks = [json_task.marks_of(reply) for reply in replies]
    invalid = [r.text for r, m in zip(replies, marks, strict=True) if not m.complies]
    return Measured(
        samples=[float(mark.complies) for mark in marks],
        witness=invalid[0] if invalid else "",
        notes={"stops": sum(m.stops for m in marks), "replies": [r.text for r in replies]},
    )


def measure_proof(engine: Any) -> Measured:
    """Every state that legal ids lead to: nothing leaks, no illegal mass, no dead end."""
    scanner = json_task.engine_masker(engine)
    found = grammar_proof.violations(scanner)
    wrong = [line for lines in found.values() for line in lines]
    return Measured(
        samples=[float(not lines) for lines in found.values()],
        witness=wrong[0] if wrong else "",
        notes={"reachable states": len(found), "vocabulary": len(scanner.vocabulary.pieces)},
    )


test_holds, test_control_is_caught = CLAIM.tests(measure)
