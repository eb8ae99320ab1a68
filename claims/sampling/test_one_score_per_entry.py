"""Qwen3-8B's output layer gives one score for each of its 151,936 vocabulary entries."""

from __future__ import annotations

from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Source
from claims._kit.measure import Measured
from claims._kit.rules import every_sample_equals
from fixtures.engines.output_layer import OutputLayer
from fixtures.faults import templates as faults
from fixtures.tokenizers import qwen3

SETTING = "Qwen3-8B's published shape, built without weights"
SCORES = Figure(
    limit=151_936,
    unit="scores per position",
    claimed="151,936 logits, one per vocabulary entry",
    setting=SETTING,
    why="vocab_size of the model's configuration; a count, so exact",
)
WIDTH = Figure(
    limit=4096,
    unit="columns of the output matrix",
    claimed="lm_head of shape [4096, 151936]",
    setting=SETTING,
    why="hidden_size of the model's configuration: the matrix turns one hidden state into scores",
)

CLAIM = Claim(
    id="sampling/one-score-per-entry",
    sentence=__doc__,
    source=Source(document="one-call", where="section 4, from logits to a token"),
    figure=SCORES,
    rule=every_sample_equals,
    mechanism="The tokenizer has only 151,669 entries: the last 267 scores belong to no text, yet "
    "softmax gives them probability too. A mask counts them as well.",
    cases=(
        Case(name="one pass over 38 ids"),
        Case(name="rows of the output matrix"),
        Case(name="columns of the output matrix", figure=WIDTH),
    ),
    subject=OutputLayer("qwen3-8b"),
    quick=True,
    controls=tuple(
        Control(
            name=f"tokenizer length, {case}",
            sentence="The layer is as long as the tokenizer, 151,669 entries.",
            plant=faults.tokenizer_length,
            case=case,
        )
        for case in ("one pass over 38 ids", "rows of the output matrix")
    ),
)


def measure(layer: Any, case: Case) -> Measured:
    """One count: scores of a pass, or rows or columns of the output matrix."""
    rows, columns = layer.matrix()
    sample = {CLAIM.cases[1].name: rows, CLAIM.cases[2].name: columns}.get(case.name)
    scores = layer.scores(tokens=38) if sample is None else sample
    return Measured(samples=[scores], notes={"tokenizer entries": len(qwen3())})


test_holds, test_control_is_caught = CLAIM.tests(measure)
