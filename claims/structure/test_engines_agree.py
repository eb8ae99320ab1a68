"""At every reachable state an engine's mask is that of a full scan of the vocabulary."""

from __future__ import annotations

from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Source
from claims._kit.measure import Measured, NotApplicable
from claims._kit.rules import every_sample_equals
from fixtures import constrained, vocabularies
from fixtures.constrained_engines import COMPILED, Llguidance
from fixtures.faults import structure as faults
from fixtures.grammar import pattern
from fixtures.vocabularies import QWEN3, SMOLLM2

AS_SHIPPED = "llguidance as shipped"
ENGINES = {**COMPILED, AS_SHIPPED: lambda: Llguidance(spell=vocabularies.tokenizer_of)}

CLAIM = Claim(
    id="structure/engines-agree",
    sentence=__doc__,
    source=Source(document="one-call", where="section 5, engines in place of the toy scanner"),
    figure=Figure(
        limit=0,
        unit="ids by which two masks differ at one state",
        claimed="the same masks, computed in advance",
        setting="XGrammar is named; the sample grammar, no model",
        why="a mask is a set: one id too many is a leak, one too few takes a legal reply away",
    ),
    rule=every_sample_equals,
    mechanism="Which pieces extend a prefix follows from grammar and vocabulary alone.",
    cases=tuple(
        Case(name=f"{engine}, {vocabulary}", params={"engine": engine, "vocabulary": vocabulary})
        for engine in ENGINES
        for vocabulary in (QWEN3, SMOLLM2)
    ),
    subject=ENGINES,
    controls=tuple(
        Control(name=name, sentence=sentence, plant=plant, case=f"XGrammar, {SMOLLM2}")
        for name, sentence, plant in (
            ("one too many", "At one state one illegal id stays.", faults.one_id_too_many),
            ("one too few", "At one state one legal id is removed.", faults.one_id_too_few),
            ("control", "Control tokens and unused ids stay.", faults.control_tokens_let_through),
        )
    ),
)


def measure(engines: Any, case: Case) -> Measured:
    """By how many ids the masks differ, one sample per reachable state."""
    vocabulary = vocabularies.BY_NAME[case.params["vocabulary"]]()
    try:
        compiled = engines[case.params["engine"]]().compile(pattern(), vocabulary)
    except constrained.NotInstalled as lack:
        raise NotApplicable(str(lack)) from lack
    found = list(constrained.differences(compiled, vocabulary))
    off = [d for d in found if d.extra or d.missing]
    return Measured(
        samples=[float(len(d.extra) + len(d.missing)) for d in found],
        witness=off[0].words(vocabulary) if off else "",
        notes={
            "reachable states": len(found),
            "states that differ": len(off),
            "illegal ids let through": sum(len(d.extra) for d in found),
            "legal ids removed": sum(len(d.missing) for d in found),
        },
    )


test_holds, test_control_is_caught = CLAIM.tests(measure)
