"""One run: joins a claim, a case and a subject, and writes what came of it to the ledger."""

from __future__ import annotations

import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NoReturn

import pytest

from claims._kit import deviations as known_deviations
from claims._kit.claim import Claim, Control, figures_row
from claims._kit.deviations import Deviation
from claims._kit.figures import Case
from claims._kit.ledger import Row, Writer
from claims._kit.measure import Measured, NotApplicable
from claims._kit.verdict import Judgement, Verdict, merge
from fixtures.needs import CannotRun, Need, unmet

SUBJECT = "subject"


@dataclass(kw_only=True)
class Conditions:
    """What a run is done on: who answers, what it offers, and why it lacks the rest."""

    device: str
    target: str
    engine: Callable[[], Any]
    offers: Callable[[], frozenset[Need]]
    why_no_cuda: str = ""
    repeat_with: str = ""
    parallel: bool = False


@dataclass(kw_only=True)
class Run:
    """Judges cases and controls one by one; each is in the ledger before the next begins.

    ``stored`` holds rows of an earlier run by (claim, role, case): on resume they are taken over
    as they are, on replay their samples are judged again. Nothing is measured twice.
    """

    writer: Writer
    conditions: Conditions
    deviations: list[Deviation]
    stored: dict[tuple[str, str, str], list[Row]] = field(default_factory=dict)
    replay: bool = False
    clock: Callable[[], float] = time.perf_counter
    planned: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    claims: dict[str, Claim] = field(default_factory=dict)
    verdicts: dict[tuple[str, str, str], Row] = field(default_factory=dict)
    finished: dict[str, Row] = field(default_factory=dict)

    def plan(self, claim: Claim, role: str, case: str) -> None:
        """Note that a selected test will judge this case, so that the claim's end is known."""
        self.claims[claim.id] = claim
        self.planned.setdefault(claim.id, []).append((role, case))

    def holds(self, claim: Claim, case: Case) -> None:
        """Judge one case on the honest subject; the pytest outcome follows the verdict."""
        __tracebackhide__ = True
        row = self._settle(claim, case, SUBJECT, lambda subject: subject)
        _outcome(claim, row, self.conditions.repeat_with)

    def control(self, claim: Claim, control: Control) -> None:
        """Run a planted fault through the same measure; only REFUTED counts as caught."""
        __tracebackhide__ = True
        row = self._settle(claim, claim.case(control.case), control.name, control.plant)
        verdict = Verdict(row["verdict"])
        if verdict is Verdict.NOT_APPLICABLE:
            pytest.skip(row["reason"])
        if verdict is not Verdict.REFUTED:
            pytest.fail(
                f"{claim.id}: the control {control.name!r} was not caught "
                f"({verdict}: {row['reason']}), so the claim is VOID",
                pytrace=False,
            )

    def _settle(
        self, claim: Claim, case: Case, role: str, plant: Callable[[Any], Any]
    ) -> Row:
        key = (claim.id, role, case.name)
        if key in self.stored:
            row = self._from_store(claim, case, role, self.stored[key])
        else:
            row = self._measure(claim, case, role, plant)
        self.verdicts[key] = row
        self._close_claim(claim)
        return row

    def _from_store(self, claim: Claim, case: Case, role: str, rows: list[Row]) -> Row:
        samples = next((r for r in rows if r["kind"] == "samples"), None)
        verdict = next(r for r in rows if r["kind"] == "verdict")
        if not self.replay:
            return verdict
        if samples is None:
            return self.writer.write(dict(verdict))
        self.writer.write(dict(samples))
        judged = claim.judge(case, Measured.from_row(samples))
        return self._write_verdict(claim, case, role, judged)

    def _measure(self, claim: Claim, case: Case, role: str, plant: Callable[[Any], Any]) -> Row:
        try:
            if reason := self.not_applicable(claim, case):
                raise NotApplicable(reason)
            honest = claim.subject if claim.subject is not None else self.conditions.engine()
            started = self.clock()
            measured = claim.registry["measure"](plant(honest), case)
            seconds = self.clock() - started
        except NotApplicable as lack:
            judged = Judgement(verdict=Verdict.NOT_APPLICABLE, reason=str(lack))
            return self._write_verdict(claim, case, role, judged)
        except CannotRun as error:
            judged = Judgement(verdict=Verdict.VOID, reason=str(error))
            return self._write_verdict(claim, case, role, judged)
        except Exception as error:  # a crash voids one claim and the run goes on
            traceback.print_exc(file=sys.stderr)
            judged = Judgement(verdict=Verdict.VOID, reason=_crash(error))
            return self._write_verdict(claim, case, role, judged)
        where = {"kind": "samples", "claim": claim.id, "case": case.name, "role": role}
        self.writer.write({**where, **measured.row(), "seconds": round(seconds, 3)})
        return self._write_verdict(claim, case, role, claim.judge(case, measured))

    def not_applicable(self, claim: Claim, case: Case) -> str:
        """Why this case cannot be judged here, or an empty string when it can."""
        judged_on = case.judged_on or claim.scope.judged_on
        if self.conditions.device not in judged_on:
            why = self.conditions.why_no_cuda if "cuda" in judged_on else ""
            where = " or ".join(sorted(judged_on))
            return f"judged on {where}, this run uses {self.conditions.device}" + (
                f" ({why})" if why else ""
            )
        if claim.timed and self.conditions.parallel:
            return "a timed claim is not judged beside other workers; run it without -n"
        if not claim.needs:
            return ""
        lacking = unmet(claim.needs, self.conditions.offers())
        return f"{self.conditions.target} lacks {', '.join(lacking)}" if lacking else ""

    def _write_verdict(self, claim: Claim, case: Case, role: str, judged: Judgement) -> Row:
        known = ""
        if role == SUBJECT and judged.verdict is Verdict.REFUTED:
            known = known_deviations.known(
                self.deviations, claim=claim.id, case=case.name, target=self.conditions.target
            )
        return self.writer.write(
            {
                "kind": "verdict",
                "claim": claim.id,
                "case": case.name,
                "role": role,
                "known": known,
                "figure": figures_row(claim.figure_of(case)),
                **judged.row(),
            }
        )

    def _close_claim(self, claim: Claim) -> None:
        done = {(role, case) for (c, role, case) in self.verdicts if c == claim.id}
        planned = self.planned.get(claim.id, [])
        if claim.id not in self.finished and set(planned) <= done:
            self.finished[claim.id] = self.writer.write(
                claim_row(claim, self.verdicts, self.conditions.repeat_with)
            )

    def close(self, finished: str, exit: int, notes: list[str]) -> None:
        """Write the footer: the run went to its end, with this exit status."""
        counts = Counter(str(row["verdict"]) for row in self.finished.values())
        self.writer.write(
            {
                "kind": "footer",
                "finished": finished,
                "exit": exit,
                "counts": dict(counts),
                "notes": notes,
            }
        )
        self.writer.close()

    def outcomes(self) -> dict[tuple[str, str], Verdict]:
        """Verdict by (claim, case) of everything judged on the honest subject."""
        return {
            (claim, case): Verdict(row["verdict"])
            for (claim, role, case), row in self.verdicts.items()
            if role == SUBJECT
        }


