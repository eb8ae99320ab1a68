"""Whether a case can be judged on what a run is done on, and why not where it cannot."""

from __future__ import annotations

from typing import Any

from claims._kit.claim import Claim
from claims._kit.conditions import BESIDE_WORKERS, Conditions
from claims._kit.figures import Case
from claims._kit.together import NOT_MINE
from fixtures.needs import Need, unmet


def why_not(conditions: Conditions, claim: Claim, case: Case) -> str:
    """Why this case cannot be judged here, or an empty string when it can."""
    if Need.SERVER in claim.needs:  # what device it has is its own affair
        return _unmet(conditions, claim)
    if conditions.device == "cuda" and conditions.why_no_cuda:
        return conditions.why_no_cuda
    judged_on = case.judged_on or claim.scope.judged_on
    if conditions.rehearsal and "cpu" in judged_on:
        return "judged on a CPU as it is: a rehearsal tries what only CUDA judges"
    if not conditions.rehearsal and conditions.device not in judged_on:
        why = conditions.why_no_cuda if "cuda" in judged_on else ""
        where = " or ".join(sorted(judged_on))
        lack = f" ({why})" if why else ""
        return f"judged on {where}, this run uses {conditions.device}{lack}"
    if claim.subject is not None and conditions.others and conditions.others.rank:
        return NOT_MINE
    return _unmet(conditions, claim)


def _unmet(conditions: Conditions, claim: Claim) -> str:
    if claim.timed and conditions.parallel:
        return BESIDE_WORKERS
    if not claim.needs:
        return ""
    lacking = unmet(claim.needs, host(conditions, claim).offers())
    return f"{conditions.target} lacks {', '.join(lacking)}" if lacking else ""


def host(conditions: Conditions, claim: Claim) -> Any:
    """Who answers: the served model where the claim asks for one, else the run's engine."""
    served = Need.SERVER in claim.needs and conditions.server is not None
    return conditions.server if served else conditions
