"""One prefill gives the first token's scores and every position's keys and values."""

from __future__ import annotations

from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Source
from claims._kit.measure import Measured
from claims._kit.rules import every_sample_equals
from fixtures import looping
from fixtures.cache_contents import chunks_of, filled, positions_held
from fixtures.faults.looping import CacheIsIgnored
from fixtures.needs import Need

LENGTHS = (1, 2, 17, 64)
ROOM = 80

CLAIM = Claim(
    id="loop/prefill-fills-cache",
    sentence=__doc__,
    source=Source(document="inference-chapter", where="prefill: one pass over the whole prompt"),
    figure=Figure(
        limit=0,
        unit="positions or scores missing",
        claimed="logits for the first token, and a key and value per position and layer",
        why="counts of what one pass over n tokens leaves: n positions in the keys and in the "
        "values of each layer (one that holds only zeros is not filled), and one finite score "
        "for each vocabulary entry; they are exact",
    ),
    rule=every_sample_equals,
    needs=frozenset({Need.MODEL, Need.KV_CACHE}),
    cases=(Case(name="dynamic"), Case(name="static")),
    quick=True,
    controls=tuple(
        Control(
            name=f"cache not used, {kind}",
            sentence="The pass is run as if no cache had been handed in.",
            plant=CacheIsIgnored,
            case=kind,
        )
        for kind in ("dynamic", "static")
    ),
)


def measure(engine: Any, case: Case) -> Measured:
    """What is missing after prompts of 1, 2, 17 and 64 tokens: per layer, and in the scores."""
    runner = engine.variant(cache_kind=case.name)
    layers = runner.model.config.get_text_config().num_hidden_layers
    samples: list[float] = []
    for tokens in LENGTHS:
        ids = looping.prompt_ids(runner, tokens)
        cache, logits = filled(runner, chunks_of(runner, ids), length=ROOM)
        # Counted over all the cache has room for: too many positions are as wrong as too few.
        held = positions_held(cache, ROOM)
        held += [0] * (2 * layers - len(held))
        samples += [float(tokens - n) for n in held]
        samples.append(float(runner.vocabulary - logits[0, -1].isfinite().sum()))
    return Measured(samples=samples, notes={"layers": layers, "prompts": list(LENGTHS)})


test_holds, test_control_is_caught = CLAIM.tests(measure)
