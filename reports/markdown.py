"""A run as Markdown, for the page of a CI job."""

from __future__ import annotations

import re

from reports import words
from reports.cases import Case
from reports.detail_html import BADGES
from reports.html import plain
from reports.model import TROUBLE, UNFINISHED, ClaimView, RunView

# What Markdown, its tables or a link finder would obey within a line, shown by its code.
_OBEYED = re.compile(r"[\\`*_{}\[\]<>|~&@$^]|:(?=//)|(?<=www)\.", re.IGNORECASE)


def escaped(value: object) -> str:
    """``value`` on one line, as text that no renderer turns into anything.

    It never stands at the beginning of a line: what is obeyed only there is left as it is.
    """
    return _OBEYED.sub(lambda m: f"&#{ord(m.group())};", plain(value))


def summary(run: RunView) -> str:
    """The answer, what does not hold with its reason and how to repeat it, then every claim."""
    lines = [f"## onecall: {words.holds(run)}", "", _where(run), ""]
    if run.footer is None:
        lines += ["**This run did not reach its end.**", ""]
    for note in run.footer["notes"] if run.footer else []:
        lines += [f"**Out of date:** {escaped(note)}", ""]
    lines += [_counts(run), ""]
    trouble = [c for label in (*TROUBLE, UNFINISHED) for c in run.claims if c.label == label]
    if trouble:
        lines += ["### Not confirmed", "", *(_entry(c) for c in trouble), ""]
    if run.claims:
        count = words.plural(len(run.claims), "claim")
        lines += ["<details>", f"<summary>{count}</summary>", "", *_table(run), "", "</details>"]
    return "\n".join(lines).rstrip() + "\n"


def _where(run: RunView) -> str:
    about = (words.model(run), words.machine(run), run.header["started"])
    return "On " + ", ".join(escaped(part) for part in about)


def _counts(run: RunView) -> str:
    counted = [(v, n) for v, n in run.counts.items() if n]
    return ", ".join(f"{n:,} {_sign(v)}" for v, n in counted) or "nothing judged"


def _sign(label: str) -> str:
    return f"{BADGES[label][1]} {label}"


def _entry(claim: ClaimView) -> str:
    row = claim.row
    sentence = escaped(row["sentence"]) if row else ""
    lines = [f"- **{_sign(claim.label)}** {escaped(claim.id)}: {sentence}"]
    if case := claim.shown_case:
        lines.append(f"  claimed {escaped(case.figure['claimed'])}; {_measured(case)}")
    lines.append(f"  why: {escaped(claim.reason)}")
    if row and row["known"]:
        lines.append(f"  known: {escaped(row['known'])}")
    if row:
        lines.append(f"  repeat: <code>{escaped(row['repeat'])}</code>")
    return "<br>\n".join(lines)


def _measured(case: Case) -> str:
    if case.estimate is None:
        return "nothing measured"
    limit = f"limit {words.limit(case)} {case.figure['unit']}"
    return escaped(f"measured {words.estimate(case)}, {limit}, n = {case.verdict['n']}")


def _table(run: RunView) -> list[str]:
    rows = ["| verdict | claim | measured | controls |", "|---|---|---|---|"]
    for claim in run.claims:
        case = claim.shown_case
        measured = _measured(case) if case else ""
        verdict, controls = _sign(claim.label), words.caught(claim)
        rows.append(f"| {verdict} | {escaped(claim.id)} | {measured} | {controls} |")
    return rows
