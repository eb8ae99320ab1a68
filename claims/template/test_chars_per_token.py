"""English prose runs near four characters a token; code and other languages do not."""

from __future__ import annotations

from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Source
from claims._kit.measure import Measured
from claims._kit.rules import every_sample_at_most
from fixtures import prompts
from fixtures.faults import templates as faults
from fixtures.tokenizers import qwen3, smollm2

SAMPLES = prompts.read("text_samples")["sample"]
TOKENIZERS = {"Qwen3": qwen3, "SmolLM2": smollm2}
WHY = (
    "the source offers the rule for rough estimates of context use: it serves when the estimate, "
    "characters / 4, is within a quarter of the true count (3 to 5 characters a token), and has "
    "fallen apart when it is not; chosen before the tokens of any sample were counted"
)
UNIT = "error of the estimate, as a share of the true count"
NEAR = Figure(limit=0.25, unit=UNIT, why=WHY, claimed="about four characters a token")
APART = Figure(limit=0.25, unit=UNIT, why=WHY, claimed="falls apart for code and non-English text")

CLAIM = Claim(
    id="template/chars-per-token",
    sentence=__doc__,
    source=Source(document="inference-chapter", where="Tokens, not words"),
    figure=NEAR,
    rule=every_sample_at_most,
    mechanism="Vocabularies are filled with the pieces that are frequent in the training text, "
    "most of which is English prose; what is rarer there is cut finer.",
    cases=tuple(
        Case(
            name=f"{sample['name']}, {tokenizer}",
            params={"text": sample["text"], "tokenizer": tokenizer},
            figure=NEAR if sample["kind"] == "prose" else APART,
            rule=None if sample["kind"] == "prose" else "every_sample_at_least",
        )
        for sample in SAMPLES
        for tokenizer in TOKENIZERS
    ),
    subject=TOKENIZERS,
    quick=True,
    controls=(
        Control(
            name="byte tokenizer",
            sentence="Every byte is a token of its own.",
            plant=faults.byte_tokenizer,
            case="English story, Qwen3",
        ),
        Control(
            name="four characters each",
            sentence="Any text whatever is cut into pieces of four characters.",
            plant=faults.four_characters_each,
            case="Japanese, Qwen3",
        ),
    ),
)


def measure(tokenizers: Any, case: Case) -> Measured:
    """How far characters / 4 is from the number of tokens."""
    text = case.params["text"]
    count = len(tokenizers[case.params["tokenizer"]]().encode(text))
    return Measured(
        samples=[abs(len(text) / 4 / count - 1)],
        witness=f"{len(text)} characters are {count} tokens",
        points={"characters per token": len(text) / count},
    )


test_holds, test_control_is_caught = CLAIM.tests(measure)
