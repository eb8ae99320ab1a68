"""Published measurements, and the claims that judge them, on a played device of the source."""

from __future__ import annotations

import tomllib
import types
from collections import Counter
from itertools import pairwise
from typing import Any

import pytest
import torch

from claims._kit.measure import NotApplicable
from claims._kit.verdict import Verdict
from fixtures import (
    attention_kernels,
    graphs,
    loading,
    probes,
    profiler_tax,
    published,
    reproduced,
    settings,
    stages,
    targets,
    tracing,
)
from fixtures.engines.capture import LaunchedStep
from fixtures.engines.trace import Kernel, Trace
from fixtures.engines.transformers_engine import TransformersEngine
from fixtures.equivalence import layers_of
from fixtures.reproduced import steps
from meta_tests import made_up
from meta_tests.made_up import ROOT
from meta_tests.readme_table import load

FILES = {
    "passes": "phases/test_published_step_times.py",
    "replies": "phases/test_published_reply_times.py",
    "batches": "batching/test_published_batch_times.py",
    "chats": "prefix/test_published_first_tokens.py",
    "rungs": "roofline/test_published_rungs.py",
    "parts": "roofline/test_published_parts.py",
    "traces": "roofline/test_published_traces.py",
}
CLAIMS = {kind: load(ROOT / "claims" / file) for kind, file in FILES.items()}
BOOK = tomllib.loads(published.BOOK.read_text(encoding="utf-8"))
VALUES = [value for kind in FILES for value in published.values(kind)]


# The book ----------------------------------------------------------------------------------------


def test_every_row_is_read_by_a_claim_and_every_claim_reads_rows():
    assert len(VALUES) == len(BOOK["value"])
    assert set(FILES) == set(reproduced.KINDS) == {row["claim"] for row in BOOK["value"]}
    for kind, claim in CLAIMS.items():
        assert [case.name for case in claim.cases] == [v.name for v in published.values(kind)]


def test_no_two_rows_of_a_claim_measure_the_same_for_the_same_value():
    keys = Counter((v.claim, str(v.setting), v.what, str(v.params), v.low, v.high) for v in VALUES)
    assert [key for key, count in keys.items() if count > 1] == []


@pytest.mark.parametrize("value", VALUES, ids=[f"{v.claim}: {v.name}" for v in VALUES])
def test_a_row_says_what_a_reader_needs(value):
    assert 0 < value.low <= value.high
    assert value.source in {"one-call", "where-time-goes"}
    assert value.place
    assert value.printed
    assert value.unit
    assert len(value.why) >= 100
    assert 0 < value.band < 1


def test_what_is_left_out_says_why():
    for row in BOOK["left_out"]:
        assert row["printed"]
        assert len(row["why"]) >= 20


@pytest.mark.parametrize("kind", FILES)
def test_each_setting_of_a_claim_has_a_control(kind):
    """Elsewhere than in its setting a control is out of scope, so each setting needs its own."""
    wanted = {value.setting for value in published.values(kind)}
    cases = {value.name: value for value in published.values(kind)}
    tried = {cases[control.case].setting for control in CLAIMS[kind].controls}
    assert tried == wanted
    assert set(published.controlled(kind)) <= {control.case for control in CLAIMS[kind].controls}


def test_the_turns_of_the_chat_sum_to_what_was_published():
    full, cached = published.values("chats")[2:]
    assert sum(full.params["new"]) == 5549
    assert sum(cached.params["new"]) == 999
    assert cached.params["tokens"][-1] == 963
    turns = cached.params["tokens"]
    grown = [after - before + 4 for before, after in pairwise(turns)]
    assert cached.params["new"] == [turns[0], *grown]
    assert published.values("chats")[1].params["new"] == [grown[-1]]


# The settings ------------------------------------------------------------------------------------


