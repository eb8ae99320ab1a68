"""A strict prompt moves probability to the opening brace and takes all of it from no id."""

from __future__ import annotations

from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Source
from claims._kit.measure import Measured
from claims._kit.rules import median_at_least
from fixtures import json_probes
from fixtures.faults import structure as faults
from fixtures.needs import Need

SETTING = "Qwen3-8B, strict prompt, scores of the first id"

CLAIM = Claim(
    id="structure/prompt-only-shifts",
    sentence=__doc__,
    source=Source(document="one-call", where="section 4, scores at the first step"),
    figure=Figure(
        limit=2.0,
        unit="share of ids that open an object, strict / naive prompt",
        claimed="97.1 % on a brace with a line end, 2.93 % on one with a quote; naive: a fence",
        setting=SETTING,
        why="greedy naive replies all began with a fence, so a brace had less than half there; "
        "strict it has all but a millionth, at least twice that",
    ),
    rule=median_at_least,
    needs=frozenset({Need.MODEL, Need.TRAINED, Need.TOKENIZER, Need.CHAT_TEMPLATE}),
    mechanism="A prompt changes scores, which are finite; only minus infinity has no share.",
    cases=(
        Case(name="moves"),
        Case(
            name="removes none",
            params={"removed": True},
            rule="every_sample_equals",
            figure=Figure(
                limit=0,
                unit="ids whose probability is exactly zero in 64 bits",
                claimed="every one of 151,936 stays possible; a fence at 36.5 beside 51.0",
                setting=SETTING,
                why="the claim speaks of every id; 64 bits keep exp(-700) above zero, and scores "
                "lie some tens apart",
            ),
        ),
    ),
    controls=(
        Control(
            "system prompt dropped",
            "The strict arm loses its system message, so both ask the same.",
            faults.SystemPromptDropped,
        ),
        Control("mask", "A mask stands behind it.", faults.MaskedScores, "removes none"),
    ),
)


def measure(engine: Any, case: Case) -> Measured:
    """One sample per request: the brace's gain, or how many ids have no share at all."""
    strict = json_probes.first_step(engine, "strict")
    if case.params.get("removed"):
        return Measured(
            samples=[float(n) for n in (strict == 0).sum(dim=-1).tolist()],
            notes={"smallest share": strict.min().item(), "scores": strict.shape[-1]},
        )
    after = json_probes.brace_shares(engine, "strict")
    before = json_probes.brace_shares(engine, "naive")
    return Measured(
        samples=[new / old for new, old in zip(after, before, strict=True)],
        notes={"strict": after, "naive": before},
    )


test_holds, test_control_is_caught = CLAIM.tests(measure)
