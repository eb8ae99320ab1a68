"""The gpu lane on a machine without a GPU: rehearsal, seams, watch of the device, what fits."""
# ruff: noqa: N802 - a stand-in for NVML has NVML's names

from __future__ import annotations

import os
import sys
import types
from collections import Counter
from dataclasses import replace
from importlib.util import module_from_spec, spec_from_file_location
from typing import Any, ClassVar

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten

from claims._kit.claim_row import SUBJECT
from claims._kit.figures import Case, Scope
from claims._kit.ledger import read
from claims._kit.measure import Measured
from claims._kit.run import AFTER_PROFILER, REHEARSAL
from claims._kit.verdict import Verdict
from fixtures import (
    fitting,
    graphs,
    loading,
    machines,
    parallel,
    phases,
    probes,
    rungs,
    settings,
    targets,
    watching,
)
from fixtures.counting import engine_of
from fixtures.engines import capture, vllm_steps
from fixtures.engines.trace import Kernel, Trace, of_events, record
from fixtures.engines.transformers_engine import TransformersEngine
from fixtures.needs import CannotRun, Need
from fixtures.nvml import Device, Reading
from meta_tests import made_up
from meta_tests.made_up import ROOT, answers, claim, conditions, control, judge, run_of
from reports import page, terminal

CUDA = Scope(judged_on=frozenset({"cuda"}))


@pytest.fixture(scope="module")
def engine():
    model = loading.from_shape("tiny", device="cpu", seed=0)
    target = targets.random_weights("tiny")
    return TransformersEngine(target, model, None, "cpu", rehearsal=True)


# What a rehearsal is -----------------------------------------------------------------------------


def rehearsed(tmp_path, made, **on) -> Any:
    return run_of(tmp_path, made, conditions=conditions(rehearsal=True, **on))


def test_a_rehearsal_measures_what_only_cuda_judges_and_judges_nothing(tmp_path):
    made = claim(answers(2.0), scope=CUDA)
    run = rehearsed(tmp_path, made)
    assert judge(run, made) == ["skipped", "skipped"]
    kinds = [row["kind"] for row in run.writer.rows]
    assert kinds == ["header", "samples", "verdict", "samples", "verdict", "claim"]
    said = {(row["verdict"], row["reason"]) for row in run.verdicts.values()}
    assert said == {("NOT APPLICABLE", REHEARSAL)}
    assert run.finished[made.id]["verdict"] == "NOT APPLICABLE"


def test_a_rehearsal_leaves_out_what_a_cpu_judges_anyway(tmp_path):
    run = rehearsed(tmp_path, made := claim())
    judge(run, made)
    assert [row["kind"] for row in run.writer.rows] == ["header", "verdict", "verdict", "claim"]


def test_a_rehearsal_hands_over_the_small_params_and_a_real_run_does_not(tmp_path):
    seen = []

    def look(case: Case) -> Measured:
        seen.append(case.params)
        return Measured(samples=[0.5])

    case = Case(name="all", params={"n": 8192, "k": 1}, rehearsal={"n": 8})
    made = claim(look, cases=(case,), scope=CUDA, controls=())
    judge(rehearsed(tmp_path / "a", made), made)
    judge(run_of(tmp_path / "b", made, conditions=conditions(device="cuda")), made)
    assert seen == [{"n": 8, "k": 1}, {"n": 8192, "k": 1}]


@pytest.mark.parametrize("where", ["subject", "control"])
def test_a_crash_in_a_rehearsal_voids_the_claim(tmp_path, where):
    crash = made_up.raises(RuntimeError("torch.cuda is not here"))
    made = claim(
        crash if where == "subject" else answers(0.5),
        scope=CUDA,
        controls=(control(crash if where == "control" else answers(9.0)),),
    )
    run = rehearsed(tmp_path, made)
    assert "failed" in judge(run, made)
    assert run.finished[made.id]["verdict"] == "VOID"


@pytest.mark.parametrize(("body", "status"), [("pass", 0), ("raise RuntimeError", 20)])
def test_a_rehearsal_ends_well_unless_something_crashed(inside, tmp_path, body, status):
    made_up.write_claim(tmp_path, judged_on={"cuda"}, samples=[5000.0], body=body)
    path = tmp_path / "run.jsonl"
    found, output = inside(tmp_path, "--rehearsal", "--ledger", path)
    assert found == status, output
    assert "REHEARSAL" in output
    assert read(path).header["rehearsal"] is True
    assert read(path).footer["exit"] == status


