"""Each defect that is listed of transformers, seen again with bare calls of the library.

Nothing of the suite takes part but the tiny model and the drawn trial: how a cache is handed on,
what a mask is and when two replies are one is written down here once more.
"""

from __future__ import annotations

import inspect
import json
import re
import traceback
from itertools import pairwise
from types import SimpleNamespace

import pytest
import torch
from transformers import DynamicCache, GenerationConfig, StaticCache

from claims._kit import deviations
from fixtures.architectures.build import build

ID = "architectures/every-cache-is-invisible"
FILE = "claims/architectures/test_every_cache_is_invisible.py"
LISTED = [line for line in deviations.read() if line.claim == ID]
CACHES = ("cache", "past_key_values", "state", "mems")
NEW_TOKENS = 8
# Of the largest logit: twenty roundings of 32 bits.
NO_ROUNDING = 20 * torch.finfo(torch.float32).eps


def trial_of(line: deviations.Deviation) -> SimpleNamespace:
    told = re.search(r"ONECALL_TRIAL='(.*?)'", line.witness)
    return SimpleNamespace(**json.loads(told[1]))


def padded(tokens: list[int], pads: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    ids = torch.tensor([[0] * pads + list(tokens)])
    mask = (torch.arange(ids.shape[1]) >= pads).long()[None]
    return ids, mask, (mask.cumsum(-1) - 1).clamp(min=0)


def call(model, ids, **given):
    taken = inspect.signature(model.forward).parameters
    return model(input_ids=ids, **{n: v for n, v in given.items() if n in taken and v is not None})


def at_once(model, tokens, pads=0, *, numbered=True):
    ids, mask, places = padded(tokens, pads)
    how = {"attention_mask": mask if pads else None, "position_ids": places if numbered else None}
    return call(model, ids, use_cache=False, **how).logits[0, pads:]


def in_parts(model, tokens, bounds, pads=0, *, cache=None, numbered=True):
    """``bounds`` count tokens; pads belong to the first part."""
    name = next(n for n in CACHES if n in inspect.signature(model.forward).parameters)
    ids, mask, places = padded(tokens, pads)
    found = []
    for start, end in pairwise([0, *(b + pads for b in bounds), ids.shape[1]]):
        how = {"attention_mask": mask[:, :end] if pads else None, name: cache}
        how["position_ids"] = places[:, start:end] if numbered else None
        out = call(model, ids[:, start:end], use_cache=True, **how)
        cache = cache if out.get(name) is None else out[name]
        found.append(out.logits[0])
    return torch.cat(found)[pads:]


def singly(t) -> range:
    return range(t.cut, len(t.tokens))


def its_cache(model, t):
    """For a new text, after another one was read with a cache of its own."""
    if t.cache != "dynamic":
        return None
    in_parts(model, t.other, [], cache=DynamicCache(config=model.config))
    return DynamicCache(config=model.config)


def steps(model, t):
    found = in_parts(model, t.tokens, singly(t), cache=its_cache(model, t))
    return at_once(model, t.tokens), found


def split(model, t):
    return at_once(model, t.tokens), in_parts(model, t.tokens, [t.cut], cache=its_cache(model, t))


def positions(model, t):
    found = in_parts(model, t.tokens, [t.cut], cache=its_cache(model, t), numbered=False)
    return at_once(model, t.tokens, numbered=False), found


def defaults(model, t):
    return at_once(model, t.tokens), at_once(model, t.tokens, numbered=False)


def static(model, t):
    pads = t.padding if t.cut % 2 else 0
    cache = StaticCache(config=model.config, max_cache_len=pads + len(t.tokens))
    bounds = [t.cut, *range(t.cut + 2, len(t.tokens))]
    return at_once(model, t.tokens), in_parts(model, t.tokens, bounds, pads, cache=cache)


def leftpad(model, t):
    return at_once(model, t.tokens), at_once(model, t.tokens, t.padding)


def leftpad_steps(model, t):
    found = in_parts(model, t.tokens, singly(t), t.padding, cache=its_cache(model, t))
    return at_once(model, t.tokens), found


def causal(model, t):
    other = [*t.tokens[: t.cut], *t.other[t.cut :]]
    one, two = (at_once(model, ids, numbered=False) for ids in (t.tokens, other))
    return one[: t.cut], two[: t.cut]


def eager_sdpa(model, t):
    pads = t.padding if t.cut % 2 else 0
    kind = {"seed": t.seed, "dtype": getattr(torch, t.dtype)}
    one, two = (build(t.model_type, attention=a, **kind) for a in ("eager", "sdpa"))
    return at_once(one, t.tokens, pads), at_once(two, t.tokens, pads)


def crop(model, t):
    cache = DynamicCache(config=model.config)
    if hasattr(cache, "activate_past_recording"):
        cache.activate_past_recording()
    wrong = t.other[: 1 + t.padding % 3]
    in_parts(model, [*t.tokens[: t.cut], *wrong], [t.cut], cache=cache)
    cache.crop(-len(wrong))
    ids, _, places = padded(t.tokens, 0)
    how = {"position_ids": places[:, t.cut :], "use_cache": True}
    found = call(model, ids[:, t.cut :], cache=cache, **how).logits[0]
    return at_once(model, t.tokens)[t.cut :], found


def greedy(model, prompt) -> torch.Tensor:
    ids = list(prompt)
    for _ in range(NEW_TOKENS):
        ids.append(int(at_once(model, ids)[-1].argmax()))
    return torch.tensor(ids[len(prompt) :])


def replies(model, prompts, **how):
    """By hand, one by one; by the library, in one padded batch."""
    longest = max(map(len, prompts))
    rows = [padded(p, longest - len(p)) for p in prompts]
    ids, mask = (torch.cat([row[n] for row in rows]) for n in (0, 1))
    greedily = {"do_sample": False, "max_new_tokens": NEW_TOKENS, "pad_token_id": 0}
    model.generation_config = GenerationConfig(**greedily, bos_token_id=1, eos_token_id=10**6)
    found = model.generate(ids, attention_mask=mask, **how)[:, longest:]
    return torch.stack([greedy(model, p) for p in prompts]), found


def one_by_one(model, t, **how):
    pairs = [replies(model, [prompt], **how) for prompt in (t.tokens, t.other[: t.cut])]
    return tuple(map(torch.cat, zip(*pairs, strict=True)))


def gen(model, t):
    return one_by_one(model, t)


def gen_static(model, t):
    return one_by_one(model, t, cache_implementation="static")


def gen_pad(model, t):
    return replies(model, [t.tokens, t.other[: t.cut]])


def gen_chunk(model, t):
    return replies(model, [t.tokens], prefill_chunk_size=t.cut)


def gen_chunk_pad(model, t):
    return replies(model, [t.tokens, t.other[: t.cut]], prefill_chunk_size=t.cut)


def apart(t: SimpleNamespace) -> float:
    """The largest difference, in units of the largest logit; infinite where the library fails."""
    how = {"dtype": getattr(torch, t.dtype), "seed": t.seed, "attention": t.attention}
    model = build(t.model_type, **how)
    try:
        with torch.no_grad():
            plain, other = globals()[t.holds](model, t)
    except Exception as error:
        if traceback.extract_tb(error.__traceback__)[-1].filename == __file__:
            raise
        return float("inf")
    if plain.shape != other.shape:
        return float("inf")
    gap = (plain.double() - other.double()).abs().max() / plain.double().abs().max()
    return float("inf") if gap.isnan() else float(gap)


def ids(line: deviations.Deviation) -> str:
    return line.case


@pytest.mark.parametrize("line", LISTED, ids=ids)
def test_a_listed_defect_has_a_witness_of_its_own(line):
    t, (model_type, _, holds) = trial_of(line), line.case.partition(": ")
    assert t.model_type == model_type
    assert t.holds == (holds or t.holds)
    assert f"{FILE}::test_holds[{model_type}" in line.witness


@pytest.mark.slow
@pytest.mark.parametrize("line", LISTED, ids=ids)
def test_bare_calls_show_a_listed_defect_too(line):
    assert apart(trial_of(line)) > NO_ROUNDING


@pytest.mark.slow
@pytest.mark.parametrize("line", LISTED, ids=ids)
def test_bare_calls_show_nothing_of_the_kind_on_a_sound_model(line):
    assert apart(SimpleNamespace(**{**vars(trial_of(line)), "model_type": "llama"})) < NO_ROUNDING
