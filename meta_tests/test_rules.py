"""Rules, merging and exit statuses: what they say, and that a broken one would be noticed."""

from __future__ import annotations

import ast
import inspect
import itertools
import types
from collections.abc import Iterator
from functools import cache
from math import inf, nan
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from claims._kit import rules, stats, verdict
from claims._kit.measure import Floor, Measured
from claims._kit.rules import RULES
from claims._kit.verdict import Judgement, Verdict
from meta_tests.made_up import claim, figure

CHECKED = settings(max_examples=150, derandomize=True, deadline=None, database=None)

C, R, I, N, V = "CONFIRMED", "REFUTED", "INCONCLUSIVE", "NOT APPLICABLE", "VOID"  # noqa: E741

# The reason ends here where no number of further samples can be told.
END_OF_REASON = "the interval contains the limit"

# Rule, samples, limit, verdict, and what else the judgement has to show. The bounds are worked
# by hand: of n successes in n trials the exact lower bound is 0.025 ** (1 / n); of 9 sorted
# samples the median lies between the 2nd and the 8th.
JUDGED: list[tuple[str, list[float], float, str, dict[str, Any]]] = [
    *((rule, [], 1.0, V, {"n": 0, "reason": "nothing was measured"}) for rule in RULES),
    *((rule, [nan], 1.0, V, {"n": 1}) for rule in RULES),
    *((rule, [1.0] * 99 + [nan], 1.0, V, {"n": 100, "estimate": None}) for rule in RULES),
    *((rule, [0.0] * 99 + [inf], 1.0, V, {"n": 100}) for rule in RULES),
    *((rule, [0.0] * 99 + [-inf], 1.0, V, {"n": 100}) for rule in RULES),
    ("every_sample_at_most", [nan, 0.0, inf], 1.0, V, {"reason": "2 of 3 samples are not finite"}),
    ("every_sample_at_most", [1.0], 1.0, C, {"estimate": 1.0, "n": 1, "reason": "all within"}),
    ("every_sample_at_most", [0.5, -3.0], 1.0, C, {"low": -3.0, "high": 0.5, "estimate": 0.5}),
    ("every_sample_at_most", [1.0000001], 1.0, R, {"reason": "1 of 1 samples exceed"}),
    ("every_sample_at_most", [0.0, 2.0, 3.0], 1.0, R, {"estimate": 3.0, "low": 0.0, "n": 3}),
    ("every_sample_at_most", [0.0, 2.0, 3.0], 1.0, R, {"reason": "2 of 3 samples exceed"}),
    ("every_sample_at_least", [1.0], 1.0, C, {"estimate": 1.0, "n": 1, "reason": "all reach it"}),
    ("every_sample_at_least", [1.0, 3.0], 1.0, C, {"low": 1.0, "high": 3.0, "estimate": 1.0}),
    ("every_sample_at_least", [0.9999999], 1.0, R, {"reason": "1 of 1 samples miss"}),
    ("every_sample_at_least", [0.0, 0.5, 2.0], 1.0, R, {"estimate": 0.0, "high": 2.0, "n": 3}),
    ("every_sample_at_least", [0.0, 0.5, 2.0], 1.0, R, {"reason": "2 of 3 samples miss"}),
    ("every_sample_equals", [38.0], 38.0, C, {"estimate": 38.0, "n": 1, "reason": "exact"}),
    ("every_sample_equals", [38.0, 38.0], 38.0, C, {"low": 38.0, "high": 38.0, "n": 2}),
    ("every_sample_equals", [38.0, 37.0], 38.0, R, {"estimate": 37.0, "reason": "1 of 2 differ"}),
    ("every_sample_equals", [38.0, 39.0], 38.0, R, {"low": 38.0, "high": 39.0, "n": 2}),
    ("every_one_of", [1.0] * 80, 1.0, C, {"low": 0.025 ** (1 / 80), "high": 1.0, "n": 80}),
    ("every_one_of", [1.0], 1.0, C, {"low": 0.025, "estimate": 1.0, "reason": "1 of 1"}),
    ("every_one_of", [1.0] * 79 + [0.0], 1.0, R, {"estimate": 79 / 80, "reason": "79 of 80"}),
    ("every_one_of", [0.0], 1.0, R, {"low": 0.0, "estimate": 0.0, "high": 0.975}),
    ("every_one_of", [1.0] * 80, 0.95, R, {"n": 80}),
    ("every_one_of", [0.0], 0.0, R, {"n": 1}),
    ("every_one_of", [1.0, 0.5], 1.0, V, {"reason": "a share counts 0 and 1, got 0.5"}),
    ("share_at_least", [1.0] * 80, 0.95, C, {"low": 0.025 ** (1 / 80), "estimate": 1.0, "n": 80}),
    ("share_at_least", [1.0] * 80, 0.96, I, {"low": 0.025 ** (1 / 80), "high": 1.0}),
    ("share_at_least", [0.0] * 80, 0.05, R, {"high": 1 - 0.025 ** (1 / 80), "estimate": 0.0}),
    ("share_at_least", [1.0], 0.5, I, {"low": 0.025, "estimate": 1.0, "n": 1}),
    ("share_at_least", [0.0, 1.0], 0.5, I, {"more": None}),
    ("share_at_least", [0.0, 0.5], 0.1, V, {"n": 2, "reason": "a share counts 0 and 1, got 0.5"}),
    ("share_at_least", [1.0] * 9 + [2.0], 0.1, V, {"n": 10}),
    ("share_at_most", [0.0] * 80, 0.05, C, {"high": 1 - 0.025 ** (1 / 80), "estimate": 0.0}),
    ("share_at_most", [0.0] * 80, 0.04, I, {"low": 0.0, "n": 80}),
    ("share_at_most", [1.0] * 80, 0.95, R, {"low": 0.025 ** (1 / 80), "n": 80}),
    ("share_at_most", [-1.0] * 80, 0.95, V, {"n": 80}),
    ("median_at_least", [2.0] * 5, 1.0, I, {"low": None, "high": None, "more": 1, "n": 5}),
    ("median_at_least", [2.0] * 3, 1.0, I, {"estimate": 2.0, "more": 3}),
    ("median_at_least", [2.0] * 6, 1.0, C, {"low": 2.0, "high": 2.0, "n": 6}),
    ("median_at_least", [*range(6)], 2.0, I, {"low": 0, "high": 5, "more": 144}),
    ("median_at_least", [*range(1, 10)], 1.9, C, {"low": 2, "estimate": 5, "high": 8, "n": 9}),
    ("median_at_least", [*range(1, 10)], 2.0, I, {"low": 2, "high": 8}),
    ("median_at_least", [*range(1, 10)], 8.0, I, {"reason": "about 1 more samples", "more": 1}),
    ("median_at_least", [*range(1, 10)], 8.1, R, {"low": 2, "high": 8}),
    # A half width of 3 at a distance of 2 from the limit: 9 x (3/2)^2 = 20.25, so 12 more.
    ("median_at_least", [*range(1, 10)], 3.0, I, {"more": 12}),
    ("median_at_least", [*range(1, 10)], 5.0, I, {"more": None}),
    ("median_at_least", [*range(1, 10)], 5.0, I, {"reason": END_OF_REASON}),
    ("median_at_least", [0.0] * 6, 1.0, R, {"high": 0.0}),
    ("median_at_most", [0.5] * 5, 1.0, I, {"low": None, "high": None, "more": 1}),
    ("median_at_most", [*range(1, 10)], 8.1, C, {"low": 2, "high": 8}),
    ("median_at_most", [*range(1, 10)], 8.0, I, {"n": 9}),
    ("median_at_most", [*range(1, 10)], 2.0, I, {"more": 1}),
    ("median_at_most", [*range(1, 10)], 1.9, R, {"estimate": 5}),
]