def test_a_rehearsal_judged_again_still_judges_nothing(inside, tmp_path):
    made_up.write_claim(tmp_path, judged_on={"cuda"})
    path = tmp_path / "run.jsonl"
    inside(tmp_path, "--rehearsal", "--ledger", path)
    again = tmp_path / "again.jsonl"
    assert inside(tmp_path, "--replay", path, "--ledger", again)[0] == 0
    verdicts = {row["verdict"] for row in read(again).rows if row["kind"] != "samples"}
    assert verdicts == {"NOT APPLICABLE"}


def test_a_rehearsal_is_not_finished_as_a_real_run(inside, tmp_path):
    for name in ("a", "b"):
        made_up.write_claim(tmp_path, name, body="raise RuntimeError", judged_on={"cuda"})
    path = tmp_path / "run.jsonl"
    inside(tmp_path, "-x", "--rehearsal", "--ledger", path)
    status, output = inside(tmp_path, "--resume", path)
    assert status == 4
    assert "rehearsal differ" in output


def test_a_rehearsal_refuses_a_gpu(inside, tmp_path):
    made_up.write_claim(tmp_path)
    status, output = inside(tmp_path, "--rehearsal", "--device", "cuda")
    assert (status, "runs on a CPU" in output) == (4, True)


def test_the_page_and_the_terminal_say_rehearsal_and_only_then():
    rows = [made_up.header(rehearsal=True)]
    assert "REHEARSAL" in page.body(rows)
    assert "REHEARSAL" not in page.body([made_up.header()])
    whole = [*rows, *_one_claim()]
    assert "REHEARSAL" in terminal.table(whole)
    assert "REHEARSAL" not in terminal.table([made_up.header(), *_one_claim()])


def _one_claim() -> list[dict[str, Any]]:
    row = {"kind": "claim", "claim": "made/up", "verdict": "NOT APPLICABLE", "reason": "r"}
    source = {"document": "d", "where": "w", "setting": ""}
    more = {"sentence": "S.", "source": source, "scope": "", "mechanism": "", "known": ""}
    return [{**row, **more, "controls": [], "cases": [], "repeat": "pytest"}]


# The whole lane ----------------------------------------------------------------------------------


def gpu_claims() -> dict[str, Any]:
    """Every claim with a case that only CUDA judges, by id."""
    found = {}
    for path in sorted((ROOT / "claims").glob("[a-z]*/test_*.py")):
        if "cuda" not in path.read_text(encoding="utf-8"):
            continue
        spec = spec_from_file_location(f"gpu_lane_{path.parent.name}_{path.stem}", path)
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        if any(only_cuda(module.CLAIM, case) for case in module.CLAIM.cases):
            found[module.CLAIM.id] = module.CLAIM
    return found


def only_cuda(made, case) -> bool:
    return (case.judged_on or made.scope.judged_on) == {"cuda"}


@pytest.fixture(scope="module")
def lane(tmp_path_factory):
    """Exit status, output and ledger of a rehearsal of every gpu claim."""
    path = tmp_path_factory.mktemp("lane") / "run.jsonl"
    files = [ROOT / made.path for made in gpu_claims().values()]
    words = ["-m", "gpu", "--device", "cpu", "--rehearsal", "--model", "random:tiny", "-q"]
    words += ["-p", "no:cacheprovider", "--ledger", path, *files]
    process = made_up.command(words, folder=ROOT)
    output, _ = process.communicate(timeout=600)
    return process.returncode, output, read(path)


# Not measured on random weights and without the engine; each says so.
LEFT_OUT = {"lacks", "vLLM is not installed"}


@pytest.mark.slow
def test_the_whole_lane_rehearses_without_a_crash(lane):
    status, output, ledger = lane
    assert status == 0, output[-4000:]
    assert ledger.footer["counts"] == {"NOT APPLICABLE": len(gpu_claims())}


@pytest.mark.slow
def test_every_case_and_control_of_the_lane_was_measured(lane):
    seen = {(r["claim"], r["role"], r["case"]) for r in lane[2].rows if r["kind"] == "samples"}
    reasons = {
        (r["claim"], r["role"], r["case"]): r["reason"]
        for r in lane[2].rows
        if r["kind"] == "verdict"
    }
    for made in gpu_claims().values():
        wanted = [(made.id, SUBJECT, c.name) for c in made.cases if only_cuda(made, c)]
        for fault in made.controls:
            case = made.case(fault.case)
            wanted += [(made.id, fault.name, case.name)] if only_cuda(made, case) else []
        for key in wanted:
            assert key in seen or any(words in reasons[key] for words in LEFT_OUT), key


