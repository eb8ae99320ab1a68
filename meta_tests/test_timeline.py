"""Two steps kernel by kernel: what a ledger keeps of them, and what the page draws of that."""

from __future__ import annotations

import re
import types
from itertools import pairwise
from math import inf, nan
from typing import Any

import pytest

from fixtures import tracing
from fixtures.engines.trace import Kernel, Trace
from fixtures.faults.tracing import LaunchedTraced
from fixtures.tracing import Profile
from meta_tests import charted
from meta_tests.charted import row
from meta_tests.pages import Parsed
from reports import page, timeline

ODD = "<b>&\u202e"

# What a ledger keeps -----------------------------------------------------------------------------


def trace(kernels: int, step: float, duration: float = 3.26, launches: int = 7) -> Trace:
    found = [Kernel(100 + n * step, duration, f"kernel {n}") for n in range(kernels)]
    return Trace(found, launches)


def profiles(*kernels: int) -> dict[str, Profile]:
    """A launched and a replayed step, traced once for each number of kernels."""
    launched = Profile(1.0, [trace(n, 28.13) for n in kernels])
    return {"launched": launched, "graph": Profile(1.0, [trace(n, 3.8) for n in kernels])}


ON_CPU = types.SimpleNamespace(device="cpu")


def kept(seen: dict[str, Profile], **on: Any) -> dict[str, Any]:
    return tracing.timeline(types.SimpleNamespace(**{"device": "cpu", **on}), seen)["chart"]


def test_one_trace_of_each_is_kept_to_a_tenth_of_a_microsecond():
    """The one of middle length, from its first kernel on, with sums over the whole of it."""
    launched, replayed = kept(profiles(2, 9, 4))["rows"]
    assert launched["name"] == "launched one by one"
    assert launched["start, us"] == [0.0, 28.1, 56.3, 84.4]
    assert launched["duration, us"] == [3.3] * 4
    middle = trace(4, 28.13)
    assert launched["busy, us"] == middle.busy_us
    assert launched["typical gap, us"] == middle.typical_gap_us
    assert launched["typical kernel, us"] == middle.typical_kernel_us
    assert launched["span, us"] == pytest.approx(3 * 28.13 + 3.26)
    assert (launched["launches"], launched["kernels"]) == (7, 4)
    assert replayed["start, us"] == [0.0, 3.8, 7.6, 11.4]


def test_a_long_trace_is_cut_and_its_sums_are_not():
    long, _ = kept(profiles(5000))["rows"]
    assert len(long["start, us"]) == len(long["duration, us"]) == tracing.DRAWN_KERNELS == 2000
    assert long["kernels"] == 5000
    assert long["busy, us"] == pytest.approx(5000 * 3.26)


def test_a_planted_fault_keeps_none():
    """The control of a claim goes through the same measure; a ledger holds the traces once."""
    seen = profiles(3)
    assert tracing.timeline(ON_CPU, seen)
    assert tracing.timeline(LaunchedTraced(ON_CPU), seen) == {}


def test_operations_of_a_cpu_are_not_called_kernels():
    assert kept(profiles(3))["bar"] == "an operation of the CPU in the place of a kernel"
    assert kept(profiles(3), device="cuda")["bar"] == "a kernel"


def test_the_length_of_a_trace_reaches_to_its_last_end():
    """A kernel that runs beside others may end last."""
    long = Trace([Kernel(10.0, 50.0, "a"), Kernel(20.0, 1.0, "b")], 2)
    assert long.span_us == 50.0
    assert Trace([], 0).span_us == 0.0


# What the page draws -----------------------------------------------------------------------------


def part(rows: list[dict[str, Any]]) -> str:
    body = page.body(rows)
    assert Parsed(body).faults == []
    found = re.findall(r'<div class="timeline">.*?</table></div></div>', body, re.DOTALL)
    assert len(found) == 1
    return found[0]


def bars(shown: str) -> list[list[tuple[float, float]]]:
    """(left, width) of each bar by strip, on an axis of 1,000."""
    paths = re.findall(r'<path class="bars" d="([^"]*)"/>', shown)
    found = [re.findall(r"M([\d.]+) 0h([\d.]+)v10h-([\d.]+)z", path) for path in paths]
    assert all(there == back for strip in found for _, there, back in strip)
    return [[(float(left), float(width)) for left, width, _ in strip] for strip in found]


def test_two_rows_share_one_axis_and_show_their_gaps(tmp_path):
    """40 us across: a kernel of 4 us is a tenth of it, in either row."""
    launched = row("launched", [5.0, 25.0], [4.0, 4.0])
    replayed = row("replayed", [7.0, 11.5], [4.0, 4.0])
    shown = part(charted.rows(tmp_path, charted.timeline(launched, replayed)))
    assert "The whole of each: 24 µs across" in shown
    first, second = bars(shown)
    assert first == [(0.0, 166.667), (833.333, 166.667)]
    assert second == [(0.0, 166.667), (187.5, 166.667)]
    assert "<span>0</span><span>6</span><span>12</span><span>18</span>" in shown


def test_many_kernels_are_also_shown_closer(tmp_path):
    """From the middle of both, on one axis, with about twenty launched ones."""
    shown = part(charted.rows(tmp_path, charted.source_like()))
    whole, whole_2, closer, closer_2 = bars(shown)
    assert (len(whole), len(whole_2)) == (1414, 1414)
    assert 18 <= len(closer) <= 30
    assert closer[0][0] == closer_2[0][0] == 0.0
    assert closer[0][1] == pytest.approx(closer_2[0][1])
    gaps = [right - left - wide for (left, wide), (right, _) in pairwise(closer)]
    assert min(gaps) > 5 * closer[0][1]
    assert re.search(r"Closer, from the middle of each: \d+ µs across", shown)


