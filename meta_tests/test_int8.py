"""Linear layers held in eight bits, and the claim that compares them with sixteen."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from claims._kit.verdict import Verdict
from fixtures import graphs, loading, sizes, targets
from fixtures.engines.capture import TunedStep
from fixtures.engines.int8_linear import Int8Linear, hold_in_int8
from fixtures.engines.transformers_engine import TransformersEngine
from fixtures.equivalence import compare, full_pass, null_spread
from fixtures.faults.tracing import LaunchedTwice, SameWidthTwice
from fixtures.floors import step_bytes
from meta_tests.made_up import ROOT
from meta_tests.readme_table import load

TOKENS = [5, 9, 200, 31, 77, 4]
TIED = targets.shape_of("tiny")
UNTIED = {**TIED, "tie_word_embeddings": False}


def engine_of(values, dtype, *, rehearsal=True):
    model = loading.from_values(values, device="cpu", dtype=dtype)
    # Drawn biases start at zero, where a lost one would not show.
    for name, weight in model.named_parameters():
        if name.endswith("bias"):
            weight.normal_(0.0, 0.1)
    target = targets.random_weights("tiny")
    return TransformersEngine(target, model, None, "cpu", rehearsal=rehearsal)


def widened(values, dtype):
    """The same model with the weights that its eight bits stand for, in ordinary layers."""
    engine, narrow = engine_of(values, dtype), engine_of(values, dtype)
    hold_in_int8(narrow.model)
    plain = dict(engine.model.named_modules())
    for name, layer in narrow.model.named_modules():
        if isinstance(layer, Int8Linear):
            plain[name].weight.copy_(layer.widened())
            if layer.bias is not None:
                plain[name].bias.copy_(layer.bias)
    return engine, narrow


@pytest.mark.parametrize("values", [TIED, UNTIED], ids=["tied", "untied"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_eight_bits_give_the_logits_of_the_weights_they_stand_for(values, dtype):
    engine, narrow = widened(values, dtype)
    reference = full_pass(engine, TOKENS)
    null = null_spread(engine, TOKENS, reference)
    assert compare(reference, full_pass(narrow, TOKENS), null).excess <= 1


def test_in_32_bits_the_rounding_of_weights_shows():
    engine, narrow = engine_of(TIED, torch.float32), engine_of(TIED, torch.float32)
    hold_in_int8(narrow.model)
    reference = full_pass(engine, TOKENS)
    null = null_spread(engine, TOKENS, reference)
    assert compare(reference, full_pass(narrow, TOKENS), null).excess > 1


def test_each_weight_is_within_half_a_step_of_what_it_was():
    linear = torch.nn.Linear(40, 12)
    linear.weight.data[3] = 0.0
    held = Int8Linear(linear)
    assert held.weight.dtype == torch.int8
    assert held.weight.abs().amax(dim=1).tolist() == [127] * 3 + [0] + [127] * 8
    off = (held.widened() - linear.weight).abs()
    assert bool((off <= held.scale[:, None] * 0.501).all())


@pytest.mark.parametrize(("values", "kept"), [(TIED, 0), (UNTIED, 1)], ids=["tied", "untied"])
def test_every_linear_layer_is_held_but_a_tied_output(values, kept):
    engine = engine_of(values, torch.bfloat16)
    before = sum(isinstance(m, torch.nn.Linear) for m in engine.model.modules())
    hold_in_int8(engine.model)
    held = sum(isinstance(m, Int8Linear) for m in engine.model.modules())
    assert held == 7 * values["num_hidden_layers"] + kept
    assert before - held == 1 - kept
    assert engine.dtype == torch.bfloat16


def test_the_bytes_of_the_large_shape_are_what_its_figure_says():
    """Counted on a device without storage: each linear layer halves, its scales come on top."""
    values = targets.shape_of(sizes.LARGE)
    model = loading.from_values(values, device="meta", dtype=torch.bfloat16)
    engine = TransformersEngine(targets.random_weights(sizes.LARGE), model, None, "meta")
    wide = step_bytes(engine)
    layers = [m for m in model.modules() if isinstance(m, torch.nn.Linear)]
    table = model.get_input_embeddings().weight
    linear = sum(m.weight.nbytes for m in layers if m.weight is not table)
    rows = sum(m.out_features for m in layers if m.weight is not table)
    hold_in_int8(model)
    assert wide == 2 * 1_543_714_304
    assert step_bytes(engine) == wide - linear // 2 + 2 * rows
    assert round(wide / 1e9, 2) == 3.09
    assert round(step_bytes(engine) / 1e9, 2) == 1.78
    assert round(wide / step_bytes(engine), 2) == 1.74


def test_the_compiler_takes_the_options_and_makes_products_of_one_row_itself():
    """What fuses the conversion: on a GPU, and with this option alone."""
    from torch._inductor import config, decomposition, list_mode_options

    options = TunedStep.how["options"]
    assert list_mode_options("reduce-overhead").items() <= options.items()
    torch.compile(lambda: None, **TunedStep.how)
    row, weight = torch.empty(1, 8, device="meta"), torch.empty(8, 4, device="meta")
    mm = decomposition.mm
    assert mm(row, weight) is NotImplemented
    with config.patch(coordinate_descent_tuning=options["coordinate_descent_tuning"]):
        assert mm(row, weight).shape == (1, 4)
        assert mm(torch.empty(2, 8, device="meta"), weight) is NotImplemented


# The claim on a made-up device -------------------------------------------------------------------

CLAIM = load(ROOT / "claims/roofline/test_fewer_bytes_pay_when_bytes_bind.py")
PLAYED_LAUNCH_S = 0.03


def played(launched_s, replayed_s):
    """Times in turn of a device: each arm's from the bytes that its step reads."""

    def in_turn(_engine, arms, *, rounds):
        how = {True: launched_s, False: replayed_s}
        return {
            name: [how[type(step).name == "launched"](step_bytes(step.engine))] * rounds
            for name, step in arms.items()
        }

    return in_turn