# Controls whose rule does not depend on how fast a machine is: counts, proofs, far ratios.
SURE = {
    ("batching/throughput-rises-with-the-batch", "one after another"),
    ("memory/allocator-grows-with-the-cache", "given back"),
    ("phases/decode-dominates", "one-token reply, cuda"),
    ("phases/short-prompts-are-flat", "in chunks"),
    ("phases/short-prompts-are-flat", "in chunks, beside a step"),
    ("roofline/device-waits-for-launches", "one long read, gaps"),
    ("roofline/graph-speedup", "graph with stale inputs"),
    ("roofline/norms-cost-launches", "norms hand on"),
    ("roofline/passes-lie-under-the-roof", "slow clock, decode"),
    ("roofline/passes-lie-under-the-roof", "slow clock, prefill"),
    ("roofline/published-traces", "a graph's replay"),
}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "fault"), sorted(SURE))
def test_a_control_that_needs_no_fast_machine_is_refuted_by_its_own_rule(lane, name, fault):
    made = gpu_claims()[name]
    case = made.case(next(c.case for c in made.controls if c.name == fault))
    row = next(
        r
        for r in lane[2].rows
        if r["kind"] == "samples" and (r["claim"], r["role"]) == (name, fault)
    )
    # Other work on this machine voids a verdict, and moves none of these.
    measured = replace(Measured.from_row(row), disturbed="")
    assert made.judge(case, measured).verdict is Verdict.REFUTED


@pytest.mark.slow
def test_the_lane_keeps_a_roofline_and_a_single_timeline_and_the_page_draws_both(lane):
    notes = [r["notes"] for r in lane[2].rows if r["kind"] == "samples"]
    kinds = Counter(n["chart"]["kind"] for n in notes if "chart" in n)
    made = gpu_claims()["roofline/passes-lie-under-the-roof"]
    assert kinds == {"timeline": 1, "roofline": len(made.cases) + len(made.controls)}
    shown = page.body(lane[2].all_rows)
    assert shown.count('class="timeline"') == 1
    assert "Roofline: decode, by batch and prefill, by tokens" in shown


def test_every_gpu_claim_has_a_control_that_only_cuda_judges_or_says_why_not():
    for made in gpu_claims().values():
        assert made.controls or made.no_control_because, made.id


def test_no_claim_file_of_the_lane_names_a_device_but_in_its_settings():
    for made in gpu_claims().values():
        text = (ROOT / made.path).read_text(encoding="utf-8")
        assert "torch.cuda" not in text, made.id


# A profiler comes last ---------------------------------------------------------------------------


def test_a_timed_claim_after_a_profiled_one_is_void(tmp_path):
    profiled = claim(id="made/profiled", timed=True, profiled=True)
    timed, counted = claim(id="made/timed", timed=True), claim(id="made/counted")
    run = run_of(tmp_path, profiled, timed, counted)
    judge(run, profiled, timed, counted)
    found = {name: (row["verdict"], row["reason"]) for name, row in run.finished.items()}
    assert found["made/profiled"][0] == "CONFIRMED"
    assert found["made/timed"][0] == "VOID"
    assert AFTER_PROFILER in found["made/timed"][1]
    assert found["made/counted"][0] == "CONFIRMED"


def test_profiled_claims_are_collected_last(inside, tmp_path):
    path = made_up.write_claim(tmp_path, "a")
    text = path.read_text()
    path.write_text(text.replace("timed=False", "timed=True, profiled=True"))
    made_up.write_claim(tmp_path, "b", timed=True)
    assert inside(tmp_path, "--ledger", tmp_path / "run.jsonl")[0] == 0
    assert [line.split()[0] for line in made_up.calls(tmp_path)] == ["b", "b", "a", "a"]


# The device is watched ---------------------------------------------------------------------------

CALM = Reading(sm_clock_mhz=1410, temperature_c=40, power_w=200.0, reasons=0x04, processes=(7,))


