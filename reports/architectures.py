"""Every model type that a run judged: ``python -m reports.architectures LEDGER [-o FILE]``.

The Markdown page ``docs/architectures.md`` is made of the sample ledger this way. Exit status: 0,
or 2 when the ledger cannot be read or holds no such claim.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reports import read, words
from reports.cases import Row
from reports.markdown import escaped

CLAIM = "architectures/every-cache-is-invisible"
WRITTEN, UNREADABLE = 0, 2
NOT_APPLICABLE = "NOT APPLICABLE"
# Beyond any tolerance: the library failed, or gave no numbers, or another count of them.
FAILED = 1e12

PROPERTIES = {
    "causal": "other tokens later on leave the logits before them alone",
    "steps": "a prefill and single tokens after it give what one pass gives",
    "split": "a prefill and a chunk of several tokens do",
    "defaults": "positions left out are those that generate fills in",
    "positions": "positions left out are counted on from the cache",
    "static": "the library's static cache changes nothing, with pad tokens and without",
    "leftpad": "masked pad tokens on the left change nothing",
    "leftpad_steps": "nor do they from a cache that holds them",
    "rows": "other rows of a batch do not leak",
    "eager_sdpa": "two implementations of attention agree, with pad tokens and without",
    "crop": "a wrong turn that is cropped off a cache leaves no trace",
    "lengths": "a cache counts the tokens it was shown",
    "cache_rows": "rows of a cache that are split, joined and put in another order go on alike",
    "gen_beams": "beam search finds replies as likely as by hand",
    "gen": "generate gives what a loop without a cache gives, twice in a row",
    "gen_static": "the same with a static cache",
    "gen_pad": "the same in a left-padded batch",
    "gen_chunk": "the same with the prompt read in chunks",
    "gen_chunk_pad": "the same in a padded batch read in chunks",
    "gen_lookup": "the same with tokens guessed from the prompt",
    "gen_assist": "the same with tokens guessed by another model",
    "gen_stop": "a reply ends with the token that completes a stop string",
}


class NoSuchClaim(Exception):
    """One line: the ledger holds nothing about model types."""


@dataclass(frozen=True)
class Judged:
    """One case: a model type, or one property of it that is known to break."""

    verdict: Row
    samples: Row | None

    @property
    def name(self) -> str:
        """The case: ``mamba``, or ``mamba: split``."""
        return str(self.verdict["case"])

    @property
    def tallies(self) -> dict[str, dict[str, Any]]:
        """Property -> what came of it."""
        notes: dict[str, Any] = self.samples["notes"] if self.samples else {}
        return {name: notes[name] for name in PROPERTIES if name in notes}

    @property
    def offered(self) -> list[str]:
        """The properties that were tried at least once."""
        return [name for name, tally in self.tallies.items() if tally["trials"]]

    @property
    def trials(self) -> int:
        """How many trials there were."""
        return sum(tally["trials"] for tally in self.tallies.values())

    @property
    def largest(self) -> float:
        """The largest excess of all trials."""
        return max((float(t.get("largest", 0.0)) for t in self.tallies.values()), default=0.0)

    @property
    def refusals(self) -> dict[str, list[str]]:
        """Reason -> the properties that were never tried because of it."""
        why: dict[str, list[str]] = {}
        for name, tally in self.tallies.items():
            if not tally["trials"]:
                why.setdefault(str(tally.get("not judged", "no reason kept")), []).append(name)
        return why


def cases(rows: Iterable[Row]) -> list[Judged]:
    """The subject's cases, in the ledger's order; NoSuchClaim without any."""
    own = [r for r in rows if r.get("claim") == CLAIM and r.get("role") == "subject"]
    samples = {row["case"]: row for row in own if row["kind"] == "samples"}
    found = [Judged(r, samples.get(r["case"])) for r in own if r["kind"] == "verdict"]
    if not found:
        raise NoSuchClaim(f"no verdict of {CLAIM} in it; make one with pytest -m architectures")
    return found


def page(rows: Sequence[Row], source: str) -> str:
    """The whole page; ``source`` is the ledger's name, for the command that makes it again."""
    found = cases(rows)
    types = [case for case in found if ": " not in case.name]
    known = [case for case in found if case.verdict["known"]]
    tried = [case for case in types if case.verdict["verdict"] != NOT_APPLICABLE]
    left = [case for case in types if case.verdict["verdict"] == NOT_APPLICABLE]
    parts = [
        ["# Every architecture", "", *_about(rows, found, source), ""],
        ["## Properties", "", *(f"- **{n}**: {what}" for n, what in PROPERTIES.items()), ""],
        ["## Judged", "", *_judged(tried, known), ""],
        ["## Left out", "", *(f"- {escaped(c.name)}: {_reason(c)}" for c in left), ""],
        ["## Known to break", "", *_known(known), ""],
        ["## Controls", "", *_controls(rows), ""],
    ]
    return "\n".join(line for part in parts for line in part).rstrip() + "\n"