# Cases, controls caught, verdict of the claim.
MERGED: list[tuple[str | list[str], list[bool], str]] = [
    ([], [True], V),
    ([], [], V),
    ([C], [True], C),
    ([C], [True, True], C),
    ([C], [], V),
    ([C], [False], V),
    ([C], [True, False], V),
    ([C], [False, True], V),
    ([R], [True], R),
    ([R], [False], V),
    ([R], [], V),
    ([I], [True], I),
    ([I], [], V),
    ([V], [True], V),
    ([V], [], V),
    ([N], [True], N),
    ([N], [], N),
    ([N], [False], N),
    ([N, N], [], N),
    ([C, N], [True], C),
    ([C, N], [], V),
    ([C, R], [True], R),
    ([R, C], [True], R),
    ([C, I], [True], I),
    ([C, V], [True], V),
    ([V, R], [True], R),
    ([I, V], [True], V),
    ([I, N], [True], I),
    ([N, V], [True], V),
    ([N, R], [True], R),
    ([C, C, R, C], [True], R),
]

# (verdict, known deviation) of every claim, exit status of the run.
ENDED: list[tuple[list[tuple[str, bool]], int]] = [
    ([], 20),
    ([(N, False)], 20),
    ([(N, False), (N, True)], 20),
    ([(C, False)], 0),
    ([(C, False), (N, False)], 0),
    ([(R, True)], 0),
    ([(R, True), (N, False)], 0),
    ([(C, False), (R, True)], 0),
    ([(R, False)], 1),
    ([(R, False), (R, True)], 1),
    ([(R, True), (V, False)], 20),
    ([(C, False), (R, False)], 1),
    ([(V, False), (R, False), (I, False)], 1),
    ([(V, False)], 20),
    ([(V, True)], 20),
    ([(C, False), (V, False)], 20),
    ([(V, False), (I, False)], 20),
    ([(I, False)], 21),
    ([(I, True)], 21),
    ([(I, False), (C, False), (N, False)], 21),
    ([(R, True), (I, False)], 21),
]


