"""What pytest is told about a case: passed, skipped, known to fail, or failed with its reasons."""

from __future__ import annotations

from typing import NoReturn

import pytest

from claims._kit.claim import Claim
from claims._kit.ledger import Row
from claims._kit.verdict import Verdict


def report_case(claim: Claim, row: Row, repeat_with: str, *, witness: str = "") -> None:
    """End the test of one case as its verdict says; returns only for CONFIRMED."""
    __tracebackhide__ = True
    verdict = Verdict(row["verdict"])
    if verdict is Verdict.NOT_APPLICABLE:
        pytest.skip(row["reason"])
    if verdict is Verdict.REFUTED and row["known"]:
        pytest.xfail(f"known: {row['known']}")
    if verdict is not Verdict.CONFIRMED:
        _fail(claim, row, repeat_with, witness)


def _fail(claim: Claim, row: Row, repeat_with: str, witness: str) -> NoReturn:
    __tracebackhide__ = True
    figure = row["figure"]
    lines = [
        f"{claim.id} [{row['case']}] {row['verdict']}: {row['reason']}",
        f"  promised: {claim.sentence} ({claim.source.document}, {claim.source.where})",
        f"  claimed:  {figure['claimed']} ({figure['setting']})",
        f"  limit:    {figure['limit']} {figure['unit']}: {figure['why']}",
        f"  measured: {row['estimate']} [{row['low']}, {row['high']}], n = {row['n']}",
        *([f"  witness:  {witness}"] if witness else []),
        f"  repeat:   pytest {claim.path} {repeat_with}",
    ]
    pytest.fail("\n".join(lines), pytrace=False)