@pytest.fixture
def played(monkeypatch):
    """Sets the device that the run seems to be on, whose attention nothing fuses."""

    def on(device: str, *, fused: str = "") -> None:
        monkeypatch.setattr(settings, "device_of", lambda _engine: device)
        tried = {"flash": fused or "refuses", "unfused": "runs"}
        monkeypatch.setattr(attention_kernels, "tried", lambda *_a: tried)

    return on


NAMES = {"8B": "NVIDIA A100-SXM4-40GB", "0.5B": "Tesla T4", "1.5B": "Tesla T4", "card": "Tesla T4"}


@pytest.mark.parametrize("name", NAMES)
def test_a_setting_is_met_on_its_device_with_its_model_and_on_no_other(played, name):
    setting = settings.BY_NAME[name]
    played(NAMES[name])
    engine = device_of(setting)
    assert settings.unmatched(engine, setting) == ""
    other = device_of(settings.T4_LARGE if setting is settings.T4_SMALL else settings.T4_SMALL)
    assert bool(settings.unmatched(other, setting)) == bool(setting.shape)
    played("NVIDIA H200")
    assert "H200" in settings.unmatched(engine, setting)


def test_a_hub_id_is_taken_by_the_models_name(played):
    played("Tesla T4")
    engine = device_of(settings.T4_SMALL)
    engine.target = targets.described("Qwen/Qwen2.5-0.5B")
    assert settings.unmatched(engine, settings.T4_SMALL) == ""
    engine.target = targets.described("Qwen/Qwen2.5-0.5B-Instruct")
    assert "Instruct" in settings.unmatched(engine, settings.T4_SMALL)


def test_a_setting_without_fused_attention_is_not_met_where_a_fused_kernel_runs(played):
    played("Tesla T4", fused="runs")
    engine = device_of(settings.T4_SMALL)
    assert "here these do: flash" in settings.unmatched(engine, settings.T4_SMALL)
    assert settings.unmatched(engine, settings.BY_NAME["card"]) == ""


# A played device, whose passes take the published time -------------------------------------------


class Played(TransformersEngine):
    """A tiny model whose passes move a made-up clock; ``took`` gives a pass's seconds."""

    now = 0.0
    took: Any = staticmethod(lambda _ids: 0.0)

    @classmethod
    def spend(cls, seconds: float) -> None:
        cls.now += seconds

    def clock(self) -> float:
        return type(self).now

    def forward(self, ids: torch.Tensor, cache: Any = None, **how: Any) -> torch.Tensor:
        self.spend(type(self).took(ids))
        return super().forward(ids, cache, **how)


def device_of(setting: settings.Setting, took: Any = lambda _ids: 0.0) -> Played:
    """An engine of a class of its own, so that each has its own clock."""
    model = loading.from_shape("tiny", device="cpu", seed=0, dtype=torch.bfloat16)
    target = targets.random_weights(setting.shape or "qwen2.5-0.5b")
    kind = type("Device", (Played,), {"took": staticmethod(took)})
    return kind(target, model, None, "cpu")


def pass_ms(value: published.Value, engine: Any) -> tuple[float, float]:
    """Milliseconds of a pass over a prompt and of a step that make ``value`` come out."""
    v, size = value.high, value.params
    weights = engine.weight_bytes()
    if value.claim == "passes":
        return {
            "prefill": (v, v),
            "step": (v, v),
            "prefill rate": (1e3 * size["tokens"] / v, 1.0),
            "step rate": (1.0, 1e3 / v),
            "step per prefilled token": (size["tokens"] / v, 1.0),
            "weights rate, GiB": (1.0, 1e3 * weights / 2**30 / v),
            "weights rate, GB": (1.0, 1e3 * weights / 1e9 / v),
            "prefill share": (v, (1 - v) / size.get("reply", 1)),
        }[value.what]
    each = {
        "long reply": lambda: 1e3 * v / size["reply"],
        "reply": lambda: v / size["reply"],
        "first wait": lambda: v,
        "step": lambda: v,
        "rate": lambda: 1e3 * size["rows"] / v,
        "first token": lambda: v / len(size["tokens"]),
    }.get(value.what, lambda: v)()
    return each, each


