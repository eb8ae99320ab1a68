"""From ledger rows to what a reader sees: one object per run and claim."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from reports.cases import KNOWN, Case, Control, Row, label

SUBJECT = "subject"
UNFINISHED = "UNFINISHED"

LABELS = ("CONFIRMED", "REFUTED", KNOWN, "INCONCLUSIVE", "NOT APPLICABLE", "VOID")
# What does not hold, or is not known to; what a reader has to act on comes first.
TROUBLE = ("REFUTED", "VOID", "INCONCLUSIVE", KNOWN)


@dataclass(frozen=True, kw_only=True)
class ClaimView:
    """A claim with its cases and controls; ``row`` is None when the run broke off within it.

    ``probes`` are what the run saw its device do at best, by name with unit.
    """

    id: str
    row: Row | None
    cases: list[Case]
    controls: list[Control]
    probes: Row = field(default_factory=dict)

    @property
    def family(self) -> str:
        """The first half of the id."""
        return self.id.split("/")[0]

    @property
    def label(self) -> str:
        """The claim's verdict as it is shown."""
        return label(self.row["verdict"], self.row["known"]) if self.row else UNFINISHED

    @property
    def document(self) -> str:
        """The short name of the source."""
        return str(self.row["source"]["document"]) if self.row else ""

    @property
    def no_control_because(self) -> str:
        """Why no fault can be planted, for a claim without controls; empty in older ledgers."""
        return str(self.row.get("no_control_because", "")) if self.row else ""

    @property
    def reason(self) -> str:
        """Why this verdict."""
        if self.row:
            return str(self.row["reason"])
        return "the run broke off before every case and control of this claim was judged"

    @property
    def shown_case(self) -> Case | None:
        """The case whose numbers stand in the claim's row.

        The first that decided the verdict; of several confirmed ones the closest to its limit.
        """
        verdict = self.row["verdict"] if self.row else ""
        deciding = [c for c in self.cases if c.verdict["verdict"] == verdict] or self.cases
        if verdict == "CONFIRMED":
            return min(deciding, key=lambda c: c.distance, default=None)
        return deciding[0] if deciding else None

    @property
    def one_figure(self) -> Row | None:
        """The figure when every case is judged by the same one."""
        figures = [c.figure for c in self.cases]
        return figures[0] if figures and all(f == figures[0] for f in figures) else None


@dataclass(frozen=True, kw_only=True)
class RunView:
    """A whole run."""

    header: Row
    claims: list[ClaimView]
    footer: Row | None
    unjudged: list[tuple[str, str]] = field(default_factory=list)

    @property
    def finished(self) -> list[ClaimView]:
        """Claims that have a verdict, by id."""
        return [c for c in self.claims if c.row is not None]

    @property
    def counts(self) -> dict[str, int]:
        """Number of claims per label, every label present, in the order of LABELS."""
        seen = Counter(c.label for c in self.finished)
        return {name: seen[name] for name in LABELS}

    @property
    def judged(self) -> int:
        """Claims that apply here: all finished ones less the NOT APPLICABLE."""
        return len(self.finished) - self.counts["NOT APPLICABLE"]

    @property
    def documents(self) -> list[str]:
        """Short names of the sources, sorted; a claim may rest on several."""
        return sorted({name for c in self.finished for name in c.document.split(", ")})


def view(rows: Iterable[Row]) -> RunView:
    """Everything in ``rows``; the last row wins where a ledger holds two of a kind."""
    headers, footers, claims = [], [], {}
    verdicts: dict[str, dict[tuple[str, str], Row]] = {}
    samples: dict[tuple[str, str, str], Row] = {}
    for row in rows:
        if row["kind"] == "header":
            headers.append(row)
        elif row["kind"] == "footer":
            footers.append(row)
        elif row["kind"] == "claim":
            claims[row["claim"]] = row
        elif row["kind"] == "samples":
            samples[row["claim"], row["role"], row["case"]] = row
        else:
            verdicts.setdefault(row["claim"], {})[row["role"], row["case"]] = row
    known = sorted({*claims, *verdicts})
    probes = _probes(headers[-1] if headers else {})
    judged = {(c, *key) for c, found in verdicts.items() for key in found}
    return RunView(
        header=headers[-1] if headers else {},
        claims=[_claim(c, claims.get(c), verdicts.get(c, {}), samples, probes) for c in known],
        footer=footers[-1] if footers else None,
        unjudged=sorted((c, case) for c, r, case in samples if (c, r, case) not in judged),
    )


def _probes(header: Row) -> Row:
    machine = header.get("machine")
    told = machine.get("probes") if isinstance(machine, dict) else None
    return told if isinstance(told, dict) else {}


def _claim(
    claim: str,
    row: Row | None,
    verdicts: dict[tuple[str, str], Row],
    samples: dict[tuple[str, str, str], Row],
    probes: Row,
) -> ClaimView:
    cases = {
        (role, name): Case(name=name, verdict=v, samples_row=samples.get((claim, role, name)))
        for (role, name), v in verdicts.items()
    }
    order: Sequence[str] = row["cases"] if row else []
    subject = {name: case for (role, name), case in cases.items() if role == SUBJECT}
    listed = [subject[name] for name in order if name in subject]
    rest = [case for name, case in subject.items() if name not in order]
    controls = _controls(row, cases)
    return ClaimView(id=claim, row=row, cases=listed + rest, controls=controls, probes=probes)


def _controls(row: Row | None, cases: dict[tuple[str, str], Case]) -> list[Control]:
    planted = {role: case for (role, _), case in cases.items() if role != SUBJECT}
    if row is not None:
        return [Control(**about, case=planted.get(about["name"])) for about in row["controls"]]
    return [
        Control(
            name=role,
            sentence="",
            caught=None if c.label == "NOT APPLICABLE" else c.verdict["verdict"] == "REFUTED",
            reason=f"{c.verdict['verdict']}: {c.verdict['reason']}",
            case=c,
        )
        for role, c in planted.items()
    ]