def claim_row(
    claim: Claim, verdicts: dict[tuple[str, str, str], Row], repeat_with: str
) -> Row:
    """The verdict of a whole claim, from those of its cases and controls."""
    cases = [r for (c, role, _), r in verdicts.items() if c == claim.id and role == SUBJECT]
    controls = [_control_row(claim, control, verdicts) for control in claim.controls]
    judged = merge(
        (Verdict(r["verdict"]) for r in cases),
        controls_caught=(c["caught"] is True for c in controls),
    )
    if claim.no_control_because and not claim.controls:
        judged = merge((Verdict(r["verdict"]) for r in cases), controls_caught=(True,))
    deciding = [r for r in cases if r["verdict"] == judged]
    refuted = [r for r in cases if r["verdict"] == Verdict.REFUTED]
    known = refuted[0]["known"] if refuted and all(r["known"] for r in refuted) else ""
    return {
        "kind": "claim",
        "claim": claim.id,
        "verdict": str(judged),
        "reason": _claim_reason(judged, deciding, controls, len(cases)),
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
        "cases": [r["case"] for r in cases],
        "repeat": f"pytest {claim.path} {repeat_with}".strip(),
    }


def _control_row(
    claim: Claim, control: Control, verdicts: dict[tuple[str, str, str], Row]
) -> Row:
    row = verdicts.get((claim.id, control.name, claim.case(control.case).name))
    caught: bool | None = None
    reason = "not run in this selection"
    if row is not None:
        reason = f"{row['verdict']}: {row['reason']}"
        if row["verdict"] != Verdict.NOT_APPLICABLE:
            caught = row["verdict"] == Verdict.REFUTED
    about = {"name": control.name, "sentence": control.sentence}
    return {**about, "caught": caught, "reason": reason}


def _claim_reason(judged: Verdict, deciding: list[Row], controls: list[Row], cases: int) -> str:
    if deciding:
        first = deciding[0]
        where = f"{first['case']}: " if cases > 1 else ""
        more = f" (and {len(deciding) - 1} more cases)" if len(deciding) > 1 else ""
        return f"{where}{first['reason']}{more}"
    missed = [c["name"] for c in controls if c["caught"] is not True]
    if judged is Verdict.VOID and missed:
        return f"controls not shown to be caught: {', '.join(missed)}"
    return "no case was judged"


def _crash(error: Exception) -> str:
    what = " ".join(str(error).split())[:300]
    if isinstance(error, MemoryError) or "out of memory" in what.lower():
        return f"out of memory: {what or 'the measurement did not fit'}"
    return f"the measurement crashed: {type(error).__name__}: {what}"


def _outcome(claim: Claim, row: Row, repeat_with: str) -> None:
    __tracebackhide__ = True
    verdict = Verdict(row["verdict"])
    if verdict is Verdict.NOT_APPLICABLE:
        pytest.skip(row["reason"])
    if verdict is Verdict.REFUTED and row["known"]:
        pytest.xfail(f"known: {row['known']}")
    if verdict is not Verdict.CONFIRMED:
        _fail(claim, row, repeat_with)


def _fail(claim: Claim, row: Row, repeat_with: str) -> NoReturn:
    __tracebackhide__ = True
    figure = row["figure"]
    lines = [
        f"{claim.id} [{row['case']}] {row['verdict']}: {row['reason']}",
        f"  promised: {claim.sentence} ({claim.source.document}, {claim.source.where})",
        f"  claimed:  {figure['claimed']} ({figure['setting']})",
        f"  limit:    {figure['limit']} {figure['unit']}: {figure['why']}",
        f"  measured: {row['estimate']} [{row['low']}, {row['high']}], n = {row['n']}",
        f"  repeat:   pytest {claim.path} {repeat_with}",
    ]
    pytest.fail("\n".join(lines), pytrace=False)
