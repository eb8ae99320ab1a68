"""The logits of a row do not depend on the other rows of its batch."""

from __future__ import annotations

from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Source
from claims._kit.measure import Measured
from claims._kit.rules import every_sample_at_most
from fixtures import batching, fuzz, looping
from fixtures.faults.batching import AttendsAcrossRows
from fixtures.needs import Need

TINY = "tiny random models"
ROWS = {"unpadded": (16, 16, 16), "padded": (9, 16, 24)}

CLAIM = Claim(
    id="batching/rows-do-not-leak",
    sentence=__doc__,
    source=Source(document="where-time-goes", where="one user, many users"),
    figure=Figure(
        limit=1.0,
        unit="times what rounding explains",
        claimed="each sequence gets its own multiply-add from weights read anyway",
        why="as for prefix/kv-invariance: one unit is 4 times how far logits move when the row is "
        "repeated in another batch shape and with one rounding error added per layer",
    ),
    rule=every_sample_at_most,
    needs=frozenset({Need.MODEL, Need.KV_CACHE}),
    mechanism="Weights are shared by the rows; attention pairs tokens of one row alone.",
    cases=(
        *(Case(name=name, params={"lengths": lengths}) for name, lengths in ROWS.items()),
        Case(name=TINY),
    ),
    controls=tuple(
        Control(
            name=f"attention across rows, {case}",
            sentence="What attention gives a row is averaged with what it gives the next.",
            plant=AttendsAcrossRows,
            case=case,
        )
        for case in (*ROWS, TINY)
    ),
)


def measure(engine: Any, case: Case) -> Measured:
    """How far a row's logits move when others join its batch, one sample per row or draw."""
    if case.name == TINY:
        found = fuzz.search(engine, path=CLAIM.path, judge=batching.judge_example)
        return Measured(**vars(found))
    lengths = case.params["lengths"]
    text = looping.prompt_ids(engine, sum(lengths))
    rows = [text[sum(lengths[:i]) : sum(lengths[: i + 1])] for i in range(len(lengths))]
    found = batching.moved_by_mates(engine, rows)
    worst = max(found, key=lambda moved: moved.excess)
    return Measured(
        samples=[moved.excess for moved in found],
        witness=f"position {worst.position}: {worst.expected:.6g} alone, {worst.found:.6g}",
        notes={"rows of tokens": list(lengths)},
    )


test_holds, test_control_is_caught = CLAIM.tests(measure)
