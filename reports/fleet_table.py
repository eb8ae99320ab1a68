"""What a fleet found: a line per entry, nodes that disagree, and the page claim by entry."""

from __future__ import annotations

import gc
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from reports import compare_html, compare_text, fleet_light, read, words
from reports.cases import Case
from reports.changes import Pair
from reports.fleet_run import Account
from reports.html import attr, bdi, plain
from reports.model import LABELS, ClaimView, RunView

PAGE = "matrix.html"
# More columns than this are no table for a terminal; the page has them all.
COLUMNS = 12
# A longer list is folded away on the page, so that the table of claims is not far below.
LISTED = 10
_DECIDED = {"CONFIRMED", "REFUTED", "REFUTED (known)"}


@dataclass(frozen=True, kw_only=True)
class Disagreement:
    """One case of a claim on two nodes of one kind: names, and what each found."""

    first: str
    second: str
    pair: Pair
    verdicts: tuple[str, str]

    @property
    def beyond_intervals(self) -> bool:
        """True when the two intervals share no value; else the verdicts alone differ."""
        return self.pair.moved

    def __str__(self) -> str:
        """The two entries and their numbers on a line."""
        pair, (one, other) = self.pair, self.verdicts
        return (
            f"{pair.claim} [{pair.before.name}]: {one} {compare_text.value(pair.before)} on "
            f"{self.first}, {other} {compare_text.value(pair.after)} on {self.second}"
        )


def write(
    folder: Path, accounts: Sequence[Account]
) -> tuple[str, dict[str, RunView], list[Disagreement]]:
    """Write the page into ``folder``; its text for a terminal, the runs, and what disagrees."""
    runs, gone = merged(accounts)
    found = disagreements(runs)
    page = compare_html.side_by_side(list(runs.values()), list(runs), gone)
    # Behind the band, before the table of claims, which may be long.
    page = page.replace("</section>", f"</section>{''.join(_more(accounts, runs, found))}", 1)
    (folder / PAGE).write_text(page, encoding="utf-8")
    return _text(accounts, runs, gone, found), runs, found


def merged(accounts: Sequence[Account]) -> tuple[dict[str, RunView], list[tuple[str, str]]]:
    """The runs by entry, and the entries that have none, with the reason."""
    runs: dict[str, RunView] = {}
    gone: list[tuple[str, str]] = []
    shared = fleet_light.Shared()
    was = gc.isenabled()
    gc.disable()  # Nothing here is garbage, and looking for it takes longer than reading.
    try:
        for account in accounts:
            name = account.entry.name
            if account.ledger is None:
                gone.append((name, account.why or account.state))
                continue
            try:
                runs[name] = fleet_light.light(account.ledger, shared)
            except read.NotALedger as error:
                gone.append((name, str(error)))
    finally:
        if was:
            gc.enable()
    return runs, gone


def kind(run: RunView) -> str:
    """What two runs have in common that are expected to find the same: model and hardware."""
    header, machine = run.header, run.header["machine"]
    gpus = [gpu.get("name") for gpu in machine.get("gpus") or []]
    target = {name: header["target"].get(name) for name in ("name", "hash", "dtype")}
    parts = [target, header["device"], header["engine"], machine.get("cpu"), machine.get("cores")]
    return json.dumps([*parts, gpus, machine.get("threads")], sort_keys=True)


def disagreements(runs: Mapping[str, RunView]) -> list[Disagreement]:
    """Cases in which two runs of one kind share no value, or came to opposite verdicts.

    Of many runs the two are shown that lie furthest apart. Different verdicts come first.
    """
    kinds: dict[str, dict[str, RunView]] = defaultdict(dict)
    for name, run in runs.items():
        kinds[kind(run)][name] = run
    found = [each for alike in kinds.values() for each in _among(alike)]
    return sorted(
        found, key=lambda d: (len(set(d.verdicts)) == 1, d.pair.claim, d.pair.before.name)
    )


Seen = tuple[str, ClaimView, Case]


def _among(runs: Mapping[str, RunView]) -> Iterator[Disagreement]:
    cases: dict[tuple[str, str, str], list[Seen]] = defaultdict(list)
    if len(runs) < 2:
        return
    for name, run in runs.items():
        for claim in run.finished:
            for case in claim.cases:
                unit = case.verdict["figure"]["unit"]
                cases[claim.id, case.name, unit].append((name, claim, case))
    for seen in cases.values():
        yield from _of_a_case(seen)


def _of_a_case(seen: Sequence[Seen]) -> Iterator[Disagreement]:
    bounded = [s for s in seen if None not in s[2].bounds]
    if bounded:
        least = min(bounded, key=lambda s: s[2].bounds[1] or 0.0)
        most = max(bounded, key=lambda s: s[2].bounds[0] or 0.0)
        if least[0] != most[0] and (apart := _two(least, most)).beyond_intervals:
            yield apart
            return
    by_label = {case.label: (name, claim, case) for name, claim, case in reversed(seen)}
    decided = [by_label[label] for label in sorted(by_label) if label in _DECIDED]
    if len(decided) > 1:
        yield _two(decided[0], decided[1])