def test_few_kernels_are_not_shown_twice(tmp_path):
    shown = part(charted.rows(tmp_path, charted.timeline(row("a", *charted.trace(48, 1.0)))))
    assert "Closer" not in shown
    assert len(bars(shown)) == 1


def test_a_window_never_reaches_beyond_a_trace_that_is_long_enough(tmp_path):
    launched = row("a", *charted.trace(50, 1.0))
    ends_late = row("b", [*(0.1 * n for n in range(49)), 1000.0], [0.1] * 50)
    shown = part(charted.rows(tmp_path, charted.timeline(launched, ends_late)))
    assert all(strip for strip in bars(shown))


def test_sentence_and_table_say_what_the_ledger_says(tmp_path):
    sums = {"kernels": 1500, "span, us": 33000.0, "busy, us": 6270.0, "typical kernel, us": 3.4}
    shown = part(charted.rows(tmp_path, charted.timeline(row("launched", [0.0], [3.4], **sums))))
    said = Parsed(shown).text
    assert "Each bar is a kernel; between bars nothing ran." in said
    assert "Typical gap: 24.9 µs launched." in said
    assert "Of launched, 1 of 1,500 kernels are drawn." in said
    cells = re.findall(r"<td>(.*?)</td>", shown)
    assert cells == ["1", "1,500", "33,000", "6,270", "24.9", "3.4", "0.19"]
    assert "profiler" in said


def test_the_numbers_are_not_listed_again_and_other_notes_are(tmp_path):
    body = page.body(charted.rows(tmp_path, charted.source_like()))
    assert "start, us" not in body
    assert "<bdi>traces</bdi>" in body


def test_the_same_rows_give_the_same_bytes(tmp_path):
    rows = charted.rows(tmp_path, charted.source_like())
    assert page.body(rows) == page.body(rows)


@pytest.mark.parametrize(
    "strange",
    [nan, inf, -inf, -1.0, "5", None, True, [1.0], 10**400, 1e300],
    ids=["nan", "inf", "-inf", "-1", "text", "none", "true", "list", "beyond a float", "long"],
)
def test_a_bar_that_has_no_place_is_left_out_and_said(tmp_path, strange):
    """As a duration; the bars beside it stay where they are."""
    odd = row("a", [0.0, 10.0, 20.0], [4.0, 4.0, 4.0])
    rows = charted.rows(tmp_path, charted.timeline(odd))
    samples = next(r for r in rows if r["kind"] == "samples" and r["role"] == "subject")
    samples["notes"]["chart"]["rows"][0]["duration, us"][1] = strange
    shown = part(rows)
    assert [left for left, _ in bars(shown)[0]] == [0.0, 833.333]
    assert "Of a, 2 of 3 kernels are drawn." in Parsed(shown).text


def test_kernels_of_no_duration_have_no_width(tmp_path):
    shown = part(charted.rows(tmp_path, charted.timeline(row("a", [0.0, 8.0], [0.0, 0.0]))))
    assert bars(shown) == [[]]
    nothing = part(charted.rows(tmp_path / "b", charted.timeline(row("a", [5.0], [0.0]))))
    assert "<svg" not in nothing
    assert "<figure" not in nothing


@pytest.mark.parametrize(
    "chart",
    [
        {"rows": []},
        {"rows": "none"},
        {"rows": [None, 5]},
        {"rows": [{}]},
        {"rows": [{"name": "a", "start, us": 5, "duration, us": {"a": 1}}], "bar": 7},
        {"rows": [{"name": "no kernels", "start, us": [], "duration, us": []}]},
        {"rows": [{"kernels": "nan", "start, us": [1.0, 2.0], "duration, us": [1.0]}]},
        {"rows": [{"kernels": -5, "busy, us": 1.0, "span, us": 0.0}]},
    ],
)
def test_nonsense_breaks_nothing_and_stays_readable(tmp_path, chart):
    """What cannot be drawn stands among the notes."""
    rows = charted.rows(tmp_path, charted.timeline(**chart))
    body = page.body(rows)
    assert Parsed(body).faults == []
    assert ('class="bars"' in body) != ("<bdi>chart</bdi>" in body)


def test_hostile_names_stay_text(tmp_path):
    odd = row(ODD, [0.0], [1.0])
    body = page.body(charted.rows(tmp_path, charted.timeline(odd, bar=ODD)))
    assert Parsed(body).faults == []
    assert "\u202e" not in body
    assert "<b>&" not in body


def test_rows_and_bars_beyond_the_bound_are_left_out(tmp_path):
    """A ledger of somebody else's may hold more than ours writes."""
    long = row("long", [float(n) for n in range(3000)], [0.5] * 3000)
    rows = charted.rows(tmp_path, charted.timeline(long, *[row("more", [0.0], [1.0])] * 9))
    shown = part(rows)
    assert len(bars(shown)[0]) == timeline.MOST_BARS
    assert "Of long, 2,000 of 3,000 kernels are drawn." in Parsed(shown).text
    assert shown.count('<th scope="row">') == timeline.MOST_ROWS
    assert "4 rows cannot be shown." in shown


@pytest.mark.parametrize("length", [1e-3, 0.9, 4.0, 33_120.0, 36_001.0, 9.99e11])
def test_an_axis_reaches_as_far_as_its_bars_and_little_further(length):
    assert length <= timeline.axis(length) * (1 + 1e-9)
    assert timeline.axis(length) < 1.5 * length
