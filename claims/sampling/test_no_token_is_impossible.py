"""Without a mask every entry of the vocabulary keeps a share above zero."""

from __future__ import annotations

from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Source
from claims._kit.measure import Measured
from claims._kit.rules import every_sample_equals
from fixtures import json_task, looping, sampling
from fixtures.faults.sampling import MaskedScores
from fixtures.needs import Need

STEP_0, PRINTED = "scores at step 0", "the source's four scores"
TEMPERATURES, FENCE = (0.3, 0.7, 1.0, 1.3), (51.0, 47.5, 39.8, 36.5)
SETTING = "Qwen3-8B, strict prompt, step 0"

CLAIM = Claim(
    id="sampling/no-token-is-impossible",
    sentence=__doc__,
    source=Source(document="one-call", where="section 4, what the prompt changes"),
    figure=Figure(
        limit=0,
        unit="entries with a share of zero",
        claimed="151,936 entries, each still possible",
        setting=SETTING,
        why="softmax is an exponential, above zero for each finite score; 64 bits hold a share "
        "down to exp(-745): a lead of 200 at T = 0.3 is told from zero",
    ),
    rule=every_sample_equals,
    needs=frozenset({Need.MODEL}),
    cases=(
        Case(name=STEP_0),
        Case(
            name=PRINTED,
            figure=Figure(
                limit=5,
                unit="in ten million, the share of a score of 36.5 beside 51.0, 47.5 and 39.8",
                claimed="a logit 14.5 below the top: about 5 in 10 million, not 0",
                setting=SETTING,
                why="exp(-14.5) = 5.04e-7 of the top entry's 97.1 %, 4.9e-7, to one digit",
            ),
        ),
    ),
    quick=True,
    controls=(
        Control(
            name="masked scores",
            sentence="All scores but the eight highest are minus infinity.",
            plant=MaskedScores,
            case=STEP_0,
        ),
    ),
)


def measure(engine: Any, case: Case) -> Measured:
    """Entries whose share is zero at each temperature; or the printed share, in 1e-7."""
    if case.name == PRINTED:
        share = sampling.shares(FENCE)[-1]
        return Measured(samples=[float(round(1e7 * share))], notes={"share": share})
    ids = looping.prompt_ids(engine, 24)
    if Need.CHAT_TEMPLATE in engine.offers:
        ids = engine.render(json_task.chats("strict")[0])
    scores = looping.first_scores(engine, ids)
    heated = [(scores.double() / t).softmax(dim=-1) for t in TEMPERATURES]
    rounded = [(scores.float() / t).softmax(dim=-1) for t in TEMPERATURES]
    return Measured(
        samples=[float((shares == 0).sum()) for shares in heated],
        notes={
            "entries": len(scores),
            "least share, T=1.0": heated[2].min().item(),
            "zero in 32 bits, by T": [int((shares == 0).sum()) for shares in rounded],
        },
    )


test_holds, test_control_is_caught = CLAIM.tests(measure)
