"""Do recomputed sums deserve trust: the evaluator, the bands, the data, and the verdicts."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claims._kit import deviations
from claims._kit.rules import every_sample_at_most
from claims._kit.verdict import Verdict
from claims.arithmetic import test_sums_come_out as claim_file
from fixtures import arithmetic
from fixtures.arithmetic import Abacus, Interval, Sum, distance, spread
from fixtures.formulas import SumError, evaluate

CLAIM, BOOK = claim_file.CLAIM, claim_file.BOOK
SHAPE = Path(arithmetic.__file__).parent / "models" / "shapes" / "qwen2.5-0.5b.toml"
HALF = Fraction(1, 2)

# What a rounded input's name ends in: its unit, so that a formula can be checked by eye.
UNITS = ("_ms", "_s", "_gib", "_mib", "_percent", "_logit", "_logits", "_millions", "_billions")
RATES = ("_per_s", "_per_byte")

sums = st.sampled_from(BOOK.sums)
SIDES = st.sampled_from(["above", "below"])


def verdict_of(total: Sum, band: Interval) -> Verdict:
    """The verdict on ``total`` if ``band`` were what is printed, by the claim's own rule."""
    sample = float(distance(band, Abacus().recompute(total).interval))
    return every_sample_at_most([sample], CLAIM.figure).verdict


@pytest.mark.parametrize(
    "formula",
    [
        "__import__('os')", "a.real", "a[0]", "(a, a)", "[a]", "lambda: a", "a if a else a",
        "a < a", "a and a", "not a", "a // a", "a % a", "a @ a", "a | a", "+a", "'1'", "True",
        "1.5", "1j", "None", "unknown", "exp", "exp(a, a)", "exp(x=a)", "exp(*a)", "log(a)",
        "a(1)", "(b := 1)", "f'{a}'", "{a: a}", "[x for x in a]",
        "2 ** 17", "2 ** -17", "2 ** (1 / 2)", "", "a = 1", "a; a", "a +",
    ],
)  # fmt: skip
def test_anything_but_arithmetic_is_refused(formula: str) -> None:
    with pytest.raises(SumError):
        evaluate(formula, {"a": Fraction(1)})


def test_arithmetic_is_exact() -> None:
    values = {"a": Fraction("0.1"), "b": Fraction("0.2")}
    assert evaluate("a + b", values) == Fraction("0.3")
    assert evaluate("-a ** 2 / (b - 1) * 3", values) == Fraction(3, 80)
    assert evaluate("2 ** -2", {}) == Fraction(1, 4)
    assert float(evaluate("exp(-a)", values)) == pytest.approx(0.904837418)


_leaves = st.sampled_from(["a", "b", "3", "10"])
_formulas = st.recursive(
    _leaves,
    lambda inner: st.tuples(inner, st.sampled_from("+-*/"), inner).map(
        lambda t: f"({t[0]} {t[1]} {t[2]})"
    ),
    max_leaves=8,
)


@given(_formulas, st.fractions(), st.fractions())
def test_formulas_agree_with_python(formula: str, a: Fraction, b: Fraction) -> None:
    values = {"a": a, "b": b}
    python = {**values, "F": Fraction}
    try:
        # Python's own fractions are the reference; the text was drawn from four signs above.
        right = eval(formula.replace("3", "F(3)").replace("10", "F(10)"), {}, python)
    except ZeroDivisionError:
        with pytest.raises(ZeroDivisionError):
            evaluate(formula, values)
        return
    assert evaluate(formula, values) == right


@pytest.mark.parametrize(
    ("read_as", "value", "low", "high"),
    [
        ("digits", "33", "32.5", "33.5"),
        ("digits", "33.0", "32.95", "33.05"),
        ("digits", "0.35", "0.345", "0.355"),
        ("about", "10", "9", "11"),
        ("about", "1.5", "1.4", "1.6"),
        ("round", "70", "63", "77"),
        ("unit-fraction", "9", "2/19", "2/17"),
        ("unit-fraction", "2", "2/5", "2/3"),
        ("nearly", "50", "40", "50"),
    ],
)
def test_wording_makes_the_band(read_as: str, value: str, low: str, high: str) -> None:
    assert arithmetic.READINGS[read_as](value) == Interval(Fraction(low), Fraction(high))


@pytest.mark.parametrize("digits", ["1,024", "", "nan", "1e3", "-1", "1/2", ".5", "5.", "１"])
def test_only_plain_digits_are_rounded_inputs(digits: str) -> None:
    with pytest.raises(SumError):
        spread(digits)