THROUGH_PASSES = [
    value
    for value in VALUES
    if value.claim in {"passes", "replies", "batches", "chats"}
    and value.what != "reply by generate"
] + [v for v in published.values("rungs") if v.what != "vLLM"]


@pytest.fixture
def by_hand(monkeypatch):
    """Steps of every kind are launched: there is no graph on this machine."""
    monkeypatch.setattr(graphs, "step_of", lambda _engine, _kind: LaunchedStep)


def judged(value, engine, plant=lambda engine: engine) -> Verdict:
    claim = CLAIMS[value.claim]
    case = claim.case(value.name)
    return claim.judge(case, claim.registry["measure"](plant(engine), case.rehearsed())).verdict


def device_for(value: published.Value, *, factor: float = 1.0) -> Played:
    small = value.small()
    engine = device_of(value.setting)
    prompt_ms, step_ms = pass_ms(small, engine)

    def took(ids):
        return factor * 1e-3 * (prompt_ms if ids.shape[1] > 1 else step_ms)

    type(engine).took = staticmethod(took)
    return engine


@pytest.mark.usefixtures("by_hand")
@pytest.mark.parametrize(
    "value", THROUGH_PASSES, ids=[f"{v.claim}: {v.name}" for v in THROUGH_PASSES]
)
def test_on_the_sources_device_a_value_is_judged_by_its_band(played, value):
    played(NAMES[name_of(value)])
    assert judged(value, device_for(value)) is Verdict.CONFIRMED
    if value.what in {"step per prefilled token", "prefill share"}:
        return  # what slows every pass alike moves no ratio of passes
    assert judged(value, device_for(value, factor=1.2)) is Verdict.CONFIRMED
    assert judged(value, device_for(value, factor=1.4)) is Verdict.REFUTED
    played("NVIDIA H200")
    with pytest.raises(NotApplicable, match="H200"):
        judged(value, device_for(value))


def name_of(value: published.Value) -> str:
    return value.name.split(",")[0]


CONTROLS = [(kind, control) for kind, claim in CLAIMS.items() for control in claim.controls]


@pytest.mark.usefixtures("by_hand")
@pytest.mark.parametrize(
    ("kind", "control"), CONTROLS, ids=[f"{kind}: {c.name}" for kind, c in CONTROLS]
)
def test_on_the_sources_device_a_control_is_refuted_where_its_case_is_confirmed(
    played, monkeypatch, kind, control
):
    value = next(v for v in published.values(kind) if v.name == control.case)
    played(NAMES[name_of(value)])
    engine = device_for(value)
    play_the_rest(monkeypatch, value, engine)
    assert judged(value, engine) is Verdict.CONFIRMED
    assert judged(value, engine, control.plant) is Verdict.REFUTED


@pytest.mark.usefixtures("by_hand")
@pytest.mark.parametrize("kind", ["passes", "replies", "batches", "chats", "rungs"])
def test_a_control_is_caught_even_where_a_newer_release_takes_a_third_of_the_time(played, kind):
    """A claim that is rightly REFUTED there would else be VOID."""
    claim = CLAIMS[kind]
    for control in claim.controls:
        value = next(v for v in published.values(kind) if v.name == control.case)
        played(NAMES[name_of(value)])
        engine = device_for(value, factor=1 / 3)
        assert judged(value, engine) is Verdict.REFUTED
        assert judged(value, engine, control.plant) is Verdict.REFUTED


def whole_claim(folder, engine) -> Any:
    """The row of the claim about batches after a run of all its cases and its control."""
    on = made_up.conditions(
        device="cuda",
        target=engine.target.name,
        engine=lambda: engine,
        offers=lambda: engine.offers,
    )
    return made_up.claim_of(folder, CLAIMS["batches"], conditions=on)


