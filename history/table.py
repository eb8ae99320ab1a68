"""The table of the history benchmark: for a terminal, as Markdown, and as a page."""

from __future__ import annotations

from collections.abc import Sequence

from history.result import Result, summary
from reports import html
from reports.markdown import escaped

HEAD = ("", "report", "release", "subject", "property", "expected", "found", "seconds", "witness")
STYLE = (
    "body{font:16px/1.45 system-ui,sans-serif;margin:2rem;color:#1b1b1b;background:#fff}"
    "table{border-collapse:collapse}th,td{border-bottom:1px solid #ccc;padding:.35rem .6rem;"
    "text-align:left;vertical-align:top}td.seconds{text-align:right}"
    "tr.wrong td{background:#fde8e8}"
    "td.witness{min-width:19rem;max-width:48rem;overflow-wrap:anywhere}"
    "@media (prefers-color-scheme:dark){body{color:#eee;background:#161616}"
    "tr.wrong td{background:#5a1f1f}th,td{border-color:#444}}"
)


def cells(result: Result) -> tuple[str, ...]:
    """What a table shows of one result, column by column."""
    return (
        result.word,
        result.report,
        f"{result.package} {result.release}",
        result.subject,
        result.property,
        result.wanted,
        result.found,
        f"{result.seconds:.1f}",
        " · ".join(part for part in (result.witness, result.note) if part),
    )


def line(result: Result) -> str:
    """A result on one line, the witness or the reason on the next."""
    shown = [html.plain(cell) for cell in cells(result)]
    lines = [f"{shown[0]:11} {'  '.join(cell for cell in shown[1:-1] if cell)} s"]
    return "\n".join([*lines, f"            {shown[-1][:300]}"] if shown[-1] else lines)


def markdown(results: Sequence[Result]) -> str:
    """The answer and a table."""
    lines = ["## onecall history: " + summary(results), "", _md(HEAD), _md(["---"] * len(HEAD))]
    lines += [_md([escaped(cell[:300]) for cell in cells(result)]) for result in results]
    return "\n".join(lines) + "\n"


def _md(row: Sequence[str]) -> str:
    return "| " + " | ".join(row) + " |"


def page(results: Sequence[Result]) -> str:
    """A page that needs nothing but itself."""
    head = "".join(f'<th scope="col">{html.text(name)}</th>' for name in HEAD)
    title = "Historical defects and the checks that find them"
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style>'
        f"<h1>{title}</h1><p>{html.text(summary(results))}</p>"
        f"<table><thead><tr>{head}</tr></thead>"
        f"<tbody>{''.join(map(_row, results))}</tbody></table>"
    )


def _row(result: Result) -> str:
    shown = (
        html.tag("td", html.bdi(cell), name if name in ("seconds", "witness") else "")
        for name, cell in zip(HEAD, cells(result), strict=True)
    )
    return html.tag("tr", "".join(shown), "" if result.as_wanted else "wrong")