@pytest.mark.parametrize("number", [True, 1.5, None])
def test_an_input_is_a_count_or_digits(number: object) -> None:
    with pytest.raises(SumError):
        spread(number)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"read_as": "generous"}, "no reading"),
        ({"read_as": "about"}, "band_why is empty"),
        ({"formula": "resent_tokens"}, "differ in cached_tokens"),
        ({"inputs": {}}, "differ in cached_tokens, resent_tokens"),
        ({"value": "5,55"}, "no plain decimal number"),
        ({"formula": "resent_tokens /"}, "no formula"),
    ],
)
def test_a_sum_that_is_written_wrongly_says_so(change: dict, says: str) -> None:
    good = claim_file.SUMS["token-bill-ratio"]
    with pytest.raises(SumError, match=says):
        replace(good, **change).check()


def test_a_name_used_twice_is_refused(tmp_path: Path) -> None:
    entry = (
        '[[sum]]\nname = "a"\ndocument = "d"\nplace = "p"\nprinted = "1"\nvalue = "1"\n'
        'unit = "x"\nformula = "b"\ninputs = { b = 1 }\n'
    )
    (tmp_path / "sums.toml").write_text(entry * 2)
    with pytest.raises(SumError, match="a is there twice"):
        arithmetic.read_book(tmp_path / "sums.toml")


def test_the_book_is_whole() -> None:
    assert len(BOOK.sums) >= 45
    assert len({total.name for total in BOOK.sums}) == len(BOOK.sums)
    documents = {total.document for total in BOOK.sums}
    assert documents == {"one-call", "inference-chapter", "where-time-goes"}
    assert all(entry["why"] for entry in BOOK.left_out)


@pytest.mark.parametrize("total", BOOK.sums, ids=lambda total: total.name)
def test_measured_inputs_carry_their_unit(total: Sum) -> None:
    measured = [name for name, number in total.inputs.items() if isinstance(number, str)]
    assert all(name.endswith(UNITS + RATES) for name in measured), measured


def test_inputs_from_the_published_shape_are_its_own() -> None:
    shape = tomllib.loads(SHAPE.read_text())
    norms = claim_file.SUMS["normalizations-per-step"].inputs
    mlp = claim_file.SUMS["mlp-share-of-weights"].inputs
    assert norms["layers"] == mlp["layers"] == shape["num_hidden_layers"]
    assert mlp["hidden_width"] == shape["hidden_size"]
    assert mlp["mlp_width"] == shape["intermediate_size"]


@given(sums, st.data())
def test_no_point_inside_beats_the_corners(total: Sum, data: st.DataObject) -> None:
    inside = {}
    for name, number in total.inputs.items():
        ends = spread(number)
        along = data.draw(st.fractions(0, 1, max_denominator=50), label=name)
        inside[name] = ends.low + along * (ends.high - ends.low)
    interval = Abacus().recompute(total).interval
    slack = abs(interval.high) / 10**12  # exp is a float
    assert interval.low - slack <= evaluate(total.formula, inside) <= interval.high + slack


@given(sums, SIDES, st.fractions(min_value=Fraction(1, 10**6), max_value=1000))
def test_a_wrong_printed_number_is_refuted(total: Sum, side: str, beyond: Fraction) -> None:
    interval, half = Abacus().recompute(total).interval, total.band.half_width
    reach = half * (1 + beyond)
    middle = interval.high + reach if side == "above" else interval.low - reach
    assert verdict_of(total, Interval(middle - half, middle + half)) is Verdict.REFUTED


@given(sums, SIDES, st.fractions(min_value=0, max_value=1))
def test_a_printed_number_within_reach_is_confirmed(
    total: Sum, side: str, within: Fraction
) -> None:
    interval, half = Abacus().recompute(total).interval, total.band.half_width
    middle = interval.high + half * within if side == "above" else interval.low - half * within
    assert verdict_of(total, Interval(middle - half, middle + half)) is Verdict.CONFIRMED


def test_the_distance_is_one_where_the_intervals_touch() -> None:
    printed = Interval(Fraction(2), Fraction(3))
    assert distance(printed, Interval(Fraction(3), Fraction(9))) == 1
    assert distance(printed, Interval(Fraction(0), Fraction(2))) == 1
    assert distance(printed, Interval(Fraction(0), Fraction(9))) == 0
    assert distance(printed, Interval(4 + HALF, Fraction(9))) == 4


def test_exactly_the_listed_sums_are_refuted() -> None:
    refuted = {t.name for t in BOOK.sums if verdict_of(t, t.band) is Verdict.REFUTED}
    listed = [d for d in deviations.read() if d.claim == CLAIM.id]
    assert refuted == {d.case for d in listed}
    assert {d.target for d in listed} == {"*"}  # no model has a part in it


@pytest.mark.parametrize("control", CLAIM.controls, ids=lambda control: control.name)
def test_the_fault_alone_refutes_a_sum_that_comes_out(control) -> None:
    case = CLAIM.case(control.case)
    honest = CLAIM.judge(case, claim_file.measure(Abacus(), case))
    planted = CLAIM.judge(case, claim_file.measure(control.plant(Abacus()), case))
    assert (honest.verdict, planted.verdict) == (Verdict.CONFIRMED, Verdict.REFUTED)