class FakeNvml(types.SimpleNamespace):
    """NVML's functions on a made-up device; ``reasons`` and ``pids`` are what it answers."""

    NVML_CLOCK_SM, NVML_TEMPERATURE_GPU = 1, 0

    class NVMLError(Exception):
        pass

    reasons, pids = 0, (7,)

    def nvmlInit(self):
        pass

    def nvmlDeviceGetHandleByUUID(self, uuid):
        if uuid != "GPU-known":
            raise self.NVMLError("no such device")
        return "by uuid"

    def nvmlDeviceGetHandleByIndex(self, index):
        return f"number {index}"

    def nvmlDeviceGetComputeRunningProcesses(self, _handle):
        return [types.SimpleNamespace(pid=pid) for pid in self.pids]

    def nvmlDeviceGetClockInfo(self, _handle, _kind):
        return 1410

    def nvmlDeviceGetTemperature(self, _handle, _kind):
        return 40

    def nvmlDeviceGetPowerUsage(self, _handle):
        return 200_000

    def nvmlDeviceGetCurrentClocksThrottleReasons(self, _handle):
        return self.reasons


def test_a_device_is_found_by_the_id_that_torch_gives_it():
    assert Device.of(FakeNvml(), "GPU-known").handle == "by uuid"
    assert Device.of(FakeNvml(), "GPU-unknown").handle == "number 0"


def test_a_reading_holds_what_the_driver_said():
    nvml = FakeNvml(reasons=0x04)
    assert Device(nvml, "h").read() == CALM


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, ""),
        ({"reasons": 0x40}, "slowed itself down (hardware thermal slowdown)"),
        ({"reasons": 0x80 | 0x08}, "hardware slowdown, power brake"),
        ({"reasons": 0x04}, ""),
        ({"processes": (7, 99)}, "1 other process on"),
        ({"processes": (7, 8)}, ""),
        ({"processes": (500, 501)}, ""),
        ({"processes": (500, 501, 502, 503)}, "2 other processes on"),
        ({"processes": ()}, ""),
    ],
)
def test_what_is_objected_to(changes, words):
    """Process 7 is ours and 8 its child; in a container the driver numbers them otherwise."""
    said = watching.objections([CALM, replace(CALM, **changes)], pid=7, children=[8])
    assert (words in said) if words else said == ""


def test_a_slowdown_in_the_middle_of_a_measurement_is_seen():
    nvml = FakeNvml(pids=(os.getpid(),))
    looks = []

    def look() -> Reading:
        looks.append(1)
        nvml.reasons = 0x20 if len(looks) == 2 else 0
        return Device(nvml, "h").read()

    stop = watching.begin(look, period_s=0.001)
    while len(looks) < 4:
        pass
    objection, seen = stop()
    assert "software thermal slowdown" in objection
    assert seen["device while measuring"]["looks"] == len(looks)


def test_a_device_that_stops_to_answer_ends_the_watch_and_nothing_else():
    answers_left = [CALM]

    def look() -> Reading:
        if not answers_left:
            raise FakeNvml.NVMLError("lost")
        return answers_left.pop()

    stop = watching.begin(look, refusal=FakeNvml.NVMLError, period_s=0.001)
    objection, seen = stop()
    assert (objection, seen["device while measuring"]["looks"]) == ("", 1)


@pytest.mark.parametrize(("objection", "verdict"), [("it was hot", "VOID"), ("", "CONFIRMED")])
def test_an_objection_voids_a_timed_claim_with_its_reason(tmp_path, objection, verdict):
    on = conditions(watch=lambda: lambda: (objection, {"clock": 1}))
    made = claim(timed=True)
    run = run_of(tmp_path, made, conditions=on)
    run.holds(made, made.cases[0]) if not objection else made_up.outcome(
        lambda: run.holds(made, made.cases[0])
    )
    row = run.verdicts[made.id, SUBJECT, "all"]
    assert (row["verdict"], objection in row["reason"]) == (verdict, True)
    assert run.writer.rows[1]["notes"] == {"clock": 1}


def test_a_count_is_not_watched(tmp_path):
    on = conditions(watch=lambda: pytest.fail("watched"))
    made = claim()
    judge(run_of(tmp_path, made, conditions=on), made)


def test_the_watch_ends_when_the_measure_crashes(tmp_path):
    ended = []
    on = conditions(watch=lambda: lambda: (ended.append(1) or "", {}))
    made = claim(made_up.raises(RuntimeError("no")), timed=True, controls=())
    made_up.outcome(lambda: run_of(tmp_path, made, conditions=on).holds(made, made.cases[0]))
    assert ended == [1]


