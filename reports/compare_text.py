"""What differs between runs, for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reports import words
from reports.cases import KNOWN, Case
from reports.changes import Comparison, Pair, Turned, conditions
from reports.html import plain
from reports.model import UNFINISHED, ClaimView, RunView

LETTERS = {
    "CONFIRMED": "C",
    "REFUTED": "R",
    KNOWN: "k",
    "INCONCLUSIVE": "I",
    "NOT APPLICABLE": "n",
    "VOID": "V",
    UNFINISHED: "u",
}


def told(runs: Sequence[RunView], names: Sequence[str], found: Sequence[Comparison]) -> str:
    """Runs, conditions that differ, changes of each against the first, and the matrix."""
    lines = [*_runs(runs, names), *_conditions(runs)]
    for name, letter, comparison in zip(names[1:], letters(len(runs))[1:], found, strict=True):
        lines += ["", f"{letter} ({plain(name)}) against A: {summary(comparison)}"]
        lines += _changes(comparison)
    matrix = _matrix(runs) if len(runs) > 2 else ()
    return "\n".join([*lines, *matrix]) + "\n"


def side_by_side(
    runs: Sequence[RunView], names: Sequence[str], absent: Sequence[tuple[str, str]] = ()
) -> str:
    """Targets, none of which is a baseline: each in a line, then the matrix claim by target."""
    gone = [plain(f"-  {name}: {why}") for name, why in absent]
    return "\n".join([*_runs(runs, names), *gone, *_matrix(runs)]) + "\n"


def letters(count: int) -> list[str]:
    """Short names of runs: A to Z, then numbers."""
    return [chr(ord("A") + n) if n < 26 else str(n + 1) for n in range(count)]


def summary(comparison: Comparison) -> str:
    """The comparison in one line."""
    parts = [
        (len(comparison.worse), "got worse"),
        (len(comparison.better), "got better"),
        (len(comparison.moved), "moved"),
        (len(comparison.judged_otherwise), "judged by another limit"),
        (len(comparison.added), "added"),
        (len(comparison.removed), "missing"),
    ]
    said = [f"{count} {what}" for count, what in parts if count]
    return f"{words.plural(comparison.common, 'claim')} in both; {', '.join(said) or 'no change'}"


def reason(turned: Turned) -> str:
    """Why the verdict is now what it is."""
    return turned.after.reason if turned.after else "this run does not hold the claim"


def label(claim: ClaimView | None) -> str:
    """The verdict, or that there is none."""
    return claim.label if claim else "missing"


def way(pair: Pair) -> str:
    """In which direction a value moved, seen from its limit."""
    said = {True: "the wrong way", False: "the right way", None: ""}
    return said[pair.wrong_way]


def value(case: Case) -> str:
    """Estimate, unit and interval on one line."""
    around = words.bounds(case)
    return words.told(case) + (f" ({around})" if around else "")


def _runs(runs: Sequence[RunView], names: Sequence[str]) -> list[str]:
    return [
        f"{letter}  "
        + plain(
            f"{name}: {words.holds(run)}, on {words.model(run)}, on {words.machine(run)}, "
            f"{run.header['started']}"
        )
        + ("" if run.footer else " (this run did not reach its end)")
        for letter, name, run in zip(letters(len(runs)), names, runs, strict=True)
    ]


def _conditions(runs: Sequence[RunView]) -> Iterator[str]:
    differ, _ = conditions(runs)
    if len(runs) > 1:
        yield ""
        yield "conditions that differ:" if differ else "same conditions"
    width = max((len(name) for name, _ in differ), default=0)
    for name, values in differ:
        yield f"  {plain(name):{width}}  {' | '.join(plain(v) or '-' for v in values)}"


def _changes(comparison: Comparison) -> Iterator[str]:
    for kind, turned in (("worse", comparison.worse), ("better", comparison.better)):
        for each in turned:
            yield f"  {kind:9} {each.before.id}: {each.before.label} -> {label(each.after)}"
            yield f"            why: {plain(reason(each))}"
    for pair in comparison.moved:
        went = f", {way(pair)}" if way(pair) else ""
        shown = plain(f"{value(pair.before)} -> {value(pair.after)}{went}")
        yield f"  moved     {_where(pair)}: {shown}"
    for pair in comparison.judged_otherwise:
        old, new = (
            f"{words.limit(case)} {plain(case.figure['unit'])}"
            for case in (pair.before, pair.after)
        )
        yield f"  limit     {_where(pair)}: {old} -> {new}"
    for claim in comparison.added:
        yield f"  added     {claim.id}: {claim.label}"
    for claim in comparison.removed:
        yield f"  missing   {claim.id}: was {claim.label}"


def _where(pair: Pair) -> str:
    return plain(f"{pair.claim} [{pair.before.name}]")


def _matrix(runs: Sequence[RunView]) -> Iterator[str]:
    ids = sorted({c.id for run in runs for c in run.claims})
    if not ids:
        return
    width = max(map(len, ids))
    columns = letters(len(runs))
    by_run = [{c.id: c for c in run.claims} for run in runs]
    yield ""
    yield f"{'':{width}}  {' '.join(columns)}"
    for claim in ids:
        row = (LETTERS[found[claim].label] if claim in found else "." for found in by_run)
        cells = " ".join(f"{sign:{len(c)}}" for sign, c in zip(row, columns, strict=True))
        yield f"{claim:{width}}  {cells}"
    yield ", ".join(f"{sign} {verdict}" for verdict, sign in LETTERS.items()) + ", . missing"
