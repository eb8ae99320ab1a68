"""In its own template a model answers briefly and stops; raw or in foreign tags it does not."""

from __future__ import annotations

from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Source
from claims._kit.measure import Measured
from claims._kit.rules import share_at_least
from fixtures import questions
from fixtures.faults import answering
from fixtures.needs import Need

SETTING = "Qwen3-8B, greedy, at most 32 new tokens, five questions"
HALF = (
    "the source opposes always (5 of 5) to never (0 of 5); one half is as far from both, and the "
    "exact interval over 60 questions lies clear of it for any rate below 0.36 or above 0.64"
)


def figure(claimed: str, unit: str) -> Figure:
    """The limit is the same in all cases; the side on which the source stands differs."""
    return Figure(limit=0.5, unit=unit, claimed=claimed, setting=SETTING, why=HALF)


CLEAN, STOPS = "share of clean answers", "share of replies that stop"
FAILS = {"rule": "share_at_most"}

CLAIM = Claim(
    id="template/clean-stops",
    sentence=__doc__,
    source=Source(document="one-call", where="section 2, five questions in three wrappings"),
    figure=figure("5 of 5 clean", CLEAN),
    rule=share_at_least,
    needs=frozenset({Need.MODEL, Need.TRAINED, Need.TOKENIZER, Need.CHAT_TEMPLATE}),
    mechanism="Control tokens around each turn are what the model was trained to end on.",
    cases=(
        Case(name="native, clean", params={"wrapping": "native", "mark": "clean"}),
        Case(
            name="native, stops",
            params={"wrapping": "native", "mark": "stops"},
            figure=figure("5 of 5 stop", STOPS),
        ),
        *(
            Case(
                name=f"{wrapping}, {mark}",
                params={"wrapping": wrapping, "mark": mark},
                figure=figure(f"0 of 5 {mark}", CLEAN if mark == "clean" else STOPS),
                **FAILS,
            )
            for wrapping in ("raw", "llama-2")
            for mark in ("clean", "stops")
        ),
    ),
    controls=(
        Control(
            name="native arm given the raw prompt",
            sentence="The messages reach the model without their template.",
            plant=answering.RawInsteadOfTemplate,
        ),
        Control(
            name="never stops",
            sentence="The end token is not recognised.",
            plant=answering.NeverStops,
            case="native, stops",
        ),
        Control(
            name="clean whatever the wrapping",
            sentence="An oracle that answers and stops even in raw text.",
            plant=answering.AlwaysClean,
            case="raw, clean",
        ),
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
            "replies": [
                {"asked": question["ask"], "reply": reply.text, "ended": reply.ended}
                for question, reply in answered
            ],
        },
    )


test_holds, test_control_is_caught = CLAIM.tests(measure)
