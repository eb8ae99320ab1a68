"""No split of a prompt, no padding and no way of generating changes what this model computes."""

from __future__ import annotations

from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Scope, Source
from claims._kit.measure import Measured, NotApplicable
from claims._kit.rules import every_sample_at_most
from fixtures import judging
from fixtures.faults import architectures as faults
from fixtures.faults import caching
from fixtures.needs import Need
from fixtures.own_model import judge_property, with_fault

CLAIM = Claim(
    id="prefix/every-split-of-this-model",
    sentence=__doc__,
    source=Source(document="one-call", where="section 1, why reuse is safe", setting="your model"),
    figure=Figure(
        limit=1.0,
        unit="times what rounding explains",
        claimed="appending tokens never changes keys and values before them",
        why="the null arm repeats the plain pass in another batch shape and with one rounding "
        "error in every module's output; 4 times its spread is one unit, for this model; where "
        "that is exceeded, 60 more draws have to exceed it too; a token that differs counts by "
        "how much its score falls short of the best",
    ),
    rule=every_sample_at_most,
    needs=frozenset({Need.MODEL, Need.KV_CACHE}),
    scope=Scope(
        lanes=frozenset({"fuzz"}),
        says="the run's model, with the cache class of ONECALL_CACHE_CLASS and the attention of "
        "ONECALL_ATTENTION where these are set",
    ),
    mechanism="Causal attention: appending tokens never changes keys and values before them.",
    cases=tuple(Case(name=name) for name in judging.NAMES),
    controls=(
        Control(
            "position restarts",
            caching.PositionsRestart.__doc__,
            with_fault(caching.PositionsRestart),
            "steps",
        ),
        Control(
            "row corrupted",
            caching.RowCorrupted.__doc__,
            with_fault(caching.RowCorrupted),
            "split",
        ),
        Control("rows leak", faults.RowsLeak.__doc__, with_fault(faults.RowsLeak), "rows"),
        Control("pads seen", faults.PadsSeen.__doc__, with_fault(faults.PadsSeen), "leftpad"),
    ),
)


def measure(subject: Any, case: Case) -> Measured:
    """The excess of every drawn trial of one property on the run's model."""
    found = judge_property(subject, case.name, path=CLAIM.path)
    if not found.samples:
        raise NotApplicable(str(found.notes["not judged"]))
    return Measured(**vars(found))


test_holds, test_control_is_caught = CLAIM.tests(measure)
