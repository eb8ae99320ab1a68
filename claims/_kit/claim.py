"""A claim: one published sentence with everything needed to judge it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from claims._kit.figures import Case, Figure, Scope, Source
from claims._kit.measure import Measured
from claims._kit.paths import file_of
from claims._kit.rules import RULES, Rule
from claims._kit.verdict import Judgement, Verdict
from fixtures.needs import Need

Measure = Callable[[Any, Case], Measured]
Test = Callable[..., None]


@dataclass(frozen=True)
class Control:
    """A planted fault that the claim's own measure has to refute.

    ``plant`` wraps the honest subject; ``case`` names the case it is tried on (the first one when
    empty). One sentence says what is wrong with it.
    """

    name: str
    sentence: str
    plant: Callable[[Any], Any]
    case: str = ""


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A published sentence, its source, figures, scope, needs, rule, cases and controls.

    ``subject`` is what is measured when no model is involved; where it is None the engine of the
    run is. ``timed`` claims are refused beside other workers. ``profiled`` ones attach a profiler,
    which slows what comes after it in the same process, so they come last.
    """

    id: str
    sentence: str
    source: Source
    figure: Figure
    rule: Rule
    controls: tuple[Control, ...]
    cases: tuple[Case, ...] = (Case(name="all"),)
    needs: frozenset[Need] = frozenset()
    scope: Scope = field(default_factory=Scope)
    subject: Any = None
    timed: bool = False
    profiled: bool = False
    quick: bool = False
    mechanism: str = ""
    no_control_because: str = ""
    registry: dict[str, Measure] = field(default_factory=dict, repr=False, compare=False)

    def case(self, name: str) -> Case:
        """The case called ``name``, or the first one when ``name`` is empty."""
        if not name:
            return self.cases[0]
        return next(case for case in self.cases if case.name == name)

    def figure_of(self, case: Case) -> Figure:
        """The figure that judges ``case``."""
        return case.figure or self.figure

    def rule_name(self, case: Case) -> str:
        """The name of the rule that judges ``case``, as it stands in a ledger."""
        return case.rule or str(getattr(self.rule, "__name__", ""))

    def judge(self, case: Case, measured: Measured) -> Judgement:
        """The judgement of ``measured``: pure, so that a stored run can be judged again."""
        rule = RULES[case.rule] if case.rule else self.rule
        judged = rule(measured.samples, self.figure_of(case))
        if broken := [f for f in measured.floors if f.beaten]:
            first = broken[0]
            reason = (
                f"{first.what}: {first.measured:.4g} {first.unit} beats the floor of "
                f"{first.floor:.4g}, so the measurement is wrong"
            )
            return replace(judged, verdict=Verdict.VOID, reason=reason)
        if measured.disturbed:
            return replace(judged, verdict=Verdict.VOID, reason=measured.disturbed)
        return judged

    def tests(self, measure: Measure) -> tuple[Test, Test | None]:
        """The claim as two plain pytest functions: it holds, and its controls are caught.

        The second is None where there is no control, so that pytest collects no empty test.
        """
        self.registry["measure"] = measure
        claim = self

        cases = [pytest.param(c, id=c.name, marks=c.marks) for c in self.cases]

        @pytest.mark.parametrize("case", cases)
        def test_holds(bench: Any, case: Case) -> None:
            bench.holds(claim, case)

        @pytest.mark.parametrize("control", self.controls, ids=[c.name for c in self.controls])
        def test_control_is_caught(bench: Any, control: Control) -> None:
            bench.control(claim, control)

        marks = sorted(self.scope.lanes) + (["quick"] if self.quick else [])
        marks += ["timed"] if self.timed else []
        for function in (test_holds, test_control_is_caught):
            function.__module__ = sys._getframe(1).f_globals["__name__"]
            for mark in marks:
                getattr(pytest.mark, mark)(function)
            pytest.mark.claim(claim)(function)
        return test_holds, test_control_is_caught if self.controls else None

    @property
    def path(self) -> str:
        """The claim's file, relative to the checkout."""
        return f"claims/{file_of(self.id)}"


def figures_row(figure: Figure) -> Mapping[str, Any]:
    """A figure as plain JSON values."""
    return {
        "limit": figure.limit,
        "unit": figure.unit,
        "why": figure.why,
        "claimed": figure.claimed,
        "setting": figure.setting,
    }
