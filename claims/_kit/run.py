"""One run: joins a claim, a case and a subject, and writes what came of it to the ledger."""

from __future__ import annotations

import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import pytest

from claims._kit import deviations as known_deviations
from claims._kit import together
from claims._kit.again import attempt, until_undisturbed
from claims._kit.applying import host, why_not
from claims._kit.claim import Claim, Control, figures_row
from claims._kit.claim_row import SUBJECT, Key, claim_row
from claims._kit.conditions import AFTER_PROFILER, REHEARSAL, Conditions, unwatched
from claims._kit.crashes import WAYS_OUT, crashed, words_of
from claims._kit.deviations import Deviation
from claims._kit.figures import Case
from claims._kit.ledger import Row, Unwritable, Writer
from claims._kit.measure import Measured, NotApplicable
from claims._kit.outcome import report_case
from claims._kit.verdict import Judgement, Verdict
from fixtures.needs import CannotRun, Need


@dataclass(kw_only=True)
class Run:
    """Judges cases and controls one by one; each is in the ledger before the next begins.

    ``stored`` holds rows of an earlier run by (claim, role, case): on resume they are taken over
    as they are, on replay their samples are judged again. Nothing is measured twice.
    """

    writer: Writer
    conditions: Conditions
    deviations: list[Deviation]
    stored: dict[Key, list[Row]] = field(default_factory=dict)
    replay: bool = False
    clock: Callable[[], float] = time.perf_counter
    planned: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    claims: dict[str, Claim] = field(default_factory=dict)
    verdicts: dict[Key, Row] = field(default_factory=dict)
    finished: dict[str, Row] = field(default_factory=dict)
    profiled: bool = False

    def plan(self, claim: Claim, role: str, case: str) -> None:
        """Note that a selected test will judge this case, so that the claim's end is known."""
        self.claims[claim.id] = claim
        self.planned.setdefault(claim.id, []).append((role, case))

    def holds(self, claim: Claim, case: Case) -> None:
        """Judge one case on the honest subject; the pytest outcome follows the verdict."""
        __tracebackhide__ = True
        row = self._settle(claim, case, SUBJECT, lambda subject: subject)
        report_case(claim, row, self.conditions.repeat(claim.path), witness=self._witness(row))

    def _witness(self, verdict: Row) -> str:
        same = ("claim", "case", "role")
        for row in reversed(self.writer.rows):
            if row["kind"] == "samples" and all(row[k] == verdict[k] for k in same):
                return str(row["witness"])
        return ""

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

    def _settle(self, claim: Claim, case: Case, role: str, plant: Callable[[Any], Any]) -> Row:
        __tracebackhide__ = True
        key = (claim.id, role, case.name)
        try:
            if key in self.stored:
                row = self._from_store(claim, case, role, self.stored[key])
            else:
                row = self._measure(claim, case, role, plant)
            self.verdicts[key] = row
            self._close_claim(claim)
        except Unwritable as error:
            pytest.exit(f"onecall: {error}", returncode=int(pytest.ExitCode.USAGE_ERROR))
        return row

    def _from_store(self, claim: Claim, case: Case, role: str, rows: list[Row]) -> Row:
        samples = next((r for r in rows if r["kind"] == "samples"), None)
        if not self.replay:
            return rows[-1]
        if samples is None:
            return self.writer.write(dict(rows[-1]))
        self.writer.write(dict(samples))
        judged = self._judge(claim, case, Measured.from_row(samples))
        return self._write_verdict(claim, case, role, judged)

    def _measure(self, claim: Claim, case: Case, role: str, plant: Callable[[Any], Any]) -> Row:
        # What needs no model has nothing to do with the ranks that hold one together.
        others = self.conditions.others if claim.subject is None else None
        if others:
            others.begin(f"{claim.id} [{role}, {case.name}]")
        how, judged = self._attempt(claim, case, role, plant)
        apart = ""
        if others:
            judged, apart = others.end(how, judged, timed=claim.timed)
        row = self._write_verdict(claim, case, role, judged)
        if others and apart:
            others.part(f"{claim.id} [{role}, {case.name}]: {apart}")
        return row

    def _attempt(
        self, claim: Claim, case: Case, role: str, plant: Callable[[Any], Any]
    ) -> tuple[str, Judgement]:
        where = {"kind": "samples", "claim": claim.id, "case": case.name, "role": role}
        try:
            measured, seconds = self._take(claim, case, plant)
            self.writer.write({**where, **measured.row(), "seconds": round(seconds, 3)})
            return together.MEASURED, self._judge(claim, case, measured)
        except Unwritable:
            raise
        except NotApplicable as lack:
            reason = words_of(lack)
            return together.LACKING, Judgement(verdict=Verdict.NOT_APPLICABLE, reason=reason)
        except CannotRun as error:
            return together.UNUSABLE, Judgement(verdict=Verdict.VOID, reason=words_of(error))
        except WAYS_OUT as error:  # a crash voids one claim and the run goes on
            judged = crashed(error)
            # What its frames held on to (a whole device's memory, say) is let go first.
            traceback.clear_frames(error.__traceback__)
            self.conditions.tidy()
            return f"{together.CRASHED}, {type(error).__name__}", judged

    def _take(
        self, claim: Claim, case: Case, plant: Callable[[Any], Any]
    ) -> tuple[Measured, float]:
        if self.replay:
            raise CannotRun("this ledger holds no samples of this case; a replay measures nothing")
        if reason := why_not(self.conditions, claim, case):
            raise NotApplicable(reason)
        if self.conditions.rehearsal:
            case = case.rehearsed()
        honest = claim.subject
        if honest is None:
            honest = host(self.conditions, claim).engine()
        late = AFTER_PROFILER if claim.timed and self.profiled and not claim.profiled else ""
        self.profiled |= claim.profiled
        # A server beside us is that other work on the machine which a watch would object to.
        watched = claim.timed and Need.SERVER not in claim.needs
        watch = self.conditions.watch if watched else unwatched
        measured, seconds = until_undisturbed(
            lambda: attempt(
                lambda: claim.registry["measure"](plant(honest), case), watch, self.clock
            ),
            again=self.conditions.again,
            forget=self.conditions.forget,
        )
        return measured.watched(late, {}), seconds

    def _judge(self, claim: Claim, case: Case, measured: Measured) -> Judgement:
        if self.conditions.rehearsal:
            return Judgement(
                verdict=Verdict.NOT_APPLICABLE, reason=REHEARSAL, n=len(measured.samples)
            )
        try:
            return claim.judge(case, measured)
        except Exception as error:  # samples that no rule can read are no evidence
            return crashed(error)

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
                "rule": claim.rule_name(case),
                **judged.row(),
            }
        )

    def _close_claim(self, claim: Claim) -> None:
        done = {(role, case) for (c, role, case) in self.verdicts if c == claim.id}
        planned = self.planned.get(claim.id, [])
        if claim.id not in self.finished and set(planned) <= done:
            row = claim_row(claim, self.verdicts, self.conditions.repeat(claim.path))
            # A resumed run has the rows of claims that it had finished already.
            kept = next((r for r in self.writer.rows if r == row), None)
            self.finished[claim.id] = kept or self.writer.write(row)

    def join(self, judged: Iterable[tuple[Claim, str, str]]) -> None:
        """Say what claims came to whose cases several processes judged, a part of them each.

        ``judged`` are claim, role and case of every test that they shared; of other claims there
        is nothing to say.
        """
        open_ones = self.planned.keys() - self.finished.keys()
        spread = [each for each in judged if each[0].id in open_ones]
        for claim, role, case in spread:
            self.plan(claim, role, case)
        for claim in {claim.id: claim for claim, _, _ in spread}.values():
            self._close_claim(claim)

    def unfinished(self) -> list[str]:
        """Ids of claims of which a selected case or control was never judged."""
        return sorted(self.planned.keys() - self.finished.keys())

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