def _differs(expected: Any, found: Any) -> bool:
    if expected == END_OF_REASON:
        return not str(found).endswith(END_OF_REASON)
    if isinstance(expected, str):
        return expected not in str(found)
    if expected is None or found is None:
        return expected is not found
    return abs(found - expected) > 1e-9


def rule_errors(kit: Any) -> Iterator[str]:
    """Where the rules of the module ``kit`` say something else than the table."""
    for name, samples, limit, expected, shown in JUDGED:
        judged = kit.RULES[name](samples, figure(limit))
        wrong = [k for k, v in shown.items() if _differs(v, getattr(judged, k))]
        if judged.verdict != expected or wrong:
            yield f"{name}({samples[:3]}..., {limit}) = {judged}, expected {expected}, {shown}"


def verdict_errors(kit: Any) -> Iterator[str]:
    """Where merging and exit statuses of the module ``kit`` differ from the tables."""
    for cases, controls, expected in MERGED:
        found = kit.merge(map(kit.Verdict, cases), controls_caught=iter(controls))
        if found != expected:
            yield f"merge({cases}, {controls}) = {found}, expected {expected}"
    for told, status in ENDED:
        found = kit.exit_status((kit.Verdict(v), known) for v, known in told)
        if found != status:
            yield f"exit_status({told}) = {found}, expected {status}"


def test_each_rule_judges_as_worked_by_hand():
    assert list(rule_errors(rules)) == []


def test_merging_and_exit_status_are_as_tabled():
    assert list(verdict_errors(verdict)) == []


def test_every_rule_stands_in_the_table():
    assert {row[0] for row in JUDGED} == set(RULES)
    for name in RULES:
        seen = {row[3] for row in JUDGED if row[0] == name}
        assert seen >= {C, R, V}, f"{name} lacks a row of some verdict"
        assert name.startswith("every") or I in seen, f"{name} has no borderline row"


@pytest.mark.parametrize(("verdict_", "status"), [(C, 0), (R, 1), (V, 20), (I, 21), (N, 20)])
def test_an_exit_status_never_gets_better_by_a_claim_that_applies_nowhere(verdict_, status):
    told = [(Verdict(verdict_), False), (Verdict.NOT_APPLICABLE, False)]
    assert verdict.exit_status(told) == status


# Properties ------------------------------------------------------------------------------------


