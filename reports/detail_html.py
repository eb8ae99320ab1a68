"""What a claim opens to: its cases on their scales, its sweep, its controls."""

from __future__ import annotations

from math import isfinite

from reports import timeline, words
from reports.bars import bar, claimed_number
from reports.cases import Case, Control, Row
from reports.charts import sweep
from reports.html import any_json, bdi, code, copyable, pairs, tag, text
from reports.model import ClaimView
from reports.roofline import chart as roofline

# Verdict -> (class, sign). The sign and the word tell it; the colour only repeats them.
BADGES = {
    "CONFIRMED": ("confirmed", "✓"),
    "REFUTED": ("refuted", "✕"),
    "REFUTED (known)": ("known", "✕"),
    "INCONCLUSIVE": ("inconclusive", "?"),
    "NOT APPLICABLE": ("not-applicable", "–"),
    "VOID": ("void", "!"),
    "UNFINISHED": ("unfinished", "…"),
}
FEW_SAMPLES = 24
LONG_NOTES = 1500


def badge(verdict: str) -> str:
    """The verdict with its sign."""
    css, sign = BADGES[verdict]
    return (
        f'<span class="badge {css}"><span class="sign" aria-hidden="true">{sign}</span> '
        f"{text(verdict)}</span>"
    )


def detail(claim: ClaimView) -> str:
    """Everything about a claim that its row has no room for."""
    parts = [_about(claim), roofline(claim) or sweep(claim), _cases(claim), _controls(claim)]
    return tag("div", "".join(parts), "detail")


def _cases(claim: ClaimView) -> str:
    heading = f"<h5>{words.plural(len(claim.cases), 'case')}</h5>"
    if claim.label == "VOID" and any(c.label != "VOID" for c in claim.cases):
        heading += "<p>The claim is void, so what single cases say here has no authority.</p>"
    return tag("section", heading + "".join(_case(c, claim) for c in claim.cases), "cases")


def _about(claim: ClaimView) -> str:
    row = claim.row
    if row is None:
        return ""
    figure = claim.one_figure
    source = row["source"]
    where = f"{bdi(source['document'])}, {bdi(source['where'])}"
    return pairs(
        [
            ("Repeat", copyable(row["repeat"])),
            ("Why this limit", text(figure["why"]) if figure else ""),
            ("Mechanism", text(row["mechanism"])),
            ("Scope", text(row["scope"])),
            ("Source", where),
            ("Its setting", text(source["setting"])),
            ("Known", text(row["known"])),
        ]
    )


def _case(case: Case, claim: ClaimView) -> str:
    heading = f"<h6>{bdi(case.name)}</h6>{badge(case.label)}<p>{bdi(case.verdict['reason'])}</p>"
    drawn = bar(case)
    body = [
        tag("header", heading),
        tag("div", drawn + pairs(_numbers(case, claim)), "scale" if drawn else "scale bare"),
        "".join(_floor(f) for f in case.floors),
        timeline.chart(case),
        _samples(case),
        _notes(case),
    ]
    return tag("article", "".join(body), "case")


def _numbers(case: Case, claim: ClaimView) -> list[tuple[str, str]]:
    figure, own = case.figure, claim.one_figure is None
    claimed = bdi(figure["claimed"])
    if case.estimate is not None and claimed_number(figure) is None:
        claimed += ' <span class="soft">(in words or another unit, so not on the scale)</span>'
    return [
        ("Claimed", f"{claimed}{_soft(figure['setting'])}"),
        ("Measured", measured(case)),
        ("Limit", _limit(case) + (_soft(figure["why"]) if own else "")),
        ("Witness", bdi(case.witness)),
        ("Disturbed", bdi(case.samples_row["disturbed"]) if case.samples_row else ""),
        ("Known", bdi(case.verdict["known"])),
    ]


def _soft(content: object) -> str:
    return f'<span class="soft block">{bdi(content)}</span>' if content else ""


def _limit(case: Case) -> str:
    multiple = words.against_limit(case)
    shown = f"<b>{words.limit(case)}</b> {unit(case.figure)}"
    return shown + (f'<span class="soft block">measured is {multiple}</span>' if multiple else "")


