"""No cache, mask, batch or way of generating changes what any causal architecture computes."""

from __future__ import annotations

from typing import Any

import pytest

from claims._kit import deviations
from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Scope, Source
from claims._kit.measure import Measured, NotApplicable
from claims._kit.rules import every_sample_at_most
from fixtures.architectures import build
from fixtures.faults import architectures as faults
from fixtures.faults import caching
from fixtures.many_types import Types, disguised, judge_type, with_fault

pytestmark = pytest.mark.slow
ID = "architectures/every-cache-is-invisible"
ALL = (*build.model_types(), *build.variants())
# A deviation of one property is a case of its own, so that it hides nothing else of its type.
LISTED = [d.case for d in deviations.read() if d.claim == ID]
KNOWN = [case.split(": ") for case in LISTED if ": " in case]
PLANTED = (
    ("position restarts", caching.PositionsRestart, "mistral"),
    ("row corrupted", caching.RowCorrupted, "qwen3_moe"),
    ("cache shifted", caching.CacheShifted, "deepseek_v3"),
    ("no causal mask", caching.SeesLater, "gpt2"),
    ("pads seen", faults.PadsSeen, "llama4_text"),
    ("rows leak", faults.RowsLeak, "mamba2"),
    ("never rolls back", faults.NeverRollsBack, "gemma2"),
    ("counts one less", faults.CountsOneLess, "phi3"),
    ("reply too long", faults.RepliesTooLong, "gpt_neox"),
    ("penalises repetition", faults.Penalises, "qwen2"),
)

CLAIM = Claim(
    id=ID,
    sentence=__doc__,
    source=Source(document="one-call", where="section 1, why reuse is safe, for any type"),
    figure=Figure(
        limit=1.0,
        unit="times what rounding explains",
        claimed="appending tokens never changes keys and values before them",
        why="the null arm repeats the plain pass in another batch shape and with one rounding "
        "error in every module's output; 4 times its spread is one unit, and what exceeds it has "
        "to exceed 60 more draws; a differing token counts by how far its score is from the best",
    ),
    rule=every_sample_at_most,
    subject=Types(),
    scope=Scope(lanes=frozenset({"architectures"}), says=build.summary()),
    mechanism="Causal attention or a recurrent state: the past is summed up, never rewritten.",
    cases=(
        *(Case(name=t, params={"type": t}) for t in ALL),
        *(Case(name=f"{t}: {p}", params={"type": t, "only": p}) for t, p in KNOWN if t in ALL),
    ),
    controls=(
        *(Control(name, f.__doc__, with_fault(f), case) for name, f, case in PLANTED),
        *(
            Control(f"{t} both ways", "It reads both ways, as made to.", disguised(t, c), "llama")
            for t, c in build.both_ways().items()
        ),
    ),
)


def measure(subject: Any, case: Case) -> Measured:
    """The excess of every trial of every property on one type."""
    kind = case.params["type"]
    if why := build.left_out(kind):
        raise NotApplicable(f"left out: {why}")
    how = {"only": case.params.get("only", ""), "without": {p for t, p in KNOWN if t == kind}}
    how |= {"path": CLAIM.path, "shrinks": case.name not in LISTED}
    found, blind = judge_type(subject, kind, **how)
    return Measured(**vars(found), disturbed=blind)


test_holds, test_control_is_caught = CLAIM.tests(measure)