# What does not fit -------------------------------------------------------------------------------


def test_out_of_memory_voids_one_claim_frees_it_and_the_run_goes_on(tmp_path):
    freed = []
    on = conditions(tidy=lambda: freed.append(1))
    full = made_up.raises(torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 9 GiB"))
    large, small = claim(full, id="made/large", controls=()), claim(id="made/small")
    run = run_of(tmp_path, large, small, conditions=on)
    judge(run, large, small)
    assert run.verdicts["made/large", SUBJECT, "all"]["verdict"] == "VOID"
    assert "out of memory" in run.verdicts["made/large", SUBJECT, "all"]["reason"]
    assert run.finished["made/small"]["verdict"] == "CONFIRMED"
    assert freed == [1]


def test_what_a_crashed_measure_held_is_let_go_before_the_device_is_tidied(tmp_path):
    import weakref

    class Held:
        pass

    alive = []

    def hold(_case: Case) -> Measured:
        held = Held()
        alive.append(weakref.ref(held))
        raise RuntimeError("out of memory")

    seen = []
    on = conditions(tidy=lambda: seen.append(alive[0]() is None))
    made = claim(hold, controls=())
    made_up.outcome(lambda: run_of(tmp_path, made, conditions=on).holds(made, made.cases[0]))
    assert seen == [True]


def test_the_bytes_of_a_shape_are_its_parameters_times_their_size():
    target = targets.random_weights("qwen2.5-0.5b")
    assert fitting.needed_bytes(target, torch.bfloat16) == 2 * 494_032_768


def test_a_model_that_does_not_fit_says_bytes_needed_and_bytes_free(monkeypatch):
    monkeypatch.setattr(fitting, "free_bytes", lambda _device: 10 * 2**30)
    target = targets.random_weights("qwen3-8b")
    with pytest.raises(targets.TargetError) as caught:
        fitting.check(target, dtype=torch.bfloat16, device="cuda")
    assert "16,381,470,720 bytes" in str(caught.value)
    assert "10,737,418,240 bytes" in str(caught.value)
    fitting.check(targets.random_weights("tiny"), dtype=torch.bfloat16, device="cuda")


def test_a_session_says_beforehand_that_its_model_does_not_fit(monkeypatch):
    from fixtures.session import Session

    said = []
    monkeypatch.setattr(fitting, "free_bytes", lambda _device: 1000)
    monkeypatch.setattr(loading, "load", lambda *_a, **_k: pytest.fail("loaded"))
    session = Session(targets.random_weights("tiny"), "cpu", 0, said.append)
    with pytest.raises(targets.TargetError):
        session.engine()
    assert len(said) == 1
    assert "does not fit" in said[0]


# Random weights in seconds -----------------------------------------------------------------------


def test_weights_drawn_in_place_differ_from_the_librarys_in_their_draws_alone(monkeypatch):
    slow = loading.from_shape("tiny", device="cpu", seed=1)
    undrawn = loading._undrawn
    monkeypatch.setattr(loading, "_undrawn", lambda _wanted: undrawn(True))
    fast = loading.from_shape("tiny", device="cpu", seed=1)
    assert fast.get_output_embeddings().weight is fast.get_input_embeddings().weight
    theirs = dict(slow.named_parameters())
    for name, weight in fast.named_parameters():
        assert (weight.shape, weight.dtype) == (theirs[name].shape, theirs[name].dtype)
        spread, theirs_spread = (w.std(correction=0).item() for w in (weight, theirs[name]))
        assert spread == pytest.approx(theirs_spread, abs=2e-3), name
        assert weight.mean().item() == pytest.approx(theirs[name].mean().item(), abs=2e-3), name
    held = dict(slow.named_buffers())
    for name, buffer in fast.named_buffers():
        assert torch.equal(buffer, held[name]), name


# Seams -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["graph", "compiled", "compiled, tuned"])
def test_what_needs_cuda_is_refused_on_a_cpu_unless_in_a_rehearsal(engine, kind):
    earnest = replace(engine, rehearsal=False)
    with pytest.raises(CannotRun, match="needs a CUDA device"):
        capture.step_of(earnest, kind)
    assert issubclass(capture.step_of(engine, kind), capture.LaunchedStep)
    assert Need.CUDA in engine.offers
    assert Need.CUDA not in earnest.offers


@pytest.mark.parametrize("kind", ["launched", "graph", "compiled"])
def test_every_kind_of_step_gives_the_launched_logits_on_fresh_tokens(engine, kind):
    launched = graphs.prepared(engine, "launched", 24)
    other = graphs.prepared(engine, kind, 24)
    assert graphs.largest_excess(engine, launched, other, 24) <= 1


@pytest.mark.parametrize("kind", ["launched", "graph", "compiled"])
def test_a_step_that_is_rewound_repeats_itself(engine, kind):
    step = graphs.prepared(engine, kind, 16)
    first = graphs.logits_of(step, [5, 6], 16)
    assert torch.equal(first, graphs.logits_of(step, [5, 6], 16))
    assert not torch.equal(first[0], graphs.logits_of(step, [7], 16)[0])


class Host(TorchDispatchMode):
    """Notes each operation that touches a tensor of the host or fetches a number to it."""

    def __init__(self):
        super().__init__()
        self.seen: list[str] = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        tensors = [t for t in tree_flatten((args, kwargs, out))[0] if isinstance(t, torch.Tensor)]
        if "local_scalar" in str(func) or any(t.device.type == "cpu" for t in tensors):
            self.seen.append(str(func))
        return out


@pytest.mark.parametrize("shape", ["qwen2.5-0.5b", "qwen3-8b"])
def test_a_step_that_is_to_be_captured_asks_nothing_of_the_host(shape):
    """On a device without storage a fetch would fail and a host's tensor would show."""
    static = engine_of(targets.shape_of(shape), device="meta").variant(cache_kind="static")
    cache = static.new_cache(length=40)
    ids = torch.zeros(1, 16, dtype=torch.long, device="meta")
    capture.LaunchedStep.prefill(static, ids, cache)
    step = capture.LaunchedStep(static, cache, position=16)
    with Host() as host:
        step.go()
        step.rewind()
    assert host.seen == []


def test_a_plain_step_that_is_rewound_holds_its_context_again(engine):
    step = graphs.PlainStep(engine, 16)
    for _ in range(3):
        step.go()
    assert step.cache.get_seq_length() == 19
    step.rewind()
    assert step.cache.get_seq_length() == 16


EVENTS = [
    {"ph": "X", "cat": "kernel", "name": "gemv", "ts": 100.0, "dur": 4.0},
    {"ph": "X", "cat": "kernel", "name": "add", "ts": 130.0, "dur": 2.0},
    {"ph": "X", "cat": "kernel", "name": "beside add", "ts": 131.0, "dur": 3.0},
    {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy DtoD", "ts": 140.0, "dur": 1.0},
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": 90.0, "dur": 5.0},
    {"ph": "X", "cat": "cuda_driver", "name": "cuLaunchKernelEx", "ts": 99.0, "dur": 5.0},
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaMemcpyAsync", "ts": 99.5, "dur": 5.0},
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaDeviceSynchronize", "ts": 150.0, "dur": 9.0},
    {"ph": "X", "cat": "cpu_op", "name": "aten::add", "ts": 80.0, "dur": 20.0},
    {"ph": "M", "name": "process_name", "args": {}},
]


def test_a_trace_of_a_device_counts_its_own_work_and_what_was_handed_over():
    trace = of_events(EVENTS)
    assert [kernel.name for kernel in trace.kernels] == [
        "gemv",
        "add",
        "beside add",
        "Memcpy DtoD",
    ]
    assert trace.launches == 3
    assert trace.busy_us == 4 + 4 + 1
    assert trace.typical_gap_us == 6.0
    assert trace.typical_kernel_us == 2.5


def test_a_replay_is_one_launch_however_many_kernels_it_runs():
    kernels = [{**EVENTS[0], "ts": 100.0 + 5 * n} for n in range(50)]
    graph = {"ph": "X", "cat": "cuda_runtime", "name": "cudaGraphLaunch", "ts": 1.0, "dur": 1.0}
    trace = of_events([*kernels, graph])
    assert (len(trace.kernels), trace.launches) == (50, 1)


def test_a_single_kernel_has_no_gap():
    assert Trace([Kernel(0.0, 5.0, "one")], 1).typical_gap_us == 0.0


def test_a_trace_of_nothing_cannot_be_read_as_a_number():
    with pytest.raises(ValueError, match="median"):
        _ = Trace([], 0).typical_kernel_us


def test_the_profiler_of_this_torch_gives_a_trace_in_that_form():
    """The export's field names hold for the installed release, on a CPU's operations."""
    one = torch.ones(64, 64)
    trace = record(lambda: one @ one + one, settle=lambda: None, device="cpu")
    names = [kernel.name for kernel in trace.kernels]
    assert names == ["aten::matmul", "aten::add"]
    assert trace.busy_us > 0


def test_a_setting_matches_only_its_own_device_model_and_number_type(engine, monkeypatch):
    published = settings.A100_8B
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "NVIDIA A100-SXM4-40GB")
    on = types.SimpleNamespace(
        device="cuda", dtype=torch.bfloat16, target=types.SimpleNamespace(name="random:qwen3-8b")
    )
    assert settings.unmatched(on, published) == ""
    assert "float16" in settings.unmatched(_but(on, dtype=torch.float16), published)
    other = types.SimpleNamespace(name="qwen2.5-0.5b")
    assert "qwen2.5-0.5b" in settings.unmatched(_but(on, target=other), published)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "NVIDIA H200")
    assert "H200" in settings.unmatched(on, published)
    assert settings.unmatched(engine, published) == ""