def unit(figure: Row) -> str:
    """The figure's unit, quieter than its number."""
    return f'<span class="unit">{bdi(figure["unit"])}</span>'


def measured(case: Case) -> str:
    """Estimate, unit, interval and number of samples."""
    if case.estimate is None:
        return f'<span class="soft">{words.estimate(case)}</span>'
    around = ", ".join(filter(None, [words.bounds(case), words.count(case)]))
    equals = f'<span class="unit">= {words.number(case.estimate)}</span> ' if case.share else ""
    shown = f"<b>{words.estimate(case)}</b> {equals}{unit(case.figure)}"
    return f'{shown}<span class="soft block">{around}</span>'


def _floor(floor: Row) -> str:
    beaten = not float(floor["measured"]) >= float(floor["floor"])
    said = "BEATEN, so the measurement is wrong" if beaten else "not beaten"
    return tag(
        "p",
        f"<b>Floor</b> {bdi(floor['what'])}: "
        f"measured {text(words.with_unit(float(floor['measured']), floor['unit']))}, floor "
        f"{text(words.with_unit(float(floor['floor']), floor['unit']))}: <b>{said}</b>."
        f"{_soft(floor['why'])}",
        "floor-line beaten" if beaten else "floor-line",
    )


def _samples(case: Case) -> str:
    if not case.samples:
        return ""
    shown = " ".join(
        f"<li>{words.number(s)}</li>" if isfinite(s) else f"<li><b>{words.number(s)}</b></li>"
        for s in case.samples
    )
    strange = sum(not isfinite(s) for s in case.samples)
    about = words.plural(len(case.samples), "sample")
    about += f" in {words.number(case.seconds)} s" if case.seconds is not None else ""
    about += f", {strange} not finite" if strange else ""
    listing = f'<ol class="samples">{shown}</ol>'
    if len(case.samples) <= FEW_SAMPLES:
        return f'<div class="fold"><span class="term">{about}</span>{listing}</div>'
    return f'<details class="fold"><summary>{about}</summary>{listing}</details>'


def _notes(case: Case) -> str:
    # Thousands of numbers that stand there as a drawing are no text.
    drawn = {"chart"} if timeline.draws(case) else set()
    notes = {name: note for name, note in case.notes.items() if name not in drawn}
    if not notes:
        return ""
    shown = any_json(notes)
    if len(shown) <= LONG_NOTES:
        return f'<div class="fold"><span class="term">Notes</span>{shown}</div>'
    names = text(words.listed(sorted(map(str, notes))))
    return f'<details class="fold"><summary>Notes: {names}</summary>{shown}</details>'


def _controls(claim: ClaimView) -> str:
    if not claim.controls:
        why = "No control ran: nothing shows that this measurement can fail."
        if claim.no_control_because:
            why = f"No control exists: {bdi(claim.no_control_because)}"
        return tag("section", f"<h5>Controls</h5><p>{why}</p>", "planted")
    said = words.caught(claim)
    heading = f"<h5>Controls: planted faults {'' if said == 'not run' else 'caught '}{said}</h5>"
    items = "".join(_control(c) for c in claim.controls)
    return tag("section", f"{heading}<ul>{items}</ul>", "planted")


def _control(control: Control) -> str:
    sign, said, css = ("✓", "caught", "caught") if control.caught else ("–", "not run", "idle")
    if control.missed:
        sign, said, css = "✕", "MISSED", "missed"
    case = control.case
    seen = ""
    if case is not None and case.estimate is not None:
        seen = (
            f"Measured {bdi(words.told(case))} against a limit of "
            f"{words.limit(case)}, on case {code(case.name)}"
        )
        seen += f"; {bdi(case.witness)}." if case.witness else "."
    return (
        f'<li class="{css}"><b><span aria-hidden="true">{sign}</span> {said}</b>: '
        f"{bdi(control.name)}. {bdi(control.sentence)}"
        f'<span class="soft block">The rule said {bdi(control.reason)}. {seen}</span></li>'
    )
