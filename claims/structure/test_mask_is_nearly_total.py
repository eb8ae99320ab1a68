"""At the first step the grammar removes 151,934 of Qwen3's 151,936 ids."""

from __future__ import annotations

from collections.abc import Callable

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Source
from claims._kit.measure import Measured
from claims._kit.rules import every_sample_equals
from fixtures import vocabularies
from fixtures.faults import structure as faults
from fixtures.grammar import START, Scanner, Vocabulary

SETTING = "Qwen3-8B: 151,936 scores; compact JSON that begins with the key of a service"

CLAIM = Claim(
    id="structure/mask-is-nearly-total",
    sentence=__doc__,
    source=Source(document="one-call", where="summary page, structured output", setting=SETTING),
    figure=Figure(
        limit=151_934,
        unit="ids removed at the first step",
        claimed="151,934 of 151,936",
        setting=SETTING,
        why="a count, so nothing else will do: only ids whose text begins the sentence, an "
        "opening brace alone or with a quote behind it, can stay, and Qwen3 has '{' and '{\"'",
    ),
    rule=every_sample_equals,
    mechanism="Every sentence begins alike, and few pieces of a vocabulary begin that way.",
    cases=(
        Case(name="removed"),
        Case(
            name="left",
            params={"left": True},
            figure=Figure(
                limit=2,
                unit="ids left at the first step",
                claimed="two: 151,936 less 151,934",
                setting=SETTING,
                why="the opening brace, alone and with the quote behind it; the source's own "
                "list of the likeliest first ids holds both",
            ),
        ),
    ),
    subject=vocabularies.qwen3,
    quick=True,
    controls=(
        Control(
            "single characters alone",
            "The scanner skips every piece of two or more characters.",
            faults.single_characters_alone,
        ),
        Control(
            "control tokens as text",
            "Ids that add no text are taken for an opening brace.",
            faults.control_tokens_as_text,
            "left",
        ),
    ),
)


def measure(vocabulary: Callable[[], Vocabulary], case: Case) -> Measured:
    """How many ids the reference scanner removes, or leaves, before anything is written."""
    entries = vocabulary()
    mask = Scanner(entries).allowed(START)
    left = mask.nonzero()[:, 0].tolist()
    return Measured(
        samples=[float(len(left) if case.params.get("left") else (~mask).sum().item())],
        witness=", ".join(f"id {i} ({entries.pieces[i]!r})" for i in left[:5]),
        notes={"scores": len(mask), "left": len(left)},
    )


test_holds, test_control_is_caught = CLAIM.tests(measure)
