"""Every derived number of the source documents follows from the inputs they state for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Source
from claims._kit.measure import Measured
from claims._kit.rules import every_sample_at_most
from fixtures.arithmetic import Abacus, Sum, account, distance, read_book
from fixtures.faults import arithmetic as faults

BOOK = read_book(Path(__file__).with_name("sums.toml"))
SUMS = {total.name: total for total in BOOK.sums}
HOW = (
    "measured inputs may be anything that rounds to their printed digits, counts are exact; the "
    "range of results has to meet the band: 0 covers its middle, 1 just touches it"
)


def figure_of(total: Sum) -> Figure:
    """The figure of one sum: its printed number, and how its wording is read."""
    band = f"{float(total.band.low):.8g} to {float(total.band.high):.8g} {total.unit}"
    read = total.band_why or "half a unit of the last printed place either way"
    return Figure(
        limit=1.0,
        unit="half-widths of the printed band",
        claimed=total.printed,
        setting=f"{total.document}, {total.place}",
        why=f"printed: {band} ({read}). {HOW}. {total.note}".strip(),
    )


def control(name: str, case: str, plant: Any) -> Control:
    """A control whose sentence is that of the planted fault."""
    return Control(name=name, sentence=plant.__doc__.strip(), plant=plant, case=case)


CASES = tuple(Case(name=t.name, figure=figure_of(t)) for t in SUMS.values())
CLAIM = Claim(
    id="arithmetic/sums-come-out",
    sentence=__doc__,
    source=Source(
        document="one-call, inference-chapter, where-time-goes",
        where="throughout; each case names its place",
        setting="arithmetic on printed numbers, no machine",
    ),
    figure=CASES[0].figure,
    rule=every_sample_at_most,
    cases=CASES,
    subject=Abacus(),
    quick=True,
    controls=(
        control("one input digit changed", "token-bill-ratio", faults.one_input_digit_changed),
        control("inputs swapped", "token-bill-ratio", faults.inputs_swapped),
        control("GiB read as GB", "step-bandwidth-gb", faults.binary_prefixes_read_as_decimal),
        control("printed digit off", "token-bill-ratio", faults.printed_last_digit_raised_by_two),
    ),
)


def measure(abacus: Any, case: Case) -> Measured:
    """How far the printed number lies from its own inputs, one sample per sum."""
    total = SUMS[case.name]
    notes = account(abacus, total)
    return Measured(
        samples=[float(distance(abacus.band(total), abacus.recompute(total).interval))],
        witness=f"recomputed {notes['recomputed']}, printed {total.shown}",
        notes=notes,
    )


test_holds, test_control_is_caught = CLAIM.tests(measure)
