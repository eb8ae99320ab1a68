"""One row per claim: what was claimed, what was measured, what it means, how to repeat it."""

from __future__ import annotations

from itertools import groupby

from reports import words
from reports.bars import spark
from reports.detail_html import badge, detail, measured, unit
from reports.html import attr, bdi, copyable, tag, text
from reports.model import TROUBLE, UNFINISHED, ClaimView, RunView

HEADS = ("Verdict", "Claim", "Claimed", "Measured", "Limit", "Controls")


def claims_table(run: RunView) -> str:
    """All claims, family by family, in one table that can be filtered and sorted."""
    if not run.claims:
        return '<p class="empty">This run judged no claims.</p>'
    heads = "".join(f'<th scope="col" role="columnheader">{h}</th>' for h in HEADS)
    body = "".join(
        _family(family, list(claims))
        for family, claims in groupby(run.claims, key=lambda c: c.family)
    )
    return (
        '<table class="claims" role="table" aria-label="Claims">'
        f'<thead role="rowgroup"><tr role="row">{heads}</tr></thead>{body}</table>'
    )


def _family(family: str, claims: list[ClaimView]) -> str:
    holding = sum(c.label == "CONFIRMED" for c in claims)
    apply = sum(c.label not in ("NOT APPLICABLE", UNFINISHED) for c in claims)
    said = f"{holding} of {apply} hold" if apply else "none judged here"
    heading = (
        f'<tbody class="family" id="family-{attr(family)}" role="rowgroup"><tr role="row">'
        f'<th scope="rowgroup" role="rowheader" colspan="{len(HEADS)}"><h3>{text(family)}</h3> '
        f"<span>{said}</span></th></tr></tbody>"
    )
    return heading + "".join(_claim(c) for c in claims)


def _claim(claim: ClaimView) -> str:
    order = TROUBLE.index(claim.label) if claim.label in TROUBLE else len(TROUBLE)
    case = claim.shown_case
    distance = min(case.distance if case else 9.0, 9.0)
    cells = (
        badge(claim.label),
        _sentence(claim),
        _claimed(claim),
        _measured(claim),
        _limit(claim),
        _caught(claim),
    )
    row = "".join(_cell(head, content) for head, content in zip(HEADS, cells, strict=True))
    return (
        f'<tbody class="claim" id="{attr(claim.id)}" role="rowgroup" '
        f'data-verdict="{attr(claim.label)}" data-family="{attr(claim.family)}" '
        f'data-document="{attr(claim.document)}" data-order="{order}" '
        f'data-distance="{distance:.4f}"><tr role="row">{row}</tr>'
        f'<tr class="more" role="row"><td role="cell" colspan="{len(HEADS)}">'
        f"{_callout(claim)}{_opens(claim)}</td></tr></tbody>"
    )


def _cell(head: str, content: str) -> str:
    if head == "Claim":
        return f'<th scope="row" role="rowheader" class="claim-cell">{content}</th>'
    return f'<td role="cell" data-head="{head}"><div>{content}</div></td>'


def _sentence(claim: ClaimView) -> str:
    link = f'<a class="id" href="#{attr(claim.id)}">{text(claim.id)}</a>'
    if claim.row is None:
        return f"<h4>{text(claim.id)}</h4>{link}"
    source = claim.row["source"]
    return (
        f"<h4>{bdi(claim.row['sentence'])}</h4>{link}"
        f'<span class="source">{bdi(source["document"])}, {bdi(source["where"])}</span>'
    )


def _claimed(claim: ClaimView) -> str:
    if (case := claim.shown_case) is None:
        return ""
    claimed, setting = bdi(case.figure["claimed"]), bdi(case.figure["setting"])
    return f'<b>{claimed}</b><span class="soft clamp">{setting}</span>'


def _measured(claim: ClaimView) -> str:
    if (case := claim.shown_case) is None:
        return ""
    which = floor = ""
    if len(claim.cases) > 1 and case.estimate is not None:
        place = "the closest to its limit" if claim.label == "CONFIRMED" else "one"
        said = f"case {bdi(case.name)}, {place} of {len(claim.cases)}"
        which = f'<span class="soft block">{said}</span>'
    if case.floors:
        first = case.floors[0]
        bound = text(words.with_unit(float(first["floor"]), first["unit"]))
        floor = f'<span class="soft block">floor {bound} ({bdi(first["what"])})</span>'
    drawn = spark(case) if claim.label not in ("VOID", UNFINISHED) else ""
    return drawn + measured(case) + floor + which


def _limit(claim: ClaimView) -> str:
    if (case := claim.shown_case) is None:
        return ""
    figure = case.figure
    return (
        f"<b>{words.limit(case)}</b> {unit(figure)}"
        f'<span class="soft clamp">{bdi(figure["why"])}</span>'
    )


def _caught(claim: ClaimView) -> str:
    missed = [c.name for c in claim.controls if c.missed]
    absent = [c.name for c in claim.controls if c.caught is False and not c.missed]
    said = words.caught(claim)
    shown = f"<b>{said}</b>{' caught' if ' of ' in said else ''}"
    if missed:
        shown += f'<span class="soft block">missed: {bdi(words.listed(missed))}</span>'
    if claim.no_control_because and not claim.controls:
        shown += f'<span class="soft clamp">{bdi(claim.no_control_because)}</span>'
    if absent:
        shown += f'<span class="soft block">not run: {bdi(words.listed(absent))}</span>'
    return shown


def _callout(claim: ClaimView) -> str:
    """Why a claim does not hold and how to see that again, without opening anything."""
    if claim.label not in (*TROUBLE, UNFINISHED):
        return ""
    case = claim.shown_case
    lines = [f"<p><b>Why:</b> {bdi(claim.reason)}.{_beside(claim)}</p>"]
    if claim.row and claim.row["known"]:
        lines.append(f"<p><b>Known:</b> {bdi(claim.row['known'])}</p>")
    if case is not None and case.witness:
        lines.append(f"<p><b>Seen with:</b> {bdi(case.witness)}</p>")
    if claim.row:
        lines.append(f"<p><b>Repeat:</b> {copyable(claim.row['repeat'])}</p>")
    return tag("div", "".join(lines), "callout")


def _beside(claim: ClaimView) -> str:
    """Claimed and measured in one breath, for a verdict that rests on a number."""
    case = claim.shown_case
    if case is None or case.estimate is None or case.verdict["verdict"] != "REFUTED":
        return ""
    multiple = words.against_limit(case)
    return (
        f" Claimed {bdi(case.figure['claimed'])}; measured {bdi(words.told(case))} "
        f"against a limit of {words.limit(case)}" + (f", {multiple}." if multiple else ".")
    )


def _opens(claim: ClaimView) -> str:
    samples = sum(len(c.samples) for c in claim.cases)
    holds = [
        words.plural(len(claim.cases), "case"),
        words.plural(samples, "sample"),
        words.plural(len(claim.controls), "control"),
    ]
    reason = "" if claim.label in (*TROUBLE, UNFINISHED) else bdi(claim.reason)
    return (
        f'<details><summary><span class="holds">{", ".join(holds)}</span>'
        f'<span class="soft">{reason}</span></summary>{detail(claim)}</details>'
    )
