"""Ledger rows of made-up claims whose notes ask for a roofline or a timeline."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from claims._kit.figures import Case
from claims._kit.ledger import Row, Writer
from claims._kit.measure import Measured
from meta_tests.made_up import claim, header, judge, run_of

PROBES = {"read bandwidth, GB/s": 274.0, "16-bit matmul, TFLOP/s": 20.8, "one launch, us": 5.0}
# A Tesla T4's roofs and passes like those of the source, in operations a byte and a second.
DECODE = {"1": (1.08, 0.033e12), "4": (4.2, 0.12e12), "16": (15.2, 0.5e12), "64": (46.0, 0.6e12)}
PREFILL = {
    "64": (64.1, 1.7e12),
    "512": (522.0, 6.0e12),
    "1,024": (1056.0, 6.2e12),
    "2,048": (2140.0, 6.0e12),
}


def point(series: str, mark: str, x: float, rate: Any, **more: Any) -> Measured:
    """What a pass leaves in a ledger."""
    chart = {"kind": "roofline", "series": series, "mark": mark, **more}
    points = {"operations a second": rate}
    return Measured(samples=[0.5], x=x, points=points, notes={"chart": chart})


def passes() -> dict[str, Measured]:
    """Cases by name: decode steps and prefills."""
    decode = {f"decode, batch {m}": point("decode, by batch", m, *at) for m, at in DECODE.items()}
    return decode | {
        f"prefill, {m} tokens": point("prefill, by tokens", m, *at) for m, at in PREFILL.items()
    }


def row(name: str, starts: list[Any], durations: list[Any], **more: Any) -> Row:
    """One row of a timeline."""
    sums = {"launches": len(starts), "kernels": len(starts), "typical gap, us": 24.9}
    return {"name": name, "start, us": starts, "duration, us": durations, **sums, **more}


def trace(kernels: int, gap: float, kernel: float = 3.4) -> tuple[list[float], list[float]]:
    """Starts and durations of equal kernels with equal gaps."""
    return [round(n * (gap + kernel), 1) for n in range(kernels)], [kernel] * kernels


def timeline(*rows: Any, **more: Any) -> dict[str, Measured]:
    """A case whose note is a timeline of these rows."""
    chart = {"kind": "timeline", "bar": "a kernel", "rows": list(rows), **more}
    return {"all": Measured(samples=[0.5], notes={"chart": chart, "traces": 3})}


def source_like() -> dict[str, Measured]:
    """1,414 kernels launched one by one, and the same replayed."""
    launched = row("launched one by one", *trace(1414, 20.0), **{"busy, us": 4807.6})
    replayed = row("replayed as a graph", *trace(1414, 0.4), launches=1)
    return timeline(launched, replayed)


def rows(folder: Path, *claims: dict[str, Measured], probes: Any = PROBES) -> list[Row]:
    """The ledger of a run that judged these claims, case by case."""
    writer = Writer(folder / "charted.jsonl")
    writer.write(header(machine={"cpu": "Imaginary CPU", "probes": probes}))
    made = []
    for number, cases in enumerate(claims):
        made.append(
            claim(
                lambda case, told=cases: told[case.name],
                id=f"made/chart-{number}",
                cases=tuple(Case(name=name) for name in cases),
            )
        )
    run = run_of(folder, *made, writer=writer)
    judge(run, *made)
    run.close("2026-01-01 00:00:01 UTC", 0, [])
    return writer.rows