@pytest.fixture
def _remembered_intervals(monkeypatch):
    """The same intervals, each worked out once: hundreds of examples ask for them."""
    monkeypatch.setattr(stats, "proportion", cache(stats.proportion))
    monkeypatch.setattr(stats, "trials_to_settle", cache(stats.trials_to_settle))


numbers = st.floats(allow_nan=True, allow_infinity=True, width=32)
finite = st.floats(-1e6, 1e6)
limits = st.floats(-1e6, 1e6)
bits = st.lists(st.sampled_from([0.0, 1.0]), min_size=1, max_size=60)
SCORE = {R: 0, V: 1, I: 1, C: 2}


def judge(name: str, samples: list[float], limit: float) -> Judgement:
    return RULES[name](samples, figure(limit))


@CHECKED
@given(st.lists(numbers, max_size=20), limits)
def test_a_sample_over_the_limit_or_no_number_is_never_confirmed(samples, limit):
    judged = judge("every_sample_at_most", samples, limit)
    good = bool(samples) and all(s <= limit and abs(s) < inf for s in samples)
    assert (judged.verdict == C) == good


@CHECKED
@given(st.lists(numbers, max_size=20), limits)
def test_a_sample_under_the_limit_or_no_number_is_never_confirmed(samples, limit):
    judged = judge("every_sample_at_least", samples, limit)
    good = bool(samples) and all(s >= limit and abs(s) < inf for s in samples)
    assert (judged.verdict == C) == good


@CHECKED
@given(st.lists(st.sampled_from([0.0, 1.0, nan]), max_size=8))
def test_a_guarantee_is_confirmed_only_without_a_counterexample(samples):
    assert (judge("every_one_of", samples, 1.0).verdict == C) == (set(samples) == {1.0})


@CHECKED
@given(st.lists(st.sampled_from([37.0, 38.0, nan]), max_size=8))
def test_equality_is_confirmed_only_when_every_sample_is_the_limit(samples):
    judged = judge("every_sample_equals", samples, 38.0)
    assert (judged.verdict == C) == (set(samples) == {38.0})


@pytest.mark.parametrize("name", RULES)
def test_one_unusable_sample_voids_any_rule_wherever_it_stands(name):
    for bad, place in itertools.product((nan, inf, -inf), (0, 5, 20)):
        samples = [1.0] * 20
        samples.insert(place, bad)
        assert judge(name, samples, 1.0).verdict is Verdict.VOID


@pytest.mark.parametrize(
    "name", ["every_sample_at_most", "every_sample_at_least", "median_at_most", "median_at_least"]
)
def test_a_looser_limit_never_turns_a_verdict_worse(name):
    @CHECKED
    @given(st.lists(finite, min_size=1, max_size=15), limits, limits)
    def holds(samples, one, other):
        strict, loose = sorted((one, other), reverse=name.endswith("least"))
        before, after = judge(name, samples, strict), judge(name, samples, loose)
        assert SCORE[before.verdict] <= SCORE[after.verdict]

    holds()


@pytest.mark.usefixtures("_remembered_intervals")
@pytest.mark.parametrize("name", ["share_at_least", "share_at_most"])
def test_a_looser_share_never_turns_a_verdict_worse(name):
    @settings(CHECKED, max_examples=40)
    @given(bits, st.floats(0.01, 0.99), st.floats(0.01, 0.99))
    def holds(samples, one, other):
        strict, loose = sorted((one, other), reverse=name.endswith("least"))
        before, after = judge(name, samples, strict), judge(name, samples, loose)
        assert SCORE[before.verdict] <= SCORE[after.verdict]

    holds()


@pytest.mark.usefixtures("_remembered_intervals")
@pytest.mark.parametrize("name", RULES)
def test_the_order_of_samples_does_not_matter(name):
    @settings(CHECKED, max_examples=25)
    @given(st.data())
    def holds(data):
        samples = data.draw(
            bits if name.startswith(("share", "every_one")) else st.lists(finite, max_size=12)
        )
        shuffled = data.draw(st.permutations(samples))
        one, other = judge(name, samples, 0.5), judge(name, list(shuffled), 0.5)
        assert (one.verdict, one.low, one.high) == (other.verdict, other.low, other.high)

    holds()