def _reason(case: Judged) -> str:
    return escaped(str(case.verdict["reason"]).removeprefix("left out: "))


def _about(rows: Sequence[Row], found: Sequence[Judged], source: str) -> list[str]:
    header, samples = rows[0], [r for r in rows if r["kind"] == "samples"]
    versions = header["software"]
    seconds = sum(float(row["seconds"]) for row in samples)
    label = f"transformers {versions.get('transformers', '')}, torch {versions.get('torch', '')}"
    plain = [c for c in found if ": " not in c.name and " (" not in c.name and c.trials]
    more = [c for c in found if ": " not in c.name and " (" in c.name and c.trials]
    trials = sum(case.trials for case in found)
    counts = f"{len(plain)} model types and {len(more)} variants of them, {trials:,} trials"
    when = f"{seconds:,.0f} seconds of measuring, started {header['started']}"
    return [
        f"Made of the ledger of `{header['command']}` by",
        f"`python -m reports.architectures {source} -o docs/architectures.md`.",
        "",
        f"{label}; {counts}; {when}.",
        "",
        "Each type is built tiny, with random weights. Excess is the difference between two ways",
        "of computing the same, in units of what rounding explains: above 1 it is no rounding.",
        "A property that is known to break is judged apart, so that it hides nothing else.",
    ]


def _judged(tried: Sequence[Judged], known: Sequence[Judged]) -> list[str]:
    lines = [
        "| type | verdict | judged | trials | largest excess | not offered |",
        "|---" * 6 + "|",
    ]
    for case in tried:
        apart = [k for k in known if k.name.partition(": ")[0] == case.name and k is not case]
        names = [k.name.partition(": ")[2] for k in apart]
        verdict = str(case.verdict["verdict"]) + (" (known)" if case.verdict["known"] else "")
        if names:
            verdict += f"; known to break: {', '.join(names)}"
        judged = f"{len(case.offered) + len(names)} of {len(PROPERTIES)}"
        why = "; ".join(f"{', '.join(n)}: {reason}" for reason, n in case.refusals.items())
        cells = (case.name, verdict, judged, f"{case.trials}", excess(case.largest), why)
        lines.append(f"| {' | '.join(map(escaped, cells))} |")
    return lines


def excess(value: float) -> str:
    """An excess for reading; what no tolerance reaches is a failure."""
    return "a failure" if value >= FAILED else words.number(float(f"{value:.3g}"))


def _known(known: Sequence[Judged]) -> list[str]:
    """One entry per reason: the cases, and the witness of the first."""
    groups: dict[str, list[Judged]] = {}
    for case in known:
        groups.setdefault(str(case.verdict["known"]), []).append(case)
    about = f"{len(known)} cases, {len(groups)} reasons, each case with its largest excess. Short "
    about += "witnesses, and the commands that repeat them, stand in `claims/deviations.toml`."
    lines = [about, ""]
    for why, group in groups.items():
        sizes = [f"{escaped(c.name)} ({excess(c.largest)})" for c in group]
        lines.append(f"- {escaped(why)}.<br>{'; '.join(sizes)}")
    return lines


def _controls(rows: Iterable[Row]) -> list[str]:
    claim = next((r for r in rows if r["kind"] == "claim" and r["claim"] == CLAIM), None)
    lines = ["| planted | caught |", "|---|---|"]
    for control in claim["controls"] if claim else []:
        what = f"{control['name']}: {control['sentence']}"
        lines.append(f"| {escaped(what)} | {'yes' if control['caught'] else 'NO'} |")
    return lines


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page, or print it; the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m reports.architectures",
        description="Every model type that a run judged, as Markdown.",
    )
    parser.add_argument("ledger", type=Path, metavar="LEDGER")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="instead of printing")
    given = parser.parse_args(arguments)
    try:
        made = page(read.rows(given.ledger), given.ledger.as_posix())
    except (read.NotALedger, NoSuchClaim) as error:
        print(f"onecall: {given.ledger}: {error}", file=sys.stderr)
        return UNREADABLE
    if given.output:
        given.output.write_text(made, encoding="utf-8")
    else:
        print(made, end="")
    return WRITTEN


if __name__ == "__main__":
    sys.exit(main())
