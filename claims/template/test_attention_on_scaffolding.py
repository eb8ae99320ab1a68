"""Before the reply most attention lies on the template's control tokens, far above their share."""

from __future__ import annotations

from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Source
from claims._kit.measure import Measured
from claims._kit.rules import every_sample_at_least
from fixtures import attention, chats
from fixtures.faults.attention import OtherPositions, UniformAttention
from fixtures.needs import Need

SETTING = "Qwen3-8B, bfloat16, A100, the 38-token sample request, all layers and heads"

CLAIM = Claim(
    id="template/attention-on-scaffolding",
    sentence=__doc__,
    source=Source(document="one-call", where="section 2, where the model looks", setting=SETTING),
    figure=Figure(
        limit=0.5,
        unit="share of attention on control tokens",
        claimed="59.1 % on 7 of 38 positions (18.4 %); 91.4 % in layer 30",
        setting=SETTING,
        why="most means more than half of the mass, averaged over layers and heads",
    ),
    rule=every_sample_at_least,
    needs=frozenset({Need.WHOLE, Need.MODEL, Need.TRAINED, Need.TOKENIZER, Need.CHAT_TEMPLATE}),
    mechanism="Position 0 is an attention sink in most models; it is shown apart.",
    cases=(
        Case(name="mass"),
        Case(
            name="times their share",
            figure=Figure(
                limit=2.0,
                unit="share of attention / share of positions",
                claimed="59.1 % / 18.4 % = 3.2",
                setting=SETTING,
                why="an even spread gives 1 and the source's figure 3.2; far above is at least "
                "twice an even spread",
            ),
        ),
    ),
    controls=(
        Control("uniform attention", UniformAttention.__doc__, UniformAttention),
        Control("uniform, share", UniformAttention.__doc__, UniformAttention, "times their share"),
        Control("other positions", OtherPositions.__doc__, OtherPositions),
    ),
)


def measure(engine: Any, case: Case) -> Measured:
    """Mass of the last prompt position on control tokens, mean over layers and heads."""
    ids = engine.render(chats.STATUS_CODE)
    places = attention.scaffolding(engine, ids)
    weights = attention.at_last_position(engine, ids)
    on_places = weights[:, :, places].sum(-1)
    mass, even = on_places.mean().item(), len(places) / len(ids)
    sink = weights[:, :, 0].mean().item()
    return Measured(
        samples=[mass if case.name == "mass" else mass / even],
        notes={
            "positions": places,
            "tokens": len(ids),
            "even share": even,
            "on position 0 (sink)": sink,
            "without position 0": on_places.mean().item() - (sink if 0 in places else 0.0),
            "by layer": on_places.mean(-1).tolist(),
        },
    )


test_holds, test_control_is_caught = CLAIM.tests(measure)
