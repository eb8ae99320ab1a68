"""Beyond a knee the wait for the first token grows with the prompt."""

from __future__ import annotations

from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Scope, Source
from claims._kit.measure import Measured, NotApplicable
from claims._kit.rules import median_at_least
from fixtures import phases, replies
from fixtures.faults.timing import PromptIsCached
from fixtures.needs import Need

SETTING = "Tesla T4, Qwen2.5-0.5B, 16-bit, batch 1, attention unfused"


WHY = (
    "0 is no growth, 1 is work in proportion to the prompt: half of that is growth beyond doubt, "
)
ALONE = "and a processor's knee lies below 128 tokens"
UNFUSED = "above 1 where attention is unfused; pairs from before the knee are left out"
WHERE = {"cpu": ALONE, "cuda": UNFUSED}


def case(device: str, short: int, long: int) -> Case:
    """Growth between two prompt lengths, judged on one kind of device."""
    figure = Figure(
        limit=0.5,
        unit="exponent of growth with prompt length",
        claimed="151 ms at 1,024, 468 at 2,048, 7.2 s at 8,192 tokens (exponents 1.63, 1.97)",
        setting=SETTING,
        why=WHY + WHERE[device],
    )
    return Case(
        name=f"{short} to {long} tokens, {device}",
        params={"short": (short, 1), "long": (long, 1), "knee": device == "cuda"},
        figure=figure,
        judged_on=frozenset({device}),
        rehearsal={"short": (short // 16, 1), "long": (long // 16, 1)},
    )


CASES = (case("cpu", 128, 512), *(case("cuda", n // 2, n) for n in (1024, 2048, 4096, 8192)))

CLAIM = Claim(
    id="phases/first-token-grows",
    sentence=__doc__,
    source=Source(document="where-time-goes", where="the two waits", setting=SETTING),
    figure=CASES[0].figure,
    rule=median_at_least,
    needs=frozenset({Need.MODEL, Need.KV_CACHE}),
    scope=Scope(says="batch 1, prompts beyond the knee"),
    timed=True,
    mechanism="Prefill's arithmetic grows with the prompt, attention's with its square.",
    cases=CASES,
    controls=(
        Control("cached prompt, cpu", PromptIsCached.__doc__, PromptIsCached, CASES[0].name),
        Control("cached prompt, cuda", PromptIsCached.__doc__, PromptIsCached, CASES[-1].name),
    ),
)


def measure(engine: Any, case: Case) -> Measured:
    """The slope between the two lengths in a log-log plot, one per paired round."""
    short, long, felt = (case.params[name] for name in ("short", "long", "knee"))
    knee = phases.knee_tokens(engine) if felt else 0
    if why := phases.off_scope(engine, short[0], side="beyond", knee=knee):
        raise NotApplicable(why)
    pairs = replies.in_turn(engine, short, long)
    return Measured(
        samples=[replies.slope(short, long, pair) for pair in pairs],
        x=long[0],
        points={"first token, ms": phases.middle([b.first_ms for _, b in pairs])},
        notes={"first ms, short and long": [[a.first_ms, b.first_ms] for a, b in pairs]},
    )


test_holds, test_control_is_caught = CLAIM.tests(measure)
