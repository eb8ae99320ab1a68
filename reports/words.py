"""Numbers and verdicts in words, the same on the page and in the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, isfinite, isnan, log10

from reports.cases import AT_LEAST, AT_MOST, EXACTLY, Case
from reports.model import ClaimView, RunView

DIGITS = 4


def number(value: float | None) -> str:
    """``value`` for reading: whole numbers in full, others with at most four digits.

    >>> number(5.960464477539062e-07), number(151934.0), number(12345.67), number(float("nan"))
    ('5.96e-7', '151,934', '12,350', 'NaN')
    """
    if value is None:
        return "none"
    if isnan(value):
        return "NaN"
    if not isfinite(value):
        return "infinity" if value > 0 else "-infinity"
    size = abs(value)
    if value == int(value) and size < 1e15:
        return f"{int(value):,}"
    if not 1e-3 <= size < 1e6:
        mantissa, exponent = f"{value:.{DIGITS - 1}e}".split("e")
        return f"{_trim(mantissa)}e{int(exponent)}"
    places = DIGITS - 1 - floor(log10(size))
    return _trim(f"{round(value, places):,.{max(places, 0)}f}")


def _trim(decimal: str) -> str:
    return decimal.rstrip("0").rstrip(".") if "." in decimal else decimal


def with_unit(value: float | None, unit: str) -> str:
    """A number and its unit."""
    return f"{number(value)} {unit}".strip()


def estimate(case: Case) -> str:
    """What was measured, without its unit: ``18 of 20`` for a share, else a number."""
    if case.estimate is None:
        return "nothing judged"
    if case.share:
        return "{} of {}".format(*case.share)
    shown = number(case.estimate)
    if shown == number(case.limit) and case.estimate != case.limit:
        side = "above" if case.estimate > case.limit else "below"
        return f"{shown} (just {side} the limit)"
    return shown


def bounds(case: Case) -> str:
    """The interval of the estimate, or the span of the samples where the rule judges each."""
    low, high = case.bounds
    if case.estimate is None or case.verdict["n"] == 0:
        return ""
    if low is None and high is None:
        return "interval unbounded: too few samples"
    if case.bounds_are_extremes:
        if low != high:
            return f"samples {number(low)} to {number(high)}"
        return "samples all equal" if case.verdict["n"] > 1 else "one sample"
    ends = ["unbounded" if end is None else number(end) for end in (low, high)]
    return f"interval {ends[0]} to {ends[1]}"


def count(case: Case) -> str:
    """How many samples the rule judged, on one line."""
    return f"n\u00a0=\u00a0{case.verdict['n']:,}"


def told(case: Case) -> str:
    """What was measured, with its unit, for a sentence."""
    shown, unit = estimate(case), str(case.figure["unit"])
    return f"{shown} (= {with_unit(case.estimate, unit)})" if case.share else f"{shown} {unit}"


def limit(case: Case) -> str:
    """The limit as its rule reads it: ``at most 1.25``; bare where the ledger names no rule."""
    asked = {"at most": AT_MOST, "at least": AT_LEAST, "exactly": EXACTLY}
    said = [word for word, rules in asked.items() if case.rule in rules]
    return " ".join([*said, number(case.limit)])


def against_limit(case: Case) -> str:
    """The estimate as a multiple of the limit; empty where that says nothing."""
    value, bound = case.estimate, case.limit
    if value is None or case.share or not (value > 0 and bound > 0):
        return ""
    if not (isfinite(value) and isfinite(bound)):
        return ""
    if value == bound:
        return "equal to the limit"
    ratio = value / bound
    if abs(ratio - 1) < 5e-3:
        return f"just {'above' if ratio > 1 else 'below'} the limit"
    return f"{number(float(f'{ratio:.3g}'))} × the limit"


def caught(claim: ClaimView) -> str:
    """``2 of 2``: how many controls were caught."""
    if not claim.controls:
        return "none"
    if not any(c.caught or c.missed for c in claim.controls):
        return "not run"
    return f"{sum(c.caught is True for c in claim.controls)} of {len(claim.controls)}"


def holds(run: RunView) -> str:
    """The run in a sentence's beginning: ``3 of 5 claims hold here``."""
    confirmed = run.counts["CONFIRMED"]
    if not run.judged:
        return "No claim was judged here"
    claims = plural(run.judged, "claim") + ("" if run.footer else " finished so far")
    return f"{confirmed} of {claims} hold{'s' if run.judged == 1 else ''} here"


def listed(names: Sequence[str]) -> str:
    """Names joined as in a sentence.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def plural(count: int, noun: str) -> str:
    """``1 case``, ``2 cases``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def machine(run: RunView) -> str:
    """The machine that the run was judged on, in a few words."""
    about = run.header.get("machine", {})
    gpus = [str(gpu.get("name", "GPU")) for gpu in about.get("gpus") or []]
    if run.header.get("device") == "cuda" and gpus:
        return listed(sorted(set(gpus)))
    parts = [str(about.get("cpu") or "an unnamed processor")]
    if about.get("cores"):
        parts.append(plural(int(about["cores"]), "core"))
    if about.get("memory_gib"):
        parts.append(f"{number(float(about['memory_gib']))} GiB")
    if overhead := about.get("client_overhead_ms"):
        parts.append(f"which is the client's and adds {number(float(overhead))} ms to a request")
    return ", ".join(parts)


def model(run: RunView) -> str:
    """The model's name."""
    return str(run.header.get("target", {}).get("name") or "no named model")