@CHECKED
@given(st.lists(finite, min_size=1, max_size=15), limits)
def test_at_least_is_at_most_seen_in_a_mirror(samples, limit):
    least = judge("median_at_least", samples, limit)
    most = judge("median_at_most", [-s for s in samples], -limit)
    assert (least.verdict, least.more) == (most.verdict, most.more)


@CHECKED
@given(st.lists(finite, min_size=1, max_size=15), limits)
def test_an_interval_rule_confirms_only_when_the_whole_interval_clears_the_limit(samples, limit):
    judged = judge("median_at_least", samples, limit)
    if judged.verdict == C:
        assert judged.low is not None and judged.low > limit
    if judged.verdict == R:
        assert judged.high is not None and judged.high < limit
    if judged.verdict == I and judged.low is not None:
        assert judged.low <= limit <= judged.high


verdicts = st.sampled_from(list(Verdict))


@CHECKED
@given(st.lists(verdicts, max_size=6), st.lists(st.booleans(), max_size=4))
def test_a_claim_is_confirmed_only_by_cases_that_hold_and_controls_that_are_caught(cases, caught):
    merged = verdict.merge(cases, controls_caught=caught)
    holds = Verdict.CONFIRMED in cases and set(cases) <= {
        Verdict.CONFIRMED,
        Verdict.NOT_APPLICABLE,
    }
    assert (merged is Verdict.CONFIRMED) == (holds and bool(caught) and all(caught))


