"""Top-k keeps the k highest scores; top-p the smallest set whose shares reach p."""

from __future__ import annotations

from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Source
from claims._kit.measure import Measured
from claims._kit.rules import every_one_of
from fixtures import sampling
from fixtures.faults import sampling as faults

TOP_K, TIES, TOP_P = "top-k, scores distinct", "top-k, scores that tie", "top-p"

CLAIM = Claim(
    id="sampling/top-k-top-p",
    sentence=__doc__,
    source=Source(document="inference-chapter", where="one forward pass, one token"),
    figure=Figure(
        limit=1.0,
        unit="share of draws that keep the law",
        claimed="top-k candidates; the smallest set whose probabilities reach p",
        why="a definition, so every draw keeps it: exactly min(k, entries) are left, or, where "
        "scores tie with the k-th, all of these too; for top-p the sum reaches p (to 1e-12, the "
        "rounding of 32 shares) with as many entries as the sorted shares need",
    ),
    rule=every_one_of,
    cases=tuple(Case(name=name) for name in (TOP_K, TIES, TOP_P)),
    subject=sampling.Library(),
    quick=True,
    controls=(
        Control(
            name="k + 1",
            sentence="One entry more than k is left.",
            plant=lambda _: faults.OneMore(),
            case=TOP_K,
        ),
        Control(
            name="ties cut",
            sentence="Of entries that tie with the k-th only some are left.",
            plant=lambda _: faults.CutsTies(),
            case=TIES,
        ),
        Control(
            name="stops before p",
            sentence="The set ends one entry before it reaches p.",
            plant=lambda _: faults.StopsBeforeP(),
            case=TOP_P,
        ),
        Control(
            name="stops after p",
            sentence="The set has one entry more than it needs.",
            plant=lambda _: faults.StopsAfterP(),
            case=TOP_P,
        ),
    ),
)


def measure(library: Any, case: Case) -> Measured:
    """1 for each draw of scores and k or p that keeps the case's law, 0 for each other."""
    kept, broken = sampling.law(library, case.name)
    return Measured(samples=kept, witness=broken and f"scores and k or p: {broken}")


test_holds, test_control_is_caught = CLAIM.tests(measure)
