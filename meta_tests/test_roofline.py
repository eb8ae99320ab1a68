"""Passes under their roofs: what is counted, what the page draws of it, and what it does not."""

from __future__ import annotations

import re
import types
from math import hypot, inf, nan
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from claims._kit.measure import Measured
from fixtures import loading, probes, roofline, targets
from fixtures.counting import Counting, engine_of
from fixtures.engines.transformers_engine import TransformersEngine
from fixtures.faults.counting import SlowClock
from fixtures.targets import shape_of
from meta_tests import charted
from meta_tests.pages import Parsed
from reports import labels, page
from reports import roofline as drawn
from reports.labels import Box
from reports.model import view

SHAPE = "qwen2.5-0.5b"
ODD = "<b>&\u202e_$x$"


@pytest.fixture(scope="module")
def engine() -> TransformersEngine:
    model = loading.from_shape("tiny", device="cpu", seed=0)
    target = targets.random_weights("tiny")
    return TransformersEngine(target, model, None, "cpu", rehearsal=True)


# What is counted ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("new", "past", "batch", "intensity"),
    [(1024, 0, 1, 1056.2), (1, 1023, 1, 1.075), (1, 511, 16, 15.17)],
)
def test_intensities_are_those_of_the_source(new, past, batch, intensity):
    """The published 1,056, 1.1 and about 15 operations a byte, from the shape alone."""
    on = engine_of(shape_of(SHAPE), device="meta")
    operations, moved = roofline.cost(on, new=new, past=past, batch=batch)
    assert operations / moved == pytest.approx(intensity, rel=1e-3)


@pytest.mark.parametrize(("new", "past", "batch"), [(7, 0, 1), (1, 9, 1), (1, 9, 3)])
def test_operations_are_those_that_torch_counts(engine, new, past, batch):
    """The derived number of a real pass of the tiny model is the counted one."""
    eager = engine.variant(attention="eager")
    counted = Counting().flops(eager, new, past=past, batch=batch).causal(new, past=past).all
    operations, _ = roofline.cost(engine, new=new, past=past, batch=batch)
    assert operations == counted


def test_a_share_is_the_rate_over_the_lower_of_two_bounds():
    """Left of the ridge memory bounds, right of it arithmetic."""
    low = roofline.Passes([2.0, 1.0, 4.0], 100, 50, bytes_per_s=100.0, operations_per_s=1000.0)
    assert (low.intensity, low.roof, low.rate) == (2.0, 200.0, 50.0)
    assert low.shares == [0.25, 0.5, 0.125]
    high = roofline.Passes([1.0], 100, 1, bytes_per_s=100.0, operations_per_s=1000.0)
    assert (high.roof, high.shares) == (1000.0, [0.1])


def test_the_page_reads_the_names_that_the_probes_write(engine):
    """Both sides name the roofs alike; neither imports the other."""
    names = {drawn.BANDWIDTH: drawn.GIGA, drawn.MATMUL: drawn.TERA}
    assert names == probes.ROOFS
    assert set(probes.ROOFS) <= set(probes.all_of("cpu", small=True))
    one = roofline.Passes([1.0], 100, 50, bytes_per_s=3e9, operations_per_s=4e12)
    roofs = drawn.roofs_of([one.chart(series="s", mark="m")["roofs"]])
    assert (roofs.bytes_per_s, roofs.operations_per_s) == (3e9, 4e12)


@pytest.mark.parametrize("size", [{"batch": 2, "context": 4}, {"tokens": 4}])
def test_a_slow_clock_beats_the_roof_and_an_honest_one_has_a_share(engine, size):
    """The control, for a decode step and for a prefill."""
    honest, _, mark = roofline.passes(engine, **size)
    slow, _, _ = roofline.passes(SlowClock(engine), **size)
    assert len(honest.shares) == roofline.ROUNDS
    assert all(share > 0 for share in honest.shares)
    assert min(slow.shares) > 1
    assert mark == str(size.get("batch") or size["tokens"])


def test_a_probe_after_the_passes_can_raise_the_roof(engine, monkeypatch):
    """The best of before and after bounds: a busy moment slows one of them."""
    found = iter([(1.0, 8.0), (2.0, 4.0)])
    monkeypatch.setattr(roofline, "_roofs", lambda _: next(found))
    run = roofline.prefills(engine, tokens=2, rounds=1)
    assert (run.bytes_per_s, run.operations_per_s) == (2.0, 8.0)


def test_models_whose_cost_is_not_known_are_out_of_scope(engine):
    """Another layout, or weights of fewer bits than the probe multiplies."""
    assert roofline.out_of_scope(engine) == ""
    config = types.SimpleNamespace(model_type="mamba")
    other = types.SimpleNamespace(config=types.SimpleNamespace(get_text_config=lambda: config))
    assert "mamba" in roofline.out_of_scope(types.SimpleNamespace(model=other))
    narrow = types.SimpleNamespace(
        config=engine.model.config, parameters=lambda: [torch.zeros(1, dtype=torch.int8)]
    )
    assert "16 bits" in roofline.out_of_scope(types.SimpleNamespace(model=narrow))


