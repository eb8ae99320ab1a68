"""The top of the page: the answer, the conditions it holds under, and what to look at first."""

from __future__ import annotations

from typing import Any

from reports import words
from reports.detail_html import BADGES, badge
from reports.html import any_json, attr, bdi, copyable, pairs, tag, text
from reports.model import TROUBLE, ClaimView, RunView

SHORT_HASH = 12
FIRST = 12


_REHEARSAL = (
    "<b>REHEARSAL.</b> Code meant for a GPU was tried on a CPU, at small sizes, with stand-ins. "
    "Nothing here was judged, and no number here says anything about a model or a machine."
)


def band(run: RunView) -> str:
    """The run in one sentence, its verdicts counted, and its conditions."""
    parts = [_answer(run), _proportions(run), _counts(run), _notices(run), _facts(run)]
    return f'<section class="band" aria-label="Result">{"".join(parts)}</section>'


def _answer(run: RunView) -> str:
    sources = words.listed([bdi(name) for name in run.documents])
    against = f", judged against the figures of {sources}" if sources else ""
    apart = run.counts["NOT APPLICABLE"]
    rest = ""
    if apart:
        one = apart == 1
        rest = f" {words.plural(apart, 'more claim')} {'does' if one else 'do'} not apply here."
    where = f"on <b>{bdi(words.model(run))}</b>, on <b>{bdi(words.machine(run))}</b>"
    said = f"<strong>{words.holds(run)}</strong>, {where}{against}.{rest}"
    return tag("p", said, "answer")


def _proportions(run: RunView) -> str:
    total, at, bars = len(run.finished), 0.0, []
    for verdict, count in run.counts.items():
        width = 100.0 * count / total if total else 0.0
        if count:
            css = BADGES[verdict][0]
            bars.append(f'<rect class="{css}" x="{at:.2f}" width="{width:.2f}" height="4"/>')
        at += width
    return (
        '<svg class="proportions" viewBox="0 0 100 4" preserveAspectRatio="none" '
        f'aria-hidden="true">{"".join(bars)}</svg>'
    )


def _counts(run: RunView) -> str:
    items = "".join(
        f'<li><label><input type="checkbox" name="verdict" value="{attr(verdict)}" checked>'
        f"<b>{count:,}</b> {badge(verdict)}</label></li>"
        for verdict, count in run.counts.items()
    )
    return f'<ul class="counts" aria-label="Claims per verdict">{items}</ul>'


def _notices(run: RunView) -> str:
    notices = []
    if run.header.get("rehearsal"):
        notices.append(tag("p", _REHEARSAL))
    if run.footer is None and run.header:
        notices.append(_unfinished(run))
    for note in run.footer["notes"] if run.footer else []:
        notices.append(tag("p", f"<b>Out of date:</b> {bdi(note)}"))
    return tag("div", "".join(notices), "notice") if notices else ""


def _unfinished(run: RunView) -> str:
    begun = sorted({c.id for c in run.claims if c.row is None} | {c for c, _ in run.unjudged})
    names = words.listed([bdi(name) for name in begun])
    tail = f" Begun and not finished: {names}." if begun else ""
    return tag(
        "p",
        "<b>This run did not reach its end.</b> What stands here is what it had finished; "
        f"other claims were not tried at all.{tail} "
        "Give its ledger to <code>--resume</code> to finish it.",
    )


def _facts(run: RunView) -> str:
    header, target = run.header, run.header.get("target", {})
    if not header:
        return ""
    digest = str(target.get("hash", ""))
    short = digest[:SHORT_HASH] if len(digest) == 64 else digest
    model = [bdi(words.model(run)), f"<code>{text(short)}</code>" if short else ""]
    model += [text(f"licence {target.get('licence', 'unknown')}"), bdi(target.get("summary", ""))]
    ended = "not finished"
    if run.footer:
        ended = f"{text(run.footer['finished'])}, exit status {run.footer['exit']}"
    return pairs(
        [
            ("Model", ", ".join(filter(None, model))),
            ("Machine", text(words.machine(run)) + _device(header)),
            ("Engine", _in_words(header.get("engine", {}))),
            ("Seed", text(header.get("seed", ""))),
            ("Started", text(header.get("started", ""))),
            ("Ended", ended),
            ("Command", copyable(str(header.get("command", "")))),
        ]
    )