def _but(engine: Any, **changes: Any) -> Any:
    return types.SimpleNamespace(**{**vars(engine), **changes})


def test_the_knee_lies_where_arithmetic_takes_as_long_as_a_step(monkeypatch):
    """1e12 operations a second for 0.01 s are 5e9 weights once, or 50 tokens of 1e8 weights."""
    monkeypatch.setattr(probes, "best_seconds", lambda *_a, **_k: 0.01)
    monkeypatch.setattr(probes, "matmul_rate", lambda *_a, **_k: 1e12)
    monkeypatch.setattr(phases, "one_step", lambda *_a, **_k: None)
    on = types.SimpleNamespace(device="cuda", dtype=torch.bfloat16, weight_bytes=lambda: 2e8)
    assert phases.knee_tokens(on) == pytest.approx(50)
    assert phases.off_scope(on, 49, side="before", knee=50.0) == ""
    assert "before the knee" in phases.off_scope(on, 49, side="beyond", knee=50.0)
    assert "beyond the knee" in phases.off_scope(on, 64, side="before", knee=50.0)


def test_a_read_that_is_probed_reaches_a_rate_and_a_larger_one_is_kept():
    first = machines.read_bandwidth("cpu", small=True, rounds=1)
    assert first > 0
    assert machines.read_bandwidth("cpu", small=True, rounds=1) >= first


