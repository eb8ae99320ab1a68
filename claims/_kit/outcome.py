"""What pytest is told about a case: passed, skipped, known to fail, or failed with its reasons."""

from __future__ import annotations

from typing import Any, NoReturn

import pytest

from claims._kit.claim import Claim
from claims._kit.claim_row import SUBJECT
from claims._kit.ledger import Row
from claims._kit.verdict import Verdict


def report_case(claim: Claim, row: Row, repeat: str, *, witness: str = "") -> None:
    """End the test of one case as its verdict says; returns only for CONFIRMED."""
    __tracebackhide__ = True
    verdict = Verdict(row["verdict"])
    if verdict is Verdict.NOT_APPLICABLE:
        pytest.skip(row["reason"])
    if verdict is Verdict.REFUTED and row["known"]:
        # Without a traceback: it would show nothing but this file.
        raise pytest.xfail.Exception(f"known: {row['known']}", pytrace=False)
    if verdict is not Verdict.CONFIRMED:
        _fail(claim, row, repeat, witness)


def properties(claim: Claim, role: str, row: Row) -> list[tuple[str, str]]:
    """What a test's report carries, in JUnit too: claim and case, and what came of them.

    A control has no verdict of its own to report: it is caught, or not.
    """
    about = [("claim", claim.id), ("case", str(row["case"]))]
    if role != SUBJECT:
        verdict = str(row["verdict"])
        caught = {"REFUTED": "yes", "NOT APPLICABLE": "not applicable"}.get(verdict, "no")
        return [*about, ("control", role), ("caught", caught)]
    known = " (known)" if row["known"] else ""
    return [*about, ("verdict", f"{row['verdict']}{known}")]


def status(report: Any) -> tuple[str, str, str] | None:
    """Category, letter and word that pytest shows for a case or a control; None for other tests.

    The category stays pytest's own, so that its counts and colours do.
    """
    # A file that cannot be collected is reported too, and has no properties.
    told = dict(getattr(report, "user_properties", ()))
    caught = {"yes": "CAUGHT", "no": "MISSED", "not applicable": "NOT APPLICABLE"}
    word = told.get("verdict") or caught.get(told.get("caught", ""))
    if report.when != "call" or not word:
        return None
    outcome = "xfailed" if hasattr(report, "wasxfail") else report.outcome
    return outcome, word[0].lower() if "control" in told else word[0], word


def _fail(claim: Claim, row: Row, repeat: str, witness: str) -> NoReturn:
    __tracebackhide__ = True
    figure = row["figure"]
    lines = [
        f"{claim.id} [{row['case']}] {row['verdict']}: {row['reason']}",
        f"  promised: {claim.sentence} ({claim.source.document}, {claim.source.where})",
        f"  claimed:  {figure['claimed']} ({figure['setting']})",
        f"  limit:    {figure['limit']} {figure['unit']}: {figure['why']}",
        f"  measured: {row['estimate']} [{row['low']}, {row['high']}], n = {row['n']}",
        *([f"  witness:  {witness}"] if witness else []),
        f"  repeat:   {repeat}",
    ]
    pytest.fail("\n".join(lines), pytrace=False)
