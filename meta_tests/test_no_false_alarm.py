"""Sound architectures, thousands of trials, not one alarm.

``ONECALL_EXAMPLES=2000 pytest meta_tests/test_no_false_alarm.py -s`` tries fewer,
``ONECALL_SALT=tuesday`` others.
"""

from __future__ import annotations

import os
from math import ceil

import pytest

from fixtures import judging
from fixtures.fuzz import one_thread
from fixtures.many_types import Types, tally

EXAMPLES = int(os.environ.get("ONECALL_EXAMPLES", "20000"))
SALT = os.environ.get("ONECALL_SALT", "")
# Widely used and long settled: dense and with experts, rotary, learned and ALiBi positions, with
# and without windows. None of them is listed in claims/deviations.toml.
SOUND = (
    *("bert", "cohere2", "deepseek_v3", "falcon", "gemma2", "gemma3_text", "gpt2", "gpt_neox"),
    *("gpt_oss", "llama", "mistral", "mixtral", "mpt", "olmo2", "opt", "phi3"),
    *("qwen2", "qwen3", "qwen3_moe", "starcoder2"),
)


def offered(name: str) -> list[str]:
    """The properties that a type can be tried on."""
    return [p for p in judging.NAMES if tally(Types(), name, p, examples=2, salt="offered").excess]


@pytest.mark.slow
@pytest.mark.parametrize("name", SOUND)
def test_a_sound_architecture_raises_no_alarm(name, record_property):
    with one_thread():
        properties = offered(name)
        each = ceil(EXAMPLES / len(SOUND) / len(properties))
        found = {
            p: tally(Types(), name, p, examples=each, salt=f"{SALT} no alarm ") for p in properties
        }
    excess = {p: max(t.excess) for p, t in found.items()}
    worst = max(excess, key=lambda p: excess[p])
    tried = sum(len(t.excess) for t in found.values())
    record_property("trials", tried)
    record_property("largest excess", excess[worst])
    print(f"{name}: {tried} trials, largest excess {excess[worst]:.3f} ({worst})")
    assert [t.witness for t in found.values() if t.witness] == []
    assert tried >= EXAMPLES / len(SOUND)