@CHECKED
@given(st.lists(verdicts, min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_the_order_of_cases_does_not_matter(cases, random):
    shuffled = random.sample(cases, len(cases))
    assert verdict.worst(cases) is verdict.worst(shuffled)


@CHECKED
@given(st.lists(st.tuples(verdicts, st.booleans()), max_size=6))
def test_a_run_succeeds_only_when_something_was_judged_and_nothing_is_wrong(told):
    fine = {(C, False), (C, True), (R, True), (N, False), (N, True)}
    judged = any((v, known) not in {(N, False), (N, True)} for v, known in told)
    success = judged and set(told) <= fine
    assert (verdict.exit_status(told) == 0) == success


# Floors and disturbances -------------------------------------------------------------------------


def _floor(measured: float, floor: float = 10.0) -> Floor:
    return Floor(what="a step", measured=measured, floor=floor, unit="ms", why="bytes over rate")


@pytest.mark.parametrize("samples", [[0.5], [2.0], [nan], []])
@pytest.mark.parametrize("measured", [9.99, -inf, nan])
def test_a_beaten_floor_voids_whatever_the_samples_say(samples, measured):
    made = claim()
    judged = made.judge(made.cases[0], Measured(samples=samples, floors=[_floor(measured)]))
    assert judged.verdict is Verdict.VOID
    assert "beats the floor" in judged.reason


@pytest.mark.parametrize(("measured", "beaten"), [(10.0, False), (10.1, False), (inf, False)])
def test_a_floor_that_is_reached_is_not_beaten(measured, beaten):
    assert _floor(measured).beaten is beaten


def test_a_floor_that_is_no_number_counts_as_beaten():
    assert _floor(10.0, floor=nan).beaten


def test_one_beaten_floor_among_several_voids():
    made = claim()
    measured = Measured(samples=[0.5], floors=[_floor(11.0), _floor(9.0), _floor(12.0)])
    assert made.judge(made.cases[0], measured).verdict is Verdict.VOID


@pytest.mark.parametrize("samples", [[0.5], [2.0], []])
def test_a_disturbed_measurement_is_void_with_its_reason(samples):
    made = claim()
    judged = made.judge(made.cases[0], Measured(samples=samples, disturbed="clocks fell"))
    assert (judged.verdict, judged.reason) == (Verdict.VOID, "clocks fell")


# Broken versions are noticed ---------------------------------------------------------------------

# Changes of one place in the source, each of which the tables above have to notice.
_SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_TURNED: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.Gt,
    ast.LtE: ast.GtE,
    ast.Gt: ast.Lt,
    ast.GtE: ast.LtE,
}
_NAMES = {"max": "min", "min": "max", "all": "any", "any": "all", "above": "below"}

# Changes that no verdict and no number can show, with the reason.
EQUIVALENT = {
    "isfinite(interval.low): interval.low -> interval.high": "both bounds are finite, or neither",
    "isfinite(interval.high): interval.high -> interval.low": "both bounds are finite, or neither",
    "(Verdict.NOT_APPLICABLE, Verdict.VOID): Verdict.VOID -> Verdict.NOT_APPLICABLE": "a VOID "
    "outcome stays VOID whether its controls are caught or not",
}


def _children(tree: ast.AST) -> Iterator[tuple[ast.AST, str, int | None, ast.AST]]:
    for parent in ast.walk(tree):
        for field, value in ast.iter_fields(parent):
            if isinstance(value, list):
                yield from ((parent, field, i, v) for i, v in enumerate(value))
            elif isinstance(value, ast.AST):
                yield parent, field, None, value


def _changed(node: ast.AST) -> Iterator[ast.AST]:
    """The node's broken versions."""
    if isinstance(node, ast.Compare):
        for table in (_SWAPS, _TURNED):
            if type(node.ops[0]) in table:
                yield ast.Compare(node.left, [table[type(node.ops[0])]()], node.comparators)
    if isinstance(node, ast.BoolOp):
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield ast.BoolOp(other, node.values)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node.operand
    if isinstance(node, ast.IfExp):
        yield ast.IfExp(node.test, node.orelse, node.body)
    if isinstance(node, ast.If):
        yield ast.If(ast.UnaryOp(ast.Not(), node.test), node.body, node.orelse)
    if isinstance(node, ast.Name) and node.id in _NAMES and isinstance(node.ctx, ast.Load):
        yield ast.Name(_NAMES[node.id], node.ctx)
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        others = {"Verdict": Verdict.__members__, "interval": ("low", "high", "estimate")}
        for name in others.get(node.value.id, ()):
            if name != node.attr:
                yield ast.Attribute(node.value, name, node.ctx)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
        yield ast.BinOp(node.left, ast.Add(), node.right)
    if isinstance(node, ast.Constant) and node.value in (True, False) and node.value is not None:
        yield ast.Constant(not node.value)


def mutants(module: Any) -> Iterator[tuple[str, types.ModuleType]]:
    """Every version of ``module`` with one place in one function changed."""
    tree = ast.parse(inspect.getsource(module))
    functions = [f for f in ast.walk(tree) if isinstance(f, ast.FunctionDef)]
    places = [place for f in functions for part in f.body for place in _children(part)]
    places += [(f, "body", i, part) for f in functions for i, part in enumerate(f.body)]
    for parent, field, index, node in places:
        around = ast.unparse(parent).splitlines()[0]
        for changed in _changed(node):
            _put(parent, field, index, changed)
            name = f"{around}: {ast.unparse(node)} -> {ast.unparse(changed)}"
            made = types.ModuleType(module.__name__)
            exec(compile(ast.fix_missing_locations(tree), f"<{name}>", "exec"), vars(made))
            _put(parent, field, index, node)
            yield name, made


def _put(parent: ast.AST, field: str, index: int | None, node: ast.AST) -> None:
    if index is None:
        setattr(parent, field, node)
    else:
        getattr(parent, field)[index] = node


def _survivors(module: Any, errors: Any) -> tuple[int, list[str]]:
    tried, alive = 0, []
    for name, broken in mutants(module):
        tried += 1
        try:
            noticed = next(iter(errors(broken)), None)
        except Exception as error:
            noticed = repr(error)
        if noticed is None and name not in EQUIVALENT:
            alive.append(name)
    return tried, alive


@pytest.mark.usefixtures("_remembered_intervals")
def test_every_broken_version_of_a_rule_is_noticed():
    tried, alive = _survivors(rules, rule_errors)
    assert tried >= 60
    assert alive == []


def test_every_broken_version_of_merging_and_exit_status_is_noticed():
    tried, alive = _survivors(verdict, verdict_errors)
    assert tried >= 30
    assert alive == []
