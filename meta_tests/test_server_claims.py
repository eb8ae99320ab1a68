"""Each server claim tells an honest server from the lying ones that are its controls."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from claims._kit.measure import NotApplicable
from claims._kit.verdict import Verdict
from fixtures.faults.serving import engine
from fixtures.needs import Need
from fixtures.servers.lies import Lie
from fixtures.servers.probe import EVERYTHING

FOLDER = Path(__file__).parents[1] / "claims" / "server"


def _module(path: Path):
    spec = importlib.util.spec_from_file_location(f"server_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


MODULES = {path.stem: _module(path) for path in sorted(FOLDER.glob("test_*.py"))}
CLAIMS = {name: module.CLAIM for name, module in MODULES.items()}


def _marks(claim) -> list:
    return [pytest.mark.timed] if claim.timed else []


CASES = [
    pytest.param(name, case, id=f"{name}-{case.name}", marks=_marks(claim))
    for name, claim in CLAIMS.items()
    for case in claim.cases
]
CONTROLS = [
    pytest.param(name, control, id=f"{name}-{control.name}", marks=_marks(claim))
    for name, claim in CLAIMS.items()
    for control in claim.controls
]


@pytest.mark.parametrize(("name", "case"), CASES)
def test_an_honest_server_is_confirmed(name, case):
    judged = CLAIMS[name].judge(case, MODULES[name].measure(engine(Lie.NONE), case))
    assert judged.verdict is Verdict.CONFIRMED, judged


@pytest.mark.parametrize(("name", "control"), CONTROLS)
def test_a_lying_server_is_refuted(name, control):
    claim = CLAIMS[name]
    case = claim.case(control.case)
    judged = claim.judge(case, MODULES[name].measure(control.plant(engine(Lie.NONE)), case))
    assert judged.verdict is Verdict.REFUTED, judged


def test_prose_in_the_place_of_a_number_says_nothing_of_whose_reply_it_was():
    name = "test_each_gets_its_own"
    with pytest.raises(NotApplicable, match="bound to a number it writes none"):
        MODULES[name].measure(engine(Lie.IGNORES_SCHEMA), CLAIMS[name].cases[0])


def test_many_replies_without_a_number_are_refuted_where_one_alone_has_it(monkeypatch):
    module = MODULES["test_each_gets_its_own"]

    def lost_in_a_crowd(_engine, count, *, at_once):
        texts = [str(n) if at_once == 1 else "" for n in range(count)]
        return [module.load.Errand(n, text, f"id {n}", 1) for n, text in enumerate(texts)]

    monkeypatch.setattr(module.load, "errands", lost_in_a_crowd)
    case = module.CLAIM.cases[0]
    assert module.CLAIM.judge(case, module.measure(None, case)).verdict is Verdict.REFUTED


@pytest.mark.parametrize("name", CLAIMS)
def test_each_needs_a_server_and_nothing_that_servers_of_ours_lack(name):
    claim = CLAIMS[name]
    assert Need.SERVER in claim.needs
    assert claim.needs <= EVERYTHING
    assert claim.scope.lanes == {"server"}


def test_every_lie_is_some_controls():
    planted = {c.name for claim in CLAIMS.values() for c in claim.controls}
    unused = {lie for lie in Lie if lie.name.lower().replace("_", " ") not in planted}
    assert unused == {Lie.NONE}