# What is drawn -----------------------------------------------------------------------------------


def part(rows: list[dict[str, Any]]) -> str:
    """The page's part about the sweep, once."""
    body = page.body(rows)
    assert Parsed(body).faults == []
    found = re.findall(r'<div class="sweep">.*?</table></div></div>', body, re.DOTALL)
    assert len(found) == 1
    return found[0]


def marked(shown: str) -> list[str]:
    """Texts of the drawing, in its order."""
    return re.findall(r"<text[^>]*>([^<]*)</text>", shown.split("</svg>", maxsplit=1)[0])


def cells(shown: str) -> dict[str, list[str]]:
    """Cells of the table by the case they belong to."""
    rows = re.findall(r'<tr><th scope="row"><bdi>(.*?)</bdi></th>(.*?)</tr>', shown, re.DOTALL)
    return {name: re.findall(r"<td>(.*?)</td>", rest) for name, rest in rows}


def test_points_roofs_and_ridge_are_drawn_and_tabulated(tmp_path):
    shown = part(charted.rows(tmp_path, charted.passes()))
    texts = marked(shown)
    for said in (
        "read bandwidth, 274 GB/s",
        "16-bit matmul, 20.8 TFLOP/s",
        "ridge, 75.9 operations a byte",
        "decode, by batch",
        "prefill, by tokens",
        *charted.DECODE,
        *charted.PREFILL,
    ):
        assert said in texts
    assert cells(shown)["prefill, 1,024 tokens"][1:] == ["1,056", "6.2", "20.8", "0.2981"]
    assert cells(shown)["decode, batch 1"][1:] == ["1.08", "0.033", "0.2959", "0.1115"]
    assert len(cells(shown)) == 8
    assert "#0300" not in shown


def test_the_same_rows_give_the_same_bytes(tmp_path):
    rows = charted.rows(tmp_path, charted.passes())
    assert page.body(rows) == page.body(rows)


def test_marks_lie_where_their_numbers_are(tmp_path):
    """Equal steps for equal factors, upwards and to the right."""
    cases = {f"{n}": charted.point("s", "", 10.0**n, 10.0 ** (9 + n)) for n in range(3)}
    shown = part(charted.rows(tmp_path, cases)).split("</svg>")[0]
    found = re.findall(r'<use[^>]* x="([\d.]+)" y="([\d.]+)"[^>]*--series-1', shown)
    # The fourth is the legend's.
    (x0, y0), (x1, y1), (x2, y2) = [tuple(map(float, place)) for place in found[:3]]
    assert x1 - x0 == pytest.approx(x2 - x1, abs=0.01)
    assert y1 - y0 == pytest.approx(y2 - y1, abs=0.01)
    assert x1 - x0 > 10
    assert y0 - y1 > 10


def test_the_bound_changes_at_the_ridge():
    roofs = drawn.Roofs(274e9, 20.8e12)
    assert roofs.ridge == pytest.approx(75.9, abs=0.05)
    assert roofs.at(1.0) == 274e9
    assert roofs.at(1000.0) == 20.8e12


def test_the_highest_roof_of_the_run_bounds(tmp_path):
    """A probe beside a pass may see more than the one before the run, never is less believed."""
    better = {"read bandwidth, GB/s": 300.0, "16-bit matmul, TFLOP/s": 10.0}
    one = charted.point("decode", "1", 1.0, 1e9, roofs=better)
    texts = marked(part(charted.rows(tmp_path, {"one": one})))
    assert "read bandwidth, 300 GB/s" in texts
    assert "16-bit matmul, 20.8 TFLOP/s" in texts


@pytest.mark.parametrize("told", [{}, None, [], "probes", {"read bandwidth, GB/s": "nan"}])
def test_without_probes_there_is_no_roof_and_the_page_says_so(tmp_path, told):
    shown = part(charted.rows(tmp_path, charted.passes(), probes=told))
    assert "No probe of read bandwidth, GB/s and 16-bit matmul, TFLOP/s" in shown
    assert "ridge" not in shown
    assert {"1", "2,048"} <= set(marked(shown))
    assert cells(shown)["decode, batch 1"][3:] == ["none", "none"]


@pytest.mark.parametrize("name", ["read bandwidth, GB/s", "16-bit matmul, TFLOP/s"])
def test_a_single_roof_is_drawn_alone(tmp_path, name):
    shown = part(charted.rows(tmp_path, charted.passes(), probes={name: charted.PROBES[name]}))
    assert f"No probe of {({*probes.ROOFS} - {name}).pop()} is kept here" in shown
    assert "ridge" not in shown


