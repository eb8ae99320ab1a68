"""A page that compares runs: what changed, under which conditions, and a matrix claim x run.

One file, no script, nothing loaded; the same rows give the same bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from reports import words
from reports.changes import Comparison, Pair, Turned, conditions
from reports.compare_text import label, letters, reason, summary, value, way
from reports.detail_html import badge
from reports.html import attr, bdi, tag, text
from reports.model import ClaimView, RunView
from reports.page import CSS

COMPARE_CSS = CSS.with_name("compare.css")
TITLE = "onecall: runs compared"
SIDE_BY_SIDE = "onecall: claims by target"


def page(runs: Sequence[RunView], names: Sequence[str], found: Sequence[Comparison]) -> str:
    """The whole file. ``found`` compares each run after the first with the first."""
    changes = [_changes(n, names[n], each) for n, each in enumerate(found, start=1)]
    parts = [_answer(found), _runs(runs, names), *changes, _matrix(runs, names)]
    return _file(TITLE, [*parts, _conditions(runs)])


def side_by_side(
    runs: Sequence[RunView], names: Sequence[str], absent: Sequence[tuple[str, str]] = ()
) -> str:
    """The whole file of several targets, none of which is a baseline.

    ``absent`` are those that were asked for and have no column: name, and why.
    """
    said = f"<strong>{words.plural(len(runs), 'target')} side by side</strong>"
    said += f", {len(absent)} could not be judged." if absent else "."
    gone = [f"<li>{bdi(name)}: {bdi(why)}</li>" for name, why in absent]
    parts = [_band(said), _list("Not judged", gone), _matrix(runs, names), _runs(runs, names)]
    return _file(SIDE_BY_SIDE, [*parts, _conditions(runs)] if runs else parts[:2])


def _file(title: str, parts: Sequence[str]) -> str:
    styles = "".join(path.read_text(encoding="utf-8") for path in (CSS, COMPARE_CSS))
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{styles}</style></head>"
        f'<body><h1 id="title">{title}</h1><div id="onecall"><main>{"".join(parts)}</main></div>'
        "</body></html>\n"
    )


def _answer(found: Sequence[Comparison]) -> str:
    worse = sum(len(each.worse) for each in found)
    better = sum(len(each.better) for each in found)
    if not found:
        said = "One run, compared with nothing."
    else:
        first = f"{words.plural(worse, 'verdict')} got worse" if worse else "No verdict got worse"
        said = f"<strong>{first}</strong>, {better or 'none'} got better, against run A."
    return _band(said)


def _band(said: str) -> str:
    return f'<section class="band" aria-label="Result">{tag("p", said, "answer")}</section>'


def _runs(runs: Sequence[RunView], names: Sequence[str]) -> str:
    heads = "".join(
        f'<th scope="col">{h}</th>' for h in ("Run", "Ledger", "Holds", "Model", "Machine", "Date")
    )
    rows = "".join(
        f'<tr><th scope="row" id="run-{attr(letter)}">{letter}</th><td>{bdi(name)}</td>'
        f"<td>{words.holds(run)}{'' if run.footer else '; it did not reach its end'}</td>"
        f"<td>{bdi(words.model(run))}</td><td>{bdi(words.machine(run))}</td>"
        f"<td>{bdi(run.header['started'])}</td></tr>"
        for letter, name, run in zip(letters(len(runs)), names, runs, strict=True)
    )
    return _scroll("Runs", f"<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody>", "runs")


def _scroll(caption: str, inside: str, css: str) -> str:
    """A table that may be wider than the screen, reachable by keyboard."""
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{attr(caption)}">'
        f'<table class="plain {css}"><caption>{text(caption)}</caption>{inside}</table></div>'
    )


def _changes(number: int, name: str, found: Comparison) -> str:
    letter = letters(number + 1)[number]
    about = f"<h2>{letter} ({bdi(name)}) against A</h2><p>{summary(found)}.</p>"
    parts = [
        _list("Got worse", [_turned(t) for t in found.worse]),
        _list("Got better", [_turned(t) for t in found.better]),
        _list("Moved: the two intervals share no value", [_moved(p) for p in found.moved]),
        _list("Judged by another limit", [_judged(p) for p in found.judged_otherwise]),
        _list("Added", [_alone(c) for c in found.added]),
        _list("Missing", [_alone(c) for c in found.removed]),
    ]
    return tag("section", about + "".join(parts), "changes")


def _list(heading: str, items: Sequence[str]) -> str:
    if not items:
        return ""
    return f"<h3>{heading} ({len(items):,})</h3><ul>{''.join(items)}</ul>"


def _turned(turned: Turned) -> str:
    now = badge(turned.after.label) if turned.after else f"<b>{label(None)}</b>"
    return (
        f"<li>{badge(turned.before.label)} → {now} "
        f"{_named(turned.before)}"
        f'<span class="soft block">{bdi(reason(turned))}</span></li>'
    )


def _named(claim: ClaimView) -> str:
    sentence = f" {bdi(claim.row['sentence'])}" if claim.row else ""
    return f'<a class="id" href="#{attr(claim.id)}">{text(claim.id)}</a>{sentence}'


def _moved(pair: Pair) -> str:
    went = f", <b>{way(pair)}</b>" if way(pair) else ""
    return (
        f"<li>{_place(pair)} {bdi(value(pair.before))} "
        f"→ {bdi(value(pair.after))}{went}"
        f'<span class="soft block">limit {text(words.limit(pair.after))} '
        f"{bdi(pair.after.figure['unit'])}</span></li>"
    )


def _judged(pair: Pair) -> str:
    old, new = (
        f"{text(words.limit(c))} {bdi(c.figure['unit'])}" for c in (pair.before, pair.after)
    )
    return (
        f"<li>{_place(pair)} {old} → {new}"
        f'<span class="soft block">{bdi(pair.after.figure["why"])}</span></li>'
    )


def _place(pair: Pair) -> str:
    link = f'<a class="id" href="#{attr(pair.claim)}">{text(pair.claim)}</a>'
    return f"{link}, case {bdi(pair.before.name)}:"


def _alone(claim: ClaimView) -> str:
    return f"<li>{badge(claim.label)} {_named(claim)}</li>"


def _matrix(runs: Sequence[RunView], names: Sequence[str]) -> str:
    by_run = [{c.id: c for c in run.claims} for run in runs]
    ids = sorted({claim for each in by_run for claim in each})
    heads = "".join(
        f'<th scope="col">{letter}<span class="soft block">{bdi(name)}</span></th>'
        for letter, name in zip(letters(len(runs)), names, strict=True)
    )
    body = "".join(
        f'<tbody><tr><th class="family" scope="rowgroup" colspan="{len(runs) + 1}">'
        f"{text(family)}</th></tr>"
        + "".join(_row(claim, [each.get(claim) for each in by_run]) for claim in members)
        + "</tbody>"
        for family, members in groupby(ids, key=lambda claim: claim.split("/")[0])
    )
    if not ids:
        return '<p class="empty">These runs judged no claims.</p>'
    table = f'<thead><tr><th scope="col">Claim</th>{heads}</tr></thead>{body}'
    return "<h2>Every claim in every run</h2>" + _scroll("Claim by run", table, "matrix")


def _row(claim: str, views: Sequence[ClaimView | None]) -> str:
    said = {view.label if view else "" for view in views}
    css = ' class="differs"' if len(said) > 1 else ""
    first = next(view for view in views if view)
    sentence = f'<span class="block">{bdi(first.row["sentence"])}</span>' if first.row else ""
    cells = "".join(f"<td>{_cell(view)}</td>" for view in views)
    return (
        f'<tr id="{attr(claim)}"{css}><th scope="row"><span class="id">{text(claim)}</span>'
        f"{sentence}</th>{cells}</tr>"
    )


def _cell(claim: ClaimView | None) -> str:
    if claim is None:
        return '<span class="soft">missing</span>'
    case = claim.shown_case
    if case is None or case.estimate is None:
        return badge(claim.label)
    which = f", case {bdi(case.name)}" if len(claim.cases) > 1 else ""
    shown = f"{text(words.estimate(case))} {bdi(case.figure['unit'])}{which}"
    return f'{badge(claim.label)}<span class="block">{shown}</span>'


def _conditions(runs: Sequence[RunView]) -> str:
    differ, same = conditions(runs)
    heads = "".join(f'<th scope="col">{letter}</th>' for letter in letters(len(runs)))
    head = f'<thead><tr><th scope="col">Field</th>{heads}</tr></thead>'

    def table(caption: str, fields: Sequence[tuple[str, list[str]]]) -> str:
        rows = "".join(
            f'<tr><th scope="row">{bdi(name)}</th>'
            + "".join(f"<td>{bdi(value)}</td>" for value in values)
            + "</tr>"
            for name, values in fields
        )
        return _scroll(caption, f"{head}<tbody>{rows}</tbody>", "fields")

    shown = table("Conditions that differ", differ) if differ else "<p>No condition differs.</p>"
    folded = (
        f"<details><summary>Conditions that all runs share ({len(same)})</summary>"
        f"{table('Shared conditions', same)}</details>"
        if same
        else ""
    )
    return f'<section class="conditions"><h2>Conditions</h2>{shown}{folded}</section>'