def _two(one: Seen, other: Seen) -> Disagreement:
    return Disagreement(
        first=one[0],
        second=other[0],
        pair=Pair(claim=one[1].id, before=one[2], after=other[2]),
        verdicts=(one[2].label, other[2].label),
    )


def versions(runs: Mapping[str, RunView]) -> list[tuple[str, dict[str, list[str]]]]:
    """Software whose version is not the same in every run: the entries by version."""
    names = sorted({name for run in runs.values() for name in run.header["software"]})
    found = []
    for software in names:
        by: dict[str, list[str]] = defaultdict(list)
        for name, run in runs.items():
            by[str(run.header["software"].get(software, "none"))].append(name)
        if len(by) > 1:
            found.append((software, dict(by)))
    return found


def _told(by: Mapping[str, Sequence[str]]) -> str:
    def who(names: Sequence[str]) -> str:
        return words.listed(names) if len(names) <= 3 else words.plural(len(names), "run")

    return "; ".join(f"{version} ({who(names)})" for version, names in by.items())


def _heads() -> list[str]:
    return ["entry", "state", "claims", *(label.lower() for label in LABELS), "s", "on", "why"]


def _cells(account: Account, run: RunView | None) -> list[str]:
    counts = [str(count or "") for count in run.counts.values()] if run else [""] * len(LABELS)
    where = ", then ".join(account.nodes)
    if not where and run:
        where = str(run.header.get("fleet", {}).get("node", ""))
    took = f"{account.seconds:.0f}" if account.seconds else ""
    claims = str(len(run.finished)) if run else ""
    about = [account.entry.name, account.state, claims, *counts, took, where, account.why]
    return [plain(each) for each in about]


def _text(
    accounts: Sequence[Account],
    runs: Mapping[str, RunView],
    gone: Sequence[tuple[str, str]],
    found: Sequence[Disagreement],
) -> str:
    lines = list(_aligned([_heads(), *(_cells(a, runs.get(a.entry.name)) for a in accounts)]))
    if 0 < len(runs) <= COLUMNS:
        matrix = compare_text.side_by_side(list(runs.values()), list(runs), gone)
        lines += ["", *matrix.rstrip("\n").split("\n")]
    lines += [plain(f"versions differ: {name} {_told(by)}") for name, by in versions(runs)]
    lines += [plain(f"nodes of one kind disagree: {each}") for each in found]
    return "\n".join(lines) + "\n"


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    filled = [n for n in range(len(rows[0])) if any(row[n] for row in rows[1:])]
    widths = {n: max(len(row[n]) for row in rows) for n in filled[:-1]}
    for row in rows:
        cells = [f"{row[n]:{widths.get(n, 0)}}" for n in filled]
        yield "  ".join(cells).rstrip()


def _more(
    accounts: Sequence[Account], runs: Mapping[str, RunView], found: Sequence[Disagreement]
) -> Iterator[str]:
    """Sections that a fleet adds to the page."""
    heads = "".join(f'<th scope="col">{bdi(head)}</th>' for head in _heads())
    rows = "".join(
        f'<tr><th scope="row">{bdi(first)}</th>{"".join(f"<td>{bdi(c)}</td>" for c in rest)}</tr>'
        for first, *rest in (_cells(a, runs.get(a.entry.name)) for a in accounts)
    )
    yield (
        '<div class="scroll" tabindex="0" role="region" aria-label="Entries of the plan">'
        f'<table class="plain"><caption>Entries of the plan</caption><thead><tr>{heads}</tr>'
        f"</thead><tbody>{rows}</tbody></table></div>"
    )
    yield _list("Nodes of one kind disagree", [_item(each) for each in found])
    differ = [f"<li>{bdi(name)}: {bdi(_told(by))}</li>" for name, by in versions(runs)]
    yield _list("Versions that differ", differ)


def _item(found: Disagreement) -> str:
    link = f'<a class="id" href="#{attr(found.pair.claim)}">{bdi(found.pair.claim)}</a>'
    how = "intervals share no value" if found.beyond_intervals else "opposite verdicts"
    return f'<li>{link}: {how}<span class="soft block">{bdi(str(found))}</span></li>'


def _list(heading: str, items: Sequence[str]) -> str:
    if not items:
        return ""
    head, listed = f"{heading} ({len(items):,})", f"<ul>{''.join(items)}</ul>"
    if len(items) > LISTED:
        folded = f"<details><summary>{head}</summary>{listed}</details>"
        return f'<section class="changes">{folded}</section>'
    return f'<section class="changes"><h2>{head}</h2>{listed}</section>'
