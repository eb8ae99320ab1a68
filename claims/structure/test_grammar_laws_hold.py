"""Under any schema a mask lets each valid value through in plain JSON, and nothing else."""

from __future__ import annotations

from typing import Any

from claims._kit import deviations
from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Scope, Source
from claims._kit.measure import Measured, NotApplicable
from claims._kit.rules import every_one_of
from fixtures.constrained import NotInstalled
from fixtures.faults import grammar_laws as faults
from fixtures.grammar_laws import LAWS
from fixtures.grammar_search import TRIED_ON, search
from fixtures.schema_engines import ENGINES

ID = "structure/grammar-laws-hold"
# A whole case spreads its draws over families, one of a known deviation has them for itself.
EXAMPLES = {False: 80, True: 40}
JUDGED = ("xgrammar", "llguidance")
# A known deviation is a case of its own: engine, law, family. The others hide nothing behind it.
KNOWN = [tuple(d.case.split(": ")) for d in deviations.read() if d.claim == ID]

PLANTED = (
    ("mask", "mask_is_acceptance", {"stepper": faults.OneBitOff}, faults.OneBitOff.__doc__),
    ("rollback", "rollback", {"stepper": faults.RollsBackShort}, faults.RollsBackShort.__doc__),
    ("ends", "ends", {"stepper": faults.EndsAnywhere}, faults.EndsAnywhere.__doc__),
    ("ASCII", "reaches", {"stepper": faults.NoHighBytes}, faults.NoHighBytes.__doc__),
    ("exponents", "forms", {"stepper": faults.NoExponents}, faults.NoExponents.__doc__),
    ("controls", "parses", {"stepper": faults.RawControls}, faults.RawControls.__doc__),
    ("point", "parses", {"stepper": faults.AnyPoint}, faults.AnyPoint.__doc__),
    ("counts", "refuses", {"ignores": faults.COUNTS}, "Counts of items are ignored."),
    ("bounds", "refuses", {"ignores": faults.BOUNDS}, "Bounds of numbers are ignored."),
    ("multiples", "refuses", {"ignores": ("multipleOf",)}, "The keyword multipleOf is ignored."),
    ("separators", "separators", {"deaf": True}, "The told separators are ignored."),
)

CLAIM = Claim(
    id=ID,
    sentence=__doc__,
    source=Source(document="one-call", where="section 5, what a mask guarantees"),
    figure=Figure(
        limit=1.0,
        unit="share of drawn trials that keep the law",
        claimed="80 of 80 valid; invalid text is impossible, not unlikely",
        setting="one hand-written grammar; here schemas are drawn, and judged by jsonschema",
        why="a guarantee, and a mask is a set: one text too many or too few refutes it; a schema "
        "that the engine refuses to compile is counted and not judged",
    ),
    rule=every_one_of,
    scope=Scope(says="a vocabulary of all single bytes and forty longer pieces; no model"),
    mechanism="Which bytes may follow is a matter of schema and text alone.",
    cases=(
        *(Case(name=f"{e}: {law}", params={"of": (e, law, "")}) for e in JUDGED for law in LAWS),
        *(Case(name=": ".join(known), params={"of": known}) for known in KNOWN),
    ),
    subject={name: ENGINES[name] for name in JUDGED},
    controls=tuple(
        Control(name, sentence, faults.with_flaw(**flaw), f"xgrammar: {law}")
        for name, law, flaw, sentence in PLANTED
    ),
)


def measure(engines: Any, case: Case) -> Measured:
    """1 for each trial that keeps the law, 0 for each that breaks it."""
    name, law, only = case.params["of"]
    apart = [family for n, at, family in KNOWN if (n, at) == (name, law)]
    families = (only,) if only else tuple(f for f in TRIED_ON[law] if f not in apart)
    try:
        found = search(engines[name](), law, families, examples=EXAMPLES[bool(only)])
    except NotInstalled as lack:
        raise NotApplicable(str(lack)) from lack
    witness = f"{found.schema}: {found.how}" if found.how else ""
    return Measured(samples=found.samples, witness=witness, notes=found.notes(families))


test_holds, test_control_is_caught = CLAIM.tests(measure)