def _device(header: dict[str, Any]) -> str:
    device, lane = header.get("device", ""), header.get("lane", "")
    several = header.get("machine", {}).get("workers", 1)
    shared = f"; untimed claims by {several} processes at once" if several > 1 else ""
    return f"; device {text(device)}, lane {text(lane)}{shared}"


def _in_words(about: dict[str, Any]) -> str:
    name = text(about.get("name", ""))
    rest = [f"{text(k)} {text(v)}" for k, v in sorted(about.items()) if k != "name"]
    return ", ".join(filter(None, [name, *rest]))


def look_first(run: RunView) -> str:
    """What does not hold, each with its reason and a link: the first thing a newcomer needs."""
    found = [c for label in TROUBLE for c in run.finished if c.label == label]
    if not found:
        return ""
    first = tag("ul", "".join(_pointer(c) for c in found[:FIRST]))
    rest = found[FIRST:]
    more = tag("ul", "".join(_pointer(c) for c in rest))
    folded = f"<details><summary>{len(rest):,} more</summary>{more}</details>" if rest else ""
    return (
        '<section class="first" aria-labelledby="look-first">'
        f'<h2 id="look-first">Not confirmed</h2>{first}{folded}</section>'
    )


def _pointer(claim: ClaimView) -> str:
    sentence = claim.row["sentence"] if claim.row else claim.id
    return (
        f'<li>{badge(claim.label)} <a href="#{attr(claim.id)}">{bdi(sentence)}</a> '
        f'<span class="soft">{bdi(claim.reason)}</span></li>'
    )


def tools(run: RunView) -> str:
    """Search, family, source, order, open and close; of use only where scripts run."""
    families = sorted({c.family for c in run.claims})
    if not families:
        return ""
    order = [("family", "by family"), ("verdict", "not confirmed first")]
    order += [("distance", "closest to the limit first"), ("name", "by name")]
    return (
        '<form class="tools" role="search" aria-label="Find claims">'
        '<label>Search <input type="search" name="words" autocomplete="off"></label>'
        f"{_choice('family', 'Family', [('', 'all'), *((f, f) for f in families)])}"
        f"{_choice('document', 'Source', [('', 'all'), *((d, d) for d in run.documents)])}"
        f"{_choice('order', 'Order', order)}"
        '<span class="buttons"><button type="button" name="open">Open all</button> '
        '<button type="button" name="close">Close all</button> '
        '<button type="reset">Show all</button></span>'
        '<p class="shown" role="status" aria-live="polite"></p></form>'
    )


def _choice(name: str, said: str, options: list[tuple[str, str]]) -> str:
    listed = "".join(f'<option value="{attr(v)}">{text(shown)}</option>' for v, shown in options)
    return f'<label>{said} <select name="{name}">{listed}</select></label>'


def families(run: RunView) -> str:
    """Links to the families."""
    names = sorted({c.family for c in run.claims})
    links = "".join(f'<li><a href="#family-{attr(n)}">{text(n)}</a></li>' for n in names)
    if len(names) < 2:
        return ""
    return f'<nav class="families" aria-label="Families"><ul>{links}</ul></nav>'


def conditions(run: RunView) -> str:
    """Every condition the run wrote down, as it wrote it."""
    if not run.header:
        return ""
    shown = any_json({k: v for k, v in run.header.items() if k not in ("kind", "schema")})
    return (
        '<details class="conditions"><summary>All conditions of this run</summary>'
        f"{shown}</details>"
    )
