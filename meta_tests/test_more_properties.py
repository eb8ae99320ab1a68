"""Stop strings, beams and continued chats: what is expected, and that a wrong library is seen."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fixtures import continued, judging, more_properties
from fixtures.architectures import build
from fixtures.chat_formats import COLLECTED, Template, collected
from fixtures.many_types import Types
from fixtures.trials import Trial

CHATML = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
TRIMMED = CHATML.replace("m.content }}", "m.content | trim }}")


def trial(holds: str) -> Trial:
    tokens = (5, 17, 9, 33, 60, 8)
    return Trial("llama", holds, tokens, tokens[::-1], 3, padding=2, attention="eager")


# Stop strings ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("texts", "stop", "count"),
    [
        (["st", "op"], "stop", 2),
        (["las", "topper"], "stop", 2),
        (["s", "to", "pped", "x"], "stop", 3),
        (["x", "bac", "a"], "a", 2),
        (["stop", "at"], "stop", 1),
        (["x", "y"], "z", 2),
    ],
)
def test_a_reply_stops_at_the_token_that_completes_the_string(texts, stop, count):
    assert more_properties.first_stop(texts, 0, stop) == count


def test_what_the_prompt_says_stops_nothing_but_may_begin_a_stop():
    assert more_properties.first_stop(["stop", "a", "b"], 1, "stop") == 3
    assert more_properties.first_stop(["sto", "p", "b"], 1, "stop") == 2


@settings(max_examples=200, deadline=None)
@given(
    texts=st.lists(st.text("ab", min_size=1, max_size=3), min_size=1),
    stop=st.text("ab", min_size=1),
)
def test_the_count_is_the_least_whose_text_has_the_string(texts, stop):
    holds = [n for n in range(1, len(texts) + 1) if stop in "".join(texts[:n])]
    assert more_properties.first_stop(texts, 0, stop) == (holds[0] if holds else len(texts))


def test_every_token_has_a_text_of_its_own_that_the_tokenizer_gives_back():
    tokenizer = more_properties.spelling(97)
    texts = tokenizer.convert_ids_to_tokens(list(range(97)))
    assert len(set(texts)) == 97
    assert tokenizer.decode([3, 29, 4]) == f"a{texts[29]}b"


def test_a_library_that_does_not_stop_is_seen(monkeypatch):
    engine = Types().engine(trial("gen_stop"))
    assert judging.judge(engine, trial("gen_stop")).excess <= 1
    real = more_properties.generation.library

    def deaf(*args: object, stop_strings: object = None, tokenizer: object = None) -> object:
        del stop_strings, tokenizer
        return real(*args)

    monkeypatch.setattr(more_properties.generation, "library", deaf)
    assert judging.judge(engine, trial("gen_stop")).excess > 1


# Beams and rows ----------------------------------------------------------------------------------


def test_a_greedy_reply_is_not_taken_for_the_best_beam(monkeypatch):
    engine = Types().engine(trial("gen_beams"))
    assert judging.judge(engine, trial("gen_beams")).excess <= 1
    real = more_properties.generation.library
    monkeypatch.setattr(
        more_properties.generation, "library", lambda e, p, **_: real(e, p, num_beams=1)
    )
    assert judging.judge(engine, trial("gen_beams")).excess > 1


def test_values_taken_for_keys_are_seen(monkeypatch):
    engine = Types().engine(trial("cache_rows"))
    assert judging.judge(engine, trial("cache_rows")).excess <= 1
    real = more_properties._rearranged

    def confused(cache: object) -> object:
        for layer in real(cache).layers:
            layer.values = layer.keys
        return cache

    monkeypatch.setattr(more_properties, "_rearranged", confused)
    assert judging.judge(engine, trial("cache_rows")).excess > 1


# Continued chats ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["qwen2_5", "llama3", "smolvlm", "gemma"])
def test_this_library_goes_on_where_the_message_ends(name):
    assert name in COLLECTED
    assert continued.search(collected(name), examples=20).witness == ""


@pytest.mark.parametrize(("source", "trims"), [(CHATML, False), (TRIMMED, True)])
def test_a_template_that_trims_is_known_for_it(source, trims):
    assert continued.trims(Template("made up", source)) is trims


def test_a_prompt_that_closes_an_empty_message_is_seen(monkeypatch):
    real = continued.rendered

    def closes(template: Template, messages: list, **how: bool) -> str:
        if messages[-1]["content"] == "":
            how.pop("continue_final_message", None)
        return real(template, messages, **how)

    monkeypatch.setattr(continued, "rendered", closes)
    found = continued.search(Template("made up", CHATML), examples=20)
    assert "texts=('', '')" in found.witness
    assert max(found.excess) > 1


# Older releases ----------------------------------------------------------------------------------


def test_kinds_of_layers_are_called_as_the_release_calls_them():
    own = {"layers_block_type": ["linear_attention", "hybrid"], "n": 1}
    old = {"layers_block_type": ["mamba", "hybrid", "mamba"]}
    assert build.older_names(own, old)["layers_block_type"] == ["mamba", "hybrid"]
    new = {"layers_block_type": ["linear_attention", "hybrid"]}
    assert build.older_names(own, new) == own