def verdict(engine, case, plant=lambda engine: engine):
    measured = CLAIM.registry["measure"](plant(engine), case.rehearsed())
    assert measured.notes["bytes a step"]["wide"] >= measured.notes["bytes a step"]["narrow"]
    # The floors of a made-up device are not those of this machine.
    return CLAIM.judge(case, replace(measured, floors=[])).verdict


def by_bytes(size):
    return size / 1e9


@pytest.mark.parametrize("case", CLAIM.cases, ids=[case.name for case in CLAIM.cases])
@pytest.mark.parametrize(
    ("launched_s", "replayed_s", "expected"),
    [
        (lambda _: PLAYED_LAUNCH_S, by_bytes, Verdict.CONFIRMED),
        (lambda _: PLAYED_LAUNCH_S, lambda _: 0.01, Verdict.REFUTED),
        (by_bytes, by_bytes, Verdict.REFUTED),
        # Narrow weights that only slow a launched step, and gain a replayed one nothing.
        (lambda size: 1 / size, lambda _: 0.01, Verdict.REFUTED),
    ],
    ids=["bytes bind where replayed", "bytes never bind", "bytes bind always", "slower alone"],
)
def test_the_claim_follows_what_a_device_is_bound_by(
    monkeypatch, case, launched_s, replayed_s, expected
):
    monkeypatch.setattr(graphs, "in_turn", played(launched_s, replayed_s))
    engine = engine_of(TIED, torch.bfloat16)
    assert verdict(engine, case) is expected


@pytest.mark.parametrize("control", CLAIM.controls, ids=[c.name for c in CLAIM.controls])
def test_its_controls_are_refuted_on_a_device_that_confirms_it(monkeypatch, control):
    monkeypatch.setattr(graphs, "in_turn", played(lambda _: PLAYED_LAUNCH_S, by_bytes))
    engine, case = engine_of(TIED, torch.bfloat16), CLAIM.case(control.case)
    assert verdict(engine, case) is Verdict.CONFIRMED
    assert verdict(engine, case, control.plant) is Verdict.REFUTED


def test_the_two_faults_are_planted_on_the_two_cases():
    assert [c.plant for c in CLAIM.controls] == [LaunchedTwice, SameWidthTwice]
    assert [CLAIM.case(c.case) for c in CLAIM.controls] == list(CLAIM.cases)
