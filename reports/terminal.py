"""Text for the terminal, made of ledger rows alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from reports import words
from reports.cases import Row
from reports.html import plain
from reports.model import TROUBLE, UNFINISHED, ClaimView, view

_VERDICT = max(map(len, (*TROUBLE, "NOT APPLICABLE")))
_UNIT = 32


def table(rows: Iterable[Row]) -> str:
    """The run's claims, one line each, what does not hold last and with its reason and repeat.

    Plain text: what a terminal would obey is shown by its code.
    """
    run = view(rows)
    if not run.claims:
        return "no claim was judged\n"
    claims = sorted(run.claims, key=lambda c: (c.label in (*TROUBLE, UNFINISHED), c.id))
    width = max(len(c.id) for c in claims)
    lines = [line for claim in claims for line in _lines(claim, width)]
    counts = [f"{count} {name}" for name, count in run.counts.items() if count]
    lines += ["", f"{words.holds(run)} on {plain(words.model(run))}: {', '.join(counts)}"]
    if run.header.get("rehearsal"):
        lines.append("REHEARSAL: tried on a CPU at small sizes, judges nothing")
    if run.footer is None and run.header:
        lines.append("this run did not reach its end; finish it with --resume LEDGER")
    lines += [plain(note) for note in (run.footer["notes"] if run.footer else [])]
    return "\n".join(lines) + "\n"


def _lines(claim: ClaimView, width: int) -> list[str]:
    first = f"{claim.label:{_VERDICT}}  {claim.id:{width}}  {_measured(claim)}".rstrip()
    if claim.label == "NOT APPLICABLE":
        return [f"{claim.label:{_VERDICT}}  {claim.id:{width}}  {plain(claim.reason)}"]
    if claim.label not in (*TROUBLE, UNFINISHED):
        return [first]
    told = [("why", claim.reason)]
    if claim.row:
        case = claim.shown_case
        if case is not None:
            told.append(("claimed", case.figure["claimed"]))
        told += [("known", claim.row["known"]), ("repeat", claim.row["repeat"])]
    return [first, *(f"{'':{_VERDICT}}  {name}: {plain(said)}" for name, said in told if said)]


def _measured(claim: ClaimView) -> str:
    case = claim.shown_case
    if case is None or case.estimate is None:
        return ""
    controls = f", controls {words.caught(claim)}" if claim.controls else ""
    unit = plain(case.figure["unit"])
    unit = unit if len(unit) <= _UNIT else f"{unit[: _UNIT - 3].rstrip()}..."
    limit = f"limit {words.limit(case)} {unit}".rstrip()
    return f"{words.estimate(case)}, {limit}, n = {case.verdict['n']}{controls}"


def claim_list(rows: Sequence[tuple[str, Sequence[str], str]]) -> str:
    """``(id, lanes, sentence)`` of every claim, aligned, one line each, and their number."""
    if not rows:
        return "no claims match\n"
    width = max(len(claim) for claim, _, _ in rows)
    lanes_width = max(len(",".join(lanes)) for _, lanes, _ in rows)
    lines = [
        f"{claim:{width}}  {','.join(lanes):{lanes_width}}  {plain(sentence)}"
        for claim, lanes, sentence in sorted(rows)
    ]
    return "\n".join([*lines, "", words.plural(len(rows), "claim")]) + "\n"
