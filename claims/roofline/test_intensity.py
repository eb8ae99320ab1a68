"""Operations per byte read are about the prompt length in prefill and about one in decode."""

from __future__ import annotations

from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Scope, Source
from claims._kit.measure import Measured
from claims._kit.rules import every_sample_equals
from fixtures.counting import Counting
from fixtures.faults.counting import NoReuse

SHAPE = "qwen2.5-0.5b"
SETTING = "Qwen2.5-0.5B at 16 bits on a Tesla T4, whose roofline turns at 76 operations a byte"
WHY = "products with weights and causal attention, 2 per multiply-add, over "


def case(name: str, claimed: str, limit: float, why: str, **params: int) -> Case:
    """One printed intensity, judged at the printed precision."""
    unit = f"operations a byte, to {params['digits']} places"
    figure = Figure(limit=limit, unit=unit, claimed=claimed, setting=SETTING, why=WHY + why)
    return Case(name=name, params=params, figure=figure)


CASES = (
    case("prefill of 1024", "1,056", 1056, "(weights + 12 MiB of cache): 1,056.8 G / 1,000.6 M",
         new=1024, past=0, batch=1, digits=0),
    case("decode at 1024", "1.1", 1.1, "(weights + 12 MiB of cache): 1,076 M / 1,000.6 M = 1.075",
         new=1, past=1023, batch=1, digits=1),
    case("16 sequences at 512", "about 15", 15, "(weights once + 16 x 6 MiB): 16.51 G / 1,088.7 M",
         new=1, past=511, batch=16, digits=0),
)  # fmt: skip

CLAIM = Claim(
    id="roofline/intensity",
    sentence=__doc__,
    source=Source(document="where-time-goes", where="prefill; decode; latency", setting=SETTING),
    figure=Figure(limit=1056, unit="operations a byte", claimed="1,056", setting=SETTING, why=WHY),
    rule=every_sample_equals,
    cases=CASES,
    subject=Counting(),
    quick=True,
    scope=Scope(lanes=frozenset({"cpu"}), says="bytes are weights and cache, once each a pass"),
    mechanism="A weight that was read serves every token of the pass; cache serves one sequence.",
    controls=(
        Control(
            name="no reuse",
            sentence="Weights are read again for every token of a pass.",
            plant=lambda _: NoReuse(),
        ),
    ),
)


def measure(counting: Any, case: Case) -> Measured:
    """Operations over bytes: both derived from the configuration, and both counted on meta."""
    new, past, batch = (case.params[name] for name in ("new", "past", "batch"))
    size, engine = counting.dimensions(SHAPE), counting.engine(SHAPE)
    derived = batch * size.flops(new, past=past, causal=True).all
    counted = counting.flops(engine, new, past=past, batch=batch).causal(new, past=past).all
    cache = batch * size.cache_bytes(new + past)
    weights = counting.weight_bytes(engine)
    moved = counting.bytes_read(weights, cache, tokens=batch * new)
    found = [derived / moved, counted / moved]
    return Measured(
        samples=[round(value, case.params["digits"]) for value in found],
        witness=f"derived {found[0]:.6g}, counted {found[1]:.6g} operations a byte",
        notes={
            "derived and counted": found,
            "per byte of weights alone": counted / weights,
        },
    )


test_holds, test_control_is_caught = CLAIM.tests(measure)
