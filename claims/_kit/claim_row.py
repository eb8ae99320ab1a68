"""The verdict of a whole claim: a pure function of what its cases and controls came to."""

from __future__ import annotations

from claims._kit.claim import Claim, Control
from claims._kit.ledger import Row
from claims._kit.verdict import Verdict, merge

# Claim, role and case.
Key = tuple[str, str, str]

# The role of a case on the honest subject; every other role is the name of a control.
SUBJECT = "subject"


def claim_row(claim: Claim, verdicts: dict[Key, Row], repeat: str) -> Row:
    """The verdict of a whole claim, from those of its cases and controls.

    A case that was not judged counts as VOID: a claim is confirmed whole or not at all.
    """
    cases = [r for (c, role, _), r in verdicts.items() if c == claim.id and role == SUBJECT]
    controls = [_control_row(claim, control, verdicts) for control in claim.controls]
    missing = sorted({c.name for c in claim.cases} - {r["case"] for r in cases})
    # A control of a case that does not apply here (another device's) has nothing to show.
    caught = [c["caught"] for c in controls if c["caught"] is not None]
    if claim.no_control_because and not claim.controls:
        caught = [True]
    seen = [*(Verdict(r["verdict"]) for r in cases), *(Verdict.VOID for _ in missing)]
    judged = merge(seen, controls_caught=caught)
    if judged is Verdict.NOT_APPLICABLE and _crashed_on_a_fault(claim, verdicts):
        judged = Verdict.VOID  # such a measure is broken, wherever it applies
    deciding = [r for r in cases if r["verdict"] == judged]
    refuted = [r for r in cases if r["verdict"] == Verdict.REFUTED]
    known = refuted[0]["known"] if refuted and all(r["known"] for r in refuted) else ""
    return {
        "kind": "claim",
        "claim": claim.id,
        "verdict": str(judged),
        "reason": _claim_reason(judged, deciding, controls, missing, len(claim.cases)),
        "sentence": claim.sentence,
        "source": {
            "document": claim.source.document,
            "where": claim.source.where,
            "setting": claim.source.setting,
        },
        "scope": claim.scope.says,
        "mechanism": claim.mechanism,
        "known": known if judged is Verdict.REFUTED else "",
        "controls": controls,
        "no_control_because": claim.no_control_because,
        "cases": [r["case"] for r in cases],
        "repeat": repeat,
    }


def _crashed_on_a_fault(claim: Claim, verdicts: dict[Key, Row]) -> bool:
    rows = [verdicts.get((claim.id, c.name, claim.case(c.case).name)) for c in claim.controls]
    return any(row is not None and row["verdict"] == Verdict.VOID for row in rows)


def _control_row(claim: Claim, control: Control, verdicts: dict[Key, Row]) -> Row:
    case = claim.case(control.case).name
    row, honest = (verdicts.get((claim.id, role, case)) for role in (control.name, SUBJECT))
    caught: bool | None = False
    reason = "not run in this selection"
    if row is not None:
        reason = f"{row['verdict']}: {row['reason']}"
        # A fault that makes its measure look away has escaped; only a case that does not apply
        # to the honest subject either has nothing to show.
        nowhere = {r["verdict"] for r in (row, honest) if r} == {Verdict.NOT_APPLICABLE}
        caught = None if nowhere else row["verdict"] == Verdict.REFUTED
    about = {"name": control.name, "sentence": control.sentence}
    return {**about, "caught": caught, "reason": reason}


def _claim_reason(
    judged: Verdict, deciding: list[Row], controls: list[Row], missing: list[str], cases: int
) -> str:
    if deciding:
        first = deciding[0]
        where = f"{first['case']}: " if cases > 1 else ""
        more = f" (and {len(deciding) - 1} more cases)" if len(deciding) > 1 else ""
        return f"{where}{first['reason']}{more}"
    missed = [c["name"] for c in controls if c["caught"] is False]
    if judged is Verdict.VOID and missed:
        return f"controls not shown to be caught: {', '.join(missed)}"
    if missing:
        return f"not every case was judged in this selection; missing: {', '.join(missing)}"
    return "nothing shows that a fault would be caught"
