"""The fuzz finds what is planted, shrinks it, and repeats it."""

import pytest

from fixtures import fuzz, targets
from fixtures.engines.tiny import Example, Shape, build
from fixtures.engines.transformers_engine import TransformersEngine
from fixtures.faults import caching

PATH = "claims/prefix/test_kv_invariance.py"
FAULTS = [
    caching.PositionsRestart,
    caching.RowCorrupted,
    caching.CacheShifted,
    caching.SeesLater,
    caching.ReadsBothWays,
]


@pytest.fixture(scope="module")
def engine():
    return TransformersEngine(targets.random_weights("tiny"), build(Shape()), None, "cpu")


def example_of(witness):
    text = witness.split(f"{fuzz.WITNESS}='")[1].split("'")[0]
    return Example.from_json(text)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda f: f.__name__)
def test_a_planted_fault_is_found_and_shrunk_to_a_short_prompt(engine, fault):
    found = fuzz.search(fault(engine), path=PATH)
    example = example_of(found.witness)

    assert found.samples[-1] > 1
    assert len(example.tokens) <= 4
    assert example.shape.layers <= 2


def test_the_repeat_command_repeats_the_witness(engine, monkeypatch):
    faulty = caching.CacheShifted(engine)
    first = fuzz.search(faulty, path=PATH)
    monkeypatch.setenv(fuzz.WITNESS, example_of(first.witness).to_json())
    again = fuzz.search(faulty, path=PATH)

    assert again.samples == [first.samples[-1]]
    assert again.witness == first.witness


def test_a_repeated_witness_passes_once_the_fault_is_mended(engine, monkeypatch):
    first = fuzz.search(caching.CacheShifted(engine), path=PATH)
    monkeypatch.setenv(fuzz.WITNESS, example_of(first.witness).to_json())

    assert fuzz.search(engine, path=PATH).samples[0] <= 1


def test_the_pull_request_profile_draws_the_same_examples_twice(engine):
    seen = []

    def note(_subject, example):
        seen.append(example)
        return fuzz.Difference(largest=0.0, null=1.0, position=0, expected=0.0, found=0.0)

    fuzz.search(engine, path=PATH, judge=note)
    once, seen[:] = list(seen), []
    fuzz.search(engine, path=PATH, judge=note)

    assert len(once) == 300
    assert once == seen


def test_logits_that_are_no_numbers_are_found_not_passed(engine):
    class GivesNan(caching.CacheFault):
        def flawed(self, ids, cache, **how):
            return self.honest.forward(ids, cache, **how) * float("nan")

    found = fuzz.search(GivesNan(engine), path=PATH)

    assert found.samples[-1] > 1
