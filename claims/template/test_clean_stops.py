"""In its own template a model answers briefly and stops; raw or in foreign tags it does not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Source
from claims._kit.measure import Measured
from claims._kit.rules import share_at_least
from fixtures import questions
from fixtures.faults.answering import AlwaysClean, NeverStops
from fixtures.faults.answering import RawInsteadOfTemplate as Raw
from fixtures.needs import Need

SETTING = "Qwen3-8B, greedy, at most 32 new tokens, five questions"
HALF = (
    "the source opposes always (5 of 5) to never (0 of 5); one half is as far from both, and the "
    "exact interval over 60 questions lies clear of it for any rate below 0.36 or above 0.64"
)
UNITS = {"clean": "share of clean answers", "stops": "share of replies that stop"}


FIGURE = Figure(limit=0.5, unit=UNITS["clean"], claimed="5 of 5 clean", setting=SETTING, why=HALF)


def case(wrapping: str, mark: str) -> Case:
    """Natively the mark is the rule, in the other wrappings the exception; one half decides."""
    native = wrapping == "native"
    claimed = f"{5 if native else 0} of 5 {mark}"
    return Case(
        name=f"{wrapping}, {mark}",
        params={"wrapping": wrapping, "mark": mark},
        figure=replace(FIGURE, unit=UNITS[mark], claimed=claimed),
        rule="share_at_least" if native else "share_at_most",
    )


CASES = tuple(case(w, m) for w in ("native", "raw", "llama-2") for m in ("clean", "stops"))

CLAIM = Claim(
    id="template/clean-stops",
    sentence=__doc__,
    source=Source(document="one-call", where="section 2, five questions in three wrappings"),
    figure=FIGURE,
    rule=share_at_least,
    needs=frozenset({Need.MODEL, Need.TRAINED, Need.TOKENIZER, Need.CHAT_TEMPLATE}),
    mechanism="Control tokens around each turn are what the model was trained to end on.",
    cases=CASES,
    controls=(
        Control("raw prompt in the native arm", Raw.__doc__, Raw, "native, clean"),
        Control("never stops", NeverStops.__doc__, NeverStops, "native, stops"),
        Control("clean in any wrapping", AlwaysClean.__doc__, AlwaysClean, "raw, clean"),
    ),
)


def measure(engine: Any, case: Case) -> Measured:
    """1 for each question whose reply has the case's mark, 0 for each other one."""
    answered = questions.answers(engine, case.params["wrapping"])
    clean = [questions.is_clean(question, reply) for question, reply in answered]
    stops = [reply.ended for _, reply in answered]
    marks = clean if case.params["mark"] == "clean" else stops
    return Measured(
        samples=[float(mark) for mark in marks],
        notes={
            "clean": f"{sum(clean)} of {len(clean)}",
            "stops": f"{sum(stops)} of {len(stops)}",
            "of the source's five": f"{sum(marks[:5])} of 5 with this mark",
            "replies": [[q["ask"], r.text, f"ended: {r.ended}"] for q, r in answered],
        },
    )


test_holds, test_control_is_caught = CLAIM.tests(measure)