def test_a_run_on_the_sources_device_confirms_a_whole_claim_and_elsewhere_measures_nothing(
    played, tmp_path
):
    published_s = {32: 0.055, 64: 0.1}
    engine = device_of(settings.T4_SMALL, lambda ids: published_s.get(len(ids), 0.0345))
    played("NVIDIA H200")
    row = whole_claim(tmp_path / "a", engine)
    assert (row["verdict"], type(engine).now) == ("NOT APPLICABLE", 0.0)
    played("Tesla T4")
    row = whole_claim(tmp_path / "b", engine)
    assert row["verdict"] == "CONFIRMED", row
    assert [control["caught"] for control in row["controls"]] == [True]
    slow = device_of(settings.T4_SMALL, lambda ids: 1.4 * published_s.get(len(ids), 0.0345))
    assert whole_claim(tmp_path / "c", slow)["verdict"] == "REFUTED"


def play_the_rest(monkeypatch, value, engine) -> None:
    """What is timed or traced without a pass of the engine, as the source saw it."""
    spend = type(engine).spend

    def reader(buffer):
        return [lambda: spend(buffer.nbytes / 1e9 / value.high)]

    def mlps(_engine):
        return (lambda: None), (lambda: spend(1e-3 * value.high))

    def taxed(*_a, profiled, **_k):
        return {"before": [33.0] * 24, "after": [39.5 if profiled else 33.0] * 24}

    def traced(_engine, *, context):
        del context
        kernels = [Kernel(float(n), 1.0, "k") for n in range(3)]
        return {
            "launched": types.SimpleNamespace(traces=[Trace(kernels, 1414)] * 3),
            "graph": types.SimpleNamespace(traces=[Trace(kernels, 1)] * 3),
        }

    def products(on, rows):
        return rows if getattr(on, "row_by_row", False) else 1

    monkeypatch.setattr(probes, "buffer_bytes", lambda *_a, **_k: 2**20)
    monkeypatch.setattr(probes, "readers", reader)
    monkeypatch.setattr(stages, "stages", mlps)
    monkeypatch.setattr(profiler_tax, "before_and_after", taxed)
    monkeypatch.setattr(tracing, "profiles", traced)
    monkeypatch.setattr(tracing, "weight_products", products)
    monkeypatch.setattr(tracing, "busy_ms", lambda times, _engine: [6.9 * times] * 3)


# What is measured without a pass of the engine ---------------------------------------------------


def test_normalisations_count_by_their_share_of_all_there_are(monkeypatch):
    engine = device_of(settings.T4_SMALL)
    norms = stages.norms_of(engine)
    assert len(norms) == 2 * len(layers_of(engine.model)) + 1
    for norm in norms:
        norm.register_forward_hook(lambda *_a: type(engine).spend(0.001))
    value = next(v for v in published.values("parts") if v.what == "norms")
    found = reproduced.found(engine, value)
    assert value.params == {"count": 24}
    assert found == pytest.approx([24.0] * 9)


def test_a_long_reply_is_its_first_wait_and_its_steps_by_window():
    engine = device_of(settings.T4_SMALL, lambda ids: 5.0 if ids.shape[1] > 1 else 0.5)
    value = next(v for v in published.values("replies") if v.name == "0.5B, 500 tokens")
    assert reproduced.found(engine, value.small()) == pytest.approx([5.0 + 30 * 0.5] * 6)
    assert value.params["reply"] == 500


def test_a_departure_is_from_the_nearer_end_of_a_range():
    value = next(v for v in VALUES if v.name == "0.5B, first wait")
    assert (value.low, value.high) == (152, 169)
    found = value.departures([152, 160, 169, 76, 338, float("nan")])
    assert found[:5] == pytest.approx([0, 0, 0, 0.5, 1])
    assert found[5] != found[5]


def test_a_trace_that_is_busy_throughout_has_a_share_of_one():
    trace = Trace([Kernel(0.0, 2.0, "a"), Kernel(2.0, 2.0, "b")], 2)
    gaps = Trace([Kernel(0.0, 1.0, "a"), Kernel(3.0, 1.0, "b")], 2)
    shares = [steps._of_trace("busy share", each) for each in (trace, gaps)]
    assert shares == [1.0, 0.5]
