"""Properties of any architecture: each catches its planted bug, and nothing else is caught."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch
from hypothesis import strategies as st

from fixtures import generation, judging, many_types, own_model, properties, rounding
from fixtures.architectures import build, shrink
from fixtures.equivalence import NOT_A_NUMBER
from fixtures.faults import architectures as faults
from fixtures.faults import caching
from fixtures.many_types import Types, disguised, tally, with_fault
from fixtures.needs import CannotRun
from fixtures.trials import Trial
from fixtures.ways import NotJudged

PROMPT, OTHER = (41, 7, 3, 81, 30, 33, 43, 77), (83, 40, 16, 34, 93, 31, 45, 64)


@pytest.fixture(autouse=True)
def one_thread():
    with many_types.one_thread():
        yield


def trial(holds: str, model_type: str = "mistral", **changes: object) -> Trial:
    about = {"tokens": PROMPT, "other": OTHER, "cut": 3, "padding": 2, "attention": "eager"}
    return Trial(model_type, holds, **{**about, **changes})


def excess(types: Types, asked: Trial) -> float:
    return judging.judge(types.engine(asked), asked).excess


# Shrinking ---------------------------------------------------------------------------------------


def test_every_type_is_judged_or_left_out_with_a_reason():
    out = {name: build.left_out(name) for name in build.model_types()}
    assert len(build.judged()) >= 150
    assert set(build.judged()) == {name for name, why in out.items() if not why}
    assert all(f"{name} ({why})" in build.summary() for name, why in out.items() if why)


def test_an_exception_names_a_type_that_exists_and_says_why():
    names = shrink._toml("exceptions.toml")
    nested = {"dots3_note_text", "gemma3n_text", "qwen4_exp_text", "cohere_compass_text"}
    assert set(names) <= {*build.model_types(), *nested}
    for about in names.values():
        assert "set" not in about or about["why"]


def test_no_attribute_has_two_sizes():
    groups = shrink._toml("sizes.toml").values()
    names = [name for group in groups for name in group["names"]]
    assert len(names) == len(set(names))


def test_layers_of_every_kind_are_kept():
    kinds = ["a", "a", "b", "a", "c", "c"]
    small = shrink.per_layer(
        {"num_hidden_layers": 6, "layer_types": kinds, "x": [1, 1, 1, 2, 2, 2]}
    )
    assert small["layer_types"] == ["a", "b", "a", "c"]
    assert small["x"] == [1, 1, 2, 2]
    assert small["num_hidden_layers"] == 4


def test_of_one_kind_of_layer_there_are_two():
    assert shrink.kept([["a"] * 9]) == [0, 1]


@pytest.mark.parametrize("name", ["bamba", "deepseek_v3", "qwen3_5", "falcon (alibi)"])
def test_a_tiny_model_is_tiny_and_the_same_each_time(name):
    model = build.build(name, seed=1)
    assert sum(p.numel() for p in model.parameters()) < 200_000
    build._weights.cache_clear()
    build.build.cache_clear()
    again = build.build(name, seed=1)
    assert model is not again
    assert all(
        torch.equal(a, b) for a, b in zip(model.parameters(), again.parameters(), strict=True)
    )


# Each property and its bug -----------------------------------------------------------------------

PLANTED = {
    "causal": caching.SeesLater,
    "steps": caching.PositionsRestart,
    "split": caching.RowCorrupted,
    "defaults": faults.CountsInTwos,
    "positions": caching.CacheShifted,
    "static": caching.RowCorrupted,
    "leftpad": faults.PadsSeen,
    "leftpad_steps": faults.PadsSeen,
    "rows": faults.RowsLeak,
    "eager_sdpa": faults.OneAttentionOff,
    "crop": faults.NeverRollsBack,
    "lengths": faults.CountsOneLess,
    "gen": faults.Penalises,
    "gen_static": faults.RepliesTooLong,
    "gen_pad": faults.RepliesTooLong,
    "gen_chunk": faults.Penalises,
    "gen_chunk_pad": faults.RepliesTooLong,
    "gen_lookup": faults.RepliesTooLong,
    "gen_assist": faults.Penalises,
    "cache_rows": faults.RowsLeak,
    "gen_beams": faults.Penalises,
    "gen_stop": faults.Penalises,
}


@pytest.mark.parametrize("name", judging.NAMES)
def test_a_property_holds_and_catches_its_planted_bug(name):
    assert 0 <= excess(Types(), trial(name)) <= 1
    assert excess(with_fault(PLANTED[name])(Types()), trial(name)) > 1


@pytest.mark.parametrize("name", ["electra", "xlm"])
def test_a_bidirectional_model_is_caught_and_a_causal_one_of_its_type_is_not(name):
    both = build.both_ways()[name]
    assert excess(Types(), trial("causal", name)) <= 1
    assert excess(disguised(name, both)(Types()), trial("causal")) > 1000


@pytest.mark.parametrize("name", ["mamba2", "qwen3_moe", "deepseek_v3"])
def test_other_kinds_of_past_are_judged_too(name):
    assert excess(Types(), trial("split", name)) <= 1
    assert excess(with_fault(faults.RowsLeak)(Types()), trial("rows", name)) > 1


def test_attention_that_is_chosen_at_construction_is_really_another():
    engine = Types().engine(trial("eager_sdpa", "falcon", attention="eager"))
    other = engine.variant(attention="sdpa")
    assert engine.model is not other.model
    assert other.model.config._attn_implementation == "sdpa"


def test_a_measure_that_sees_no_past_calls_itself_blind():
    assert many_types.sight(Types(), "mistral") == (pytest.approx(1e4, rel=10), "")
    far, why = many_types.sight(with_fault(faults.SeesNoPast)(Types()), "mistral")
    assert far == 0
    assert why.startswith("blind")


# Judging -----------------------------------------------------------------------------------------


def replies(by_library: list[int], gap: float) -> generation.Replies:
    engine = Types().engine(trial("gen"))
    scores = torch.zeros(3, 97)
    scores[:, 5], scores[:, 6] = 1.0, 1.0 - gap
    ids = torch.tensor([PROMPT])
    return generation.Replies(
        [5, 5, 5], scores, by_library, lambda n: engine.forward(ids.expand(n, -1))
    )


@pytest.mark.parametrize(
    ("by_library", "gap", "tie", "excessive"),
    [
        ([5, 5, 5], 0.5, False, False),
        ([5, 6, 5], 1e-7, True, False),
        ([5, 6, 5], 0.5, False, True),
        ([5, 5], 0.5, False, True),
        ([5, 5, 5, 5], 0.5, False, True),
    ],
)
def test_a_token_counts_by_its_score_and_a_length_counts_always(by_library, gap, tie, excessive):
    engine = Types().engine(trial("gen"))
    found = judging._tokens(engine, replies(by_library, gap))
    assert (found.tie, found.excess > 1) == (tie, excessive)


def broken(error: Exception, monkeypatch: pytest.MonkeyPatch) -> judging.Outcome:
    def fails(_engine: object, _trial: Trial) -> object:
        return torch.nn.Module().register_buffer("a.b", error)  # raises inside torch

    monkeypatch.setitem(properties.PROPERTIES, "causal", fails)
    return judging.judge(None, trial("causal"))


def test_a_crash_of_the_library_is_a_finding(monkeypatch):
    found = broken(RuntimeError(), monkeypatch)
    assert found.excess == NOT_A_NUMBER
    assert "in module.py" in found.told


def test_a_crash_of_ours_is_raised(monkeypatch):
    monkeypatch.setattr(properties.torch, "cat", None)
    with pytest.raises(TypeError):
        judging.judge(Types().engine(trial("rows")), trial("rows"))


def test_a_refusal_of_the_library_is_no_verdict():
    with pytest.raises(NotJudged, match="refuses: assisted generation is not supported"):
        excess(Types(), trial("gen_lookup", "mamba"))


def test_logits_that_are_no_numbers_or_have_another_shape_are_beyond_any_tolerance():
    plain = torch.ones(2, 3)
    for other in (plain * float("nan"), plain[:1]):
        pair = properties.Pair(
            plain, other, lambda n: plain.expand(n, -1, -1), torch.nn.Linear(1, 1)
        )
        assert judging.logits(pair).excess == NOT_A_NUMBER


def test_a_difference_that_more_draws_explain_is_counted_and_no_finding(monkeypatch):
    drawn = {rounding.FIRST_DRAWS: 1e-6, rounding.MORE_DRAWS: 1e-2}
    monkeypatch.setattr(judging, "_null", lambda _model, _again, draws: drawn[draws])
    pair = properties.Pair(torch.zeros(2, 3), torch.full((2, 3), 1e-3), lambda n: None, None)
    found = judging.logits(pair)
    assert (found.drawn_again, found.excess <= 1) == (True, True)


def test_rounding_moves_every_copy_but_the_first():
    model = build.build("llama")
    ids = torch.tensor([PROMPT])
    plain = model(input_ids=ids).logits[0]
    with rounding.noise(model, torch.Generator().manual_seed(0)):
        noisy = model(input_ids=ids.expand(3, -1)).logits
    moved = (noisy - plain).abs().amax(dim=(1, 2))
    assert moved[0] < moved[1] < 1e-3
    assert torch.equal(plain, model(input_ids=ids).logits[0])


def test_a_broken_property_is_shrunk_and_tells_how_to_repeat_it(monkeypatch):
    types = with_fault(caching.RowCorrupted)(Types())
    found, blind = many_types.judge_type(types, "llama", path="claims/x.py", only="split")
    assert not blind
    assert max(found.samples) > 1
    told = found.witness.split("ONECALL_TRIAL='")[1].split("'")[0]
    assert len(Trial.from_json(told).tokens) == 2
    monkeypatch.setenv("ONECALL_TRIAL", told)
    again, _ = many_types.judge_type(types, "llama", path="claims/x.py")
    assert again.samples[0] > 1
    assert len(again.samples) == 1


def test_what_is_not_judged_is_noted_with_its_reason():
    found = tally(Types(), "mamba", "static").note()
    assert found == {"trials": 0, "not judged": "the model says that it supports no static cache"}


def test_a_trial_comes_back_from_its_json():
    asked = trial("steps", seed=1, cache="dynamic")
    assert Trial.from_json(asked.to_json()) == asked
    with pytest.raises(ValueError, match="not a trial"):
        Trial.from_json("[]")


# One's own model, cache and attention ------------------------------------------------------------


def engine_of(name: str) -> SimpleNamespace:
    return SimpleNamespace(model=build.build(name), target=SimpleNamespace(name="mine"))


def found_by(monkeypatch, holds: str, **named: str) -> float:
    for variable, value in named.items():
        monkeypatch.setenv(f"ONECALL_{variable}", value)
    found = own_model.judge_property(engine_of("llama"), holds, path="claims/x.py")
    assert set(named.values()) <= set(found.notes.values())
    return max(found.samples)


def test_a_right_cache_passes_and_one_with_a_bug_is_caught(monkeypatch):
    assert found_by(monkeypatch, "split", CACHE_CLASS="examples.paged_cache:PagedCache") <= 1
    assert found_by(monkeypatch, "crop", CACHE_CLASS="examples.paged_cache:PagedCache") <= 1
    assert found_by(monkeypatch, "split", CACHE_CLASS="examples.paged_cache:TornCache") > 1


def test_a_right_attention_passes_and_one_with_a_bug_is_caught(monkeypatch):
    where = "examples.own_attention"
    assert found_by(monkeypatch, "steps", ATTENTION=f"{where}:softmax_by_hand") <= 1
    assert found_by(monkeypatch, "eager_sdpa", ATTENTION=f"{where}:softmax_by_hand") <= 1
    assert found_by(monkeypatch, "steps", ATTENTION=f"{where}:window_too_short") > 1


def test_a_fault_is_planted_into_the_librarys_cache(monkeypatch):
    monkeypatch.setenv("ONECALL_CACHE_CLASS", "examples.paged_cache:PagedCache")
    planted = own_model.with_fault(caching.RowCorrupted)(engine_of("llama"))
    found = own_model.judge_property(planted, "split", path="claims/x.py")
    assert max(found.samples) > 1


def test_a_name_that_names_nothing_is_told_in_one_line():
    with pytest.raises(CannotRun, match="give it as package"):
        own_model.cache_factory("examples.paged_cache:Nothing")


def test_a_trial_that_breaks_only_once_is_a_finding(monkeypatch):
    outcomes = iter([judging.Outcome(2.0, "told")])
    monkeypatch.setattr(judging, "judge", lambda *_: next(outcomes, judging.Outcome(0.0)))
    found = judging.search(lambda _: None, st.just(trial("steps")), examples=3)
    assert max(found.excess) == 2.0
    assert "keeps something between calls" in found.witness


# Draws -------------------------------------------------------------------------------------------


def drawn(monkeypatch: pytest.MonkeyPatch, holds: str = "steps", **how: object) -> list[Trial]:
    seen: list[Trial] = []
    monkeypatch.setattr(judging, "judge", lambda _, t: seen.append(t) or judging.Outcome(0.0))
    tally(Types(), "mistral", holds, **how)
    return seen


def test_a_salt_draws_the_same_trials_each_time_and_another_one_others(monkeypatch):
    plain = drawn(monkeypatch)
    assert plain == drawn(monkeypatch)
    assert plain != drawn(monkeypatch, salt="other")
    assert [t.tokens for t in plain] != [t.tokens for t in drawn(monkeypatch, "split")]


def test_prompts_are_cut_below_at_and_above_the_window(monkeypatch):
    seen = drawn(monkeypatch, examples=100)
    sides = [(t.cut > 4) - (t.cut < 4) for t in seen]
    assert min(sides.count(side) for side in (-1, 0, 1)) >= 15
    assert any(t.cut < 4 < len(t.tokens) - t.cut for t in seen)


def test_number_types_caches_attention_and_padding_are_drawn(monkeypatch):
    seen = drawn(monkeypatch, examples=100)
    assert {t.dtype for t in seen} == {"float32", "bfloat16"}
    assert {t.cache for t in seen} == {"own", "dynamic"}
    assert {t.attention for t in seen} == {"eager", "sdpa"}
    assert {t.padding for t in seen} == {1, 2, 3, 4, 5}
    assert {len(set(t.tokens)) == len(t.tokens) for t in seen} == {True, False}
