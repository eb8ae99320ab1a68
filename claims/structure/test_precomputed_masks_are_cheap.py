"""A scan of the whole vocabulary per step costs far more than the mask of a compiled grammar."""

from __future__ import annotations

from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Scope, Source
from claims._kit.measure import Measured, NotApplicable
from claims._kit.rules import median_at_least
from fixtures import mask_timing
from fixtures.constrained import NotInstalled
from fixtures.constrained_engines import COMPILED
from fixtures.faults import structure as faults
from fixtures.mask_timing import COLD, TIGHT, percentile
from fixtures.vocabularies import QWEN3, SMOLLM2

SIZES = {QWEN3: 151_936, SMOLLM2: 49_152}


def figure(size: int) -> Figure:
    """The limit grows with the vocabulary, as a scan does and a compiled mask hardly does."""
    return Figure(
        limit=size // 1000,
        unit="time of a scan / of a compiled mask, per token",
        claimed="far smaller; 2,424 to 2,472 ms per call with the scan",
        setting="Qwen3-8B, A100, a scan in Python at each step; XGrammar is named, not run",
        why=f"one Python call per entry takes 0.1 us at the very least, {size:,} of them "
        f"{size / 1e4:.1f} ms; a compiled mask tens of us, 100 at most: {size // 1000} times",
    )


CLAIM = Claim(
    id="structure/precomputed-masks-are-cheap",
    sentence=__doc__,
    source=Source(document="one-call", where="section 5, cost of the toy scanner"),
    figure=figure(SIZES[QWEN3]),
    rule=median_at_least,
    scope=Scope(says="one sentence at a time on one CPU thread; mask and step, not its use"),
    mechanism="Which pieces fit is found once per grammar state, not once per step and piece.",
    timed=True,
    cases=tuple(
        Case(
            name=f"{engine}, {vocabulary}, {condition}",
            params={"engine": engine, "vocabulary": vocabulary, "condition": condition},
            figure=figure(size),
        )
        for engine in COMPILED
        for vocabulary, size in SIZES.items()
        for condition in (TIGHT, COLD)
    ),
    subject=COMPILED,
    controls=tuple(
        Control(name, sentence, plant, f"XGrammar, {SMOLLM2}, {COLD}")
        for name, sentence, plant in (
            ("scans", "The 'compiled' engine scans.", faults.scans_at_every_step),
            ("stale", "The first mask is given for ever, and fast.", faults.same_mask_for_ever),
        )
    ),
)


def measure(engines: Any, case: Case) -> Measured:
    """Scan over compiled mask for each token of one reply; 0 where the mask is not the scan's."""
    try:
        costs = mask_timing.costs(**{**case.params, "engine": engines[case.params["engine"]]})
    except NotInstalled as lack:
        raise NotApplicable(str(lack)) from lack
    return Measured(
        samples=costs.ratios(),
        points={"scan, ms a token": percentile(costs.scan_s, 50) * 1e3}
        | {f"compiled p{p}, us a token": percentile(costs.all_s(), p) * 1e6 for p in (50, 99)},
        witness=f"wrong masks before ids {costs.wrong} of the reply" if costs.wrong else "",
        notes=costs.notes(),
    )


test_holds, test_control_is_caught = CLAIM.tests(measure)
