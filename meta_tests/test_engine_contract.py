"""What every way of running a model has to keep, whichever it is."""

import pytest
import torch
from transformers import TopPLogitsWarper

from fixtures import targets
from fixtures.engines.loop import GREEDY, Sampling, draw_nucleus, generate
from fixtures.engines.tiny import Example, Shape, build
from fixtures.engines.transformers_engine import TransformersEngine
from fixtures.equivalence import chunked, compare, full_pass, null_spread
from fixtures.faults import caching
from fixtures.faults.caching import Fault, cached_tokens
from fixtures.needs import Need

PLAIN = TransformersEngine(targets.random_weights("tiny"), build(Shape()), None, "cpu")
ENGINES = {
    f"{attention} {cache}": PLAIN.variant(attention=attention, cache_kind=cache)
    for attention in ("eager", "sdpa")
    for cache in ("dynamic", "static")
}
ENGINES["a fault without a flaw"] = Fault(PLAIN)
IDS = torch.tensor([[3, 1, 4, 1, 5, 9, 2, 6]])


@pytest.fixture(params=ENGINES.values(), ids=ENGINES)
def engine(request):
    return request.param


def test_logits_have_a_row_per_token_and_a_column_per_entry(engine):
    assert engine.forward(IDS).shape == (1, 8, engine.vocabulary)


def test_last_only_keeps_the_last_position(engine):
    whole, last = engine.forward(IDS), engine.forward(IDS, last_only=True)

    assert last.shape[1] == 1
    assert torch.allclose(whole[:, -1:], last, atol=1e-4)


def test_a_cache_is_extended_in_place_by_what_was_fed(engine):
    cache = engine.new_cache(length=8)
    engine.forward(IDS[:, :5], cache)
    engine.forward(IDS[:, 5:7], cache)

    assert cached_tokens(cache) == 7


def test_chunks_over_a_cache_equal_one_pass(engine):
    tokens = IDS[0].tolist()
    reference = full_pass(engine, tokens)
    found = compare(
        reference, chunked(engine, tokens, (3, 6)), null_spread(engine, tokens, reference)
    )

    assert found.excess <= 1


def test_variants_of_one_number_type_share_their_weights(engine):
    assert engine.variant(cache_kind="static").model is engine.variant(attention="eager").model


def test_another_number_type_is_a_copy_made_once():
    half = PLAIN.variant(dtype=torch.bfloat16)

    assert half.dtype == torch.bfloat16
    assert PLAIN.dtype == torch.float32
    assert PLAIN.variant(dtype=torch.bfloat16).model is half.model


def test_random_weights_never_offer_trained_ones(engine):
    assert Need.TRAINED not in engine.offers
    assert {Need.MODEL, Need.KV_CACHE} <= engine.offers


@pytest.mark.parametrize("name", ["PositionsRestart", "RowCorrupted", "CacheShifted", "SeesLater"])
def test_a_fault_follows_into_variants_and_onto_other_models(name):
    kind = getattr(caching, name)
    wrapped = kind(PLAIN).variant(cache_kind="static").with_model(build(Shape(seed=1)))

    assert isinstance(wrapped, kind)
    assert wrapped.cache_kind == "static"


class TextlessEngine(Fault):
    """Decodes ids as numbers; the tiny model has no tokenizer."""

    end_ids = frozenset({0})

    def decode(self, ids):
        return " ".join(map(str, ids))


def test_batched_generation_equals_one_prompt_at_a_time():
    engine = TextlessEngine(PLAIN)
    prompts = [[5, 6, 7], [9], [3, 1, 4, 1, 5]]
    together = generate(engine, prompts, [GREEDY], max_new_tokens=6)
    alone = [generate(engine, [p], [GREEDY], max_new_tokens=6)[0] for p in prompts]

    assert alone == together


def test_generation_repeats_with_its_seed_and_not_without():
    engine = TextlessEngine(PLAIN)
    how = [Sampling(temperature=1.0, top_p=0.95)] * 3
    first = generate(engine, [[5, 6, 7]], how, max_new_tokens=8, seed=1)

    assert first == generate(engine, [[5, 6, 7]], how, max_new_tokens=8, seed=1)
    assert first != generate(engine, [[5, 6, 7]], how, max_new_tokens=8, seed=2)


def test_a_masked_reply_holds_allowed_ids_alone():
    engine = TextlessEngine(PLAIN)
    allowed = torch.zeros(PLAIN.vocabulary, dtype=torch.bool)
    allowed[[11, 12]] = True
    replies = generate(
        engine,
        [[5, 6]],
        [GREEDY, Sampling(1.3, 0.95)],
        max_new_tokens=5,
        masker=lambda _r, _i: allowed,
    )

    assert {i for reply in replies for i in reply.ids} <= {11, 12}


def test_an_example_survives_its_own_json():
    example = Example(Shape(window=4, family="mistral"), (1, 2, 3), (1,), padding=1, mates=2)

    assert example == Example.from_json(example.to_json())


@pytest.mark.parametrize("text", ["{}", '{"shape":{"depth":1},"tokens":[1],"cuts":[1]}', "[1]"])
def test_a_text_that_is_no_example_is_refused_in_one_line(text):
    with pytest.raises(ValueError, match="not an example"):
        Example.from_json(text)


@pytest.mark.parametrize("top_p", [0.3, 0.8, 0.95])
def test_drawn_ids_lie_in_the_librarys_own_nucleus_with_its_shares(top_p):
    """Peer: transformers' TopPLogitsWarper on the same scores; 20,000 draws of one row."""
    generator = torch.Generator().manual_seed(3)
    scores = torch.randn(1, 40, generator=generator) * 2
    allowed = TopPLogitsWarper(top_p)(None, scores.clone())[0].softmax(-1)
    shares = scores.softmax(-1).expand(20_000, -1)
    found = draw_nucleus(shares, top_p, generator).bincount(minlength=40) / 20_000

    assert (found[allowed == 0] == 0).all()
    assert (found - allowed).abs().max() < 0.02