# More than one device ----------------------------------------------------------------------------


@pytest.mark.slow
def test_a_model_cut_over_two_ranks_writes_the_tokens_of_one(tmp_path):
    """Each rank holds less than the whole; the tokens, which differ from step to step, agree."""
    values = {**targets.shape_of("tiny"), "tie_word_embeddings": False, "initializer_range": 0.3}
    model = loading.from_values(values, device="cpu", seed=3)
    model.save_pretrained(tmp_path)
    alone = parallel.greedy(model, 12)
    assert len(set(alone)) > 6
    cut = parallel.over_ranks(tmp_path, ranks=2, tokens=12)
    assert cut["ids"] == alone
    assert cut["numbers held"] < 0.8 * sum(p.numel() for p in model.parameters())


# An engine that somebody may have installed ------------------------------------------------------


class FakeLLM:
    """Takes 100 seconds a request and 2 a token."""

    seconds = 0.0
    made: ClassVar[dict[str, Any]] = {}

    def __init__(self, **about):
        FakeLLM.made = about

    def generate(self, prompts, params, *, use_tqdm):
        assert len(prompts[0]["prompt_token_ids"]) == 16
        assert params.ignore_eos
        FakeLLM.seconds += 100 + 2 * params.max_tokens


def test_a_step_of_vllm_is_a_long_reply_less_a_short_one(engine, monkeypatch):
    fake = types.ModuleType("vllm")
    fake.LLM = FakeLLM
    fake.SamplingParams = types.SimpleNamespace
    monkeypatch.setitem(sys.modules, "vllm", fake)
    found = vllm_steps.step_ms(engine, context=16, rounds=3, clock=lambda: FakeLLM.seconds)
    assert found == [2000.0] * 3
    assert FakeLLM.made["load_format"] == "dummy"


def test_without_vllm_its_rung_says_so():
    assert "not installed" in rungs.why_no_vllm()