@pytest.mark.parametrize("strange", [nan, inf, -inf, 0.0, -1.0, 1e300, 5e-324])
def test_a_rate_that_has_no_place_is_tabulated_and_not_drawn(tmp_path, strange):
    cases = {**charted.passes(), "strange": charted.point("decode, by batch", "odd", 2.0, strange)}
    shown = part(charted.rows(tmp_path, cases))
    assert "odd" not in marked(shown)
    assert cells(shown)["strange"] == ["<bdi>odd</bdi>", "2", "none", "0.548", "none"]


def test_hostile_names_stay_text(tmp_path):
    odd, long = charted.point(ODD, ODD, 2.0, 1e9), charted.point("x" * 999, "y" * 999, 3.0, 1e9)
    body = page.body(charted.rows(tmp_path, {ODD: odd, "long": long}))
    assert Parsed(body).faults == []
    assert "\u202e" not in body
    assert "<b>&" not in body
    assert "x" * 41 not in body.split("Notes")[0]


@pytest.mark.parametrize(
    "notes",
    [
        {"chart": "roofline"},
        {"chart": {"kind": "roofline"}},
        {"chart": {"kind": ["roofline"]}},
        {"chart": {"kind": "roofline", "roofs": [1], "mark": None, "series": {"a": 1}}},
        {"chart": {"kind": "no such kind"}},
    ],
)
def test_a_note_that_asks_for_nonsense_breaks_nothing(tmp_path, notes):
    one = Measured(samples=[0.5], notes=notes)
    assert Parsed(page.body(charted.rows(tmp_path, {"one": one}))).faults == []


def test_points_far_apart_and_many_are_still_drawn(tmp_path):
    far = {f"{n}": charted.point("s", f"{n}", 10.0**n, 10.0**n) for n in range(-30, 31, 6)}
    assert 'class="chart"' in part(charted.rows(tmp_path / "a", far))
    many = {f"{n}": charted.point("s", f"m{n}", n + 1.0, 1e9) for n in range(61)}
    assert "m5" not in marked(part(charted.rows(tmp_path / "b", many)))


def test_a_claim_without_the_note_keeps_its_sweep(tmp_path):
    plain = {f"{n} tokens": Measured(samples=[0.5], x=n, points={"ms": n}) for n in (1, 2)}
    shown = part(charted.rows(tmp_path, plain))
    assert "Chart of ms over tokens" in shown


def test_probes_are_the_runs(tmp_path):
    assert view(charted.rows(tmp_path, charted.passes())).claims[0].probes == charted.PROBES


# Labels ------------------------------------------------------------------------------------------

FRAME = Box(150.0, 100.0, 150.0, 100.0)
spots = st.tuples(
    st.floats(0, 300), st.floats(0, 200), st.text(alphabet="0123456789,", min_size=1, max_size=6)
)


@settings(deadline=None, derandomize=True)
@given(st.lists(spots, max_size=25))
def test_no_label_lies_on_another_or_on_a_mark_or_outside(points):
    found = [box for box in labels.placed(points, inside=FRAME, size=9.0) if box]
    for number, box in enumerate(found):
        assert FRAME.holds(box)
        assert not any(box.meets(other) for other in found[:number])
        assert not any(box.meets(Box(x, y, 3.9, 3.9)) for x, y, _ in points)


@settings(deadline=None, derandomize=True)
@given(st.lists(spots, min_size=2, max_size=25))
def test_a_label_is_nearest_to_its_own_mark(points):
    for (x, y, _), box in zip(points, labels.placed(points, inside=FRAME, size=9.0), strict=True):
        if box:
            own = distance(box, x, y)
            assert all(own <= distance(box, at, up) for at, up, _ in points)


def distance(box: Box, x: float, y: float) -> float:
    """From a point to the nearest edge."""
    wide, high = abs(box.x - x) - box.half_width, abs(box.y - y) - box.half_height
    return hypot(max(wide, 0.0), max(high, 0.0))


def test_a_lone_label_has_a_place_and_keeps_off_lines_if_it_can():
    line = [Box(x, 50.0, 2.0, 2.0) for x in range(60, 200)]
    (box,) = labels.placed([(50.0, 50.0, "64")], inside=FRAME, avoid=line, size=9.0)
    assert box
    assert not any(box.meets(each) for each in line)
    wall = [Box(x, y, 2.0, 2.0) for x in range(0, 300, 2) for y in range(0, 200, 2)]
    assert labels.placed([(50.0, 50.0, "64")], inside=FRAME, avoid=wall, size=9.0) != [None]


def test_a_label_without_room_is_left_out():
    assert labels.placed([(5.0, 5.0, "64")], inside=Box(5, 5, 6, 6), size=9.0) == [None]
