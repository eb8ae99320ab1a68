"""Every claim file keeps to the form that makes it readable, judgeable and replayable."""

from __future__ import annotations

import ast
import re
from collections import Counter
from datetime import date
from math import isfinite
from pathlib import Path

import pytest

from claims._kit import deviations
from claims._kit.claim import Claim
from claims._kit.claim_row import SUBJECT
from claims._kit.figures import Case, Figure
from claims._kit.rules import RULES
from fixtures import targets
from fixtures.needs import Need
from fixtures.servers import lane
from meta_tests.readme_table import ROOT, files, load

SENTENCE_LENGTH = 100
WISHES = re.compile(
    r"\b(should|must|shall|ought|test that|check that|correctly|properly)\b", re.IGNORECASE
)
DOCUMENTS = {"one-call", "inference-chapter", "where-time-goes"}
LAST_LINE = "test_holds, test_control_is_caught = CLAIM.tests(measure)"

each_file = pytest.mark.parametrize(
    "path", files(), ids=[f"{path.parent.name}/{path.stem}" for path in files()]
)


def figures(claim: Claim) -> list[Figure]:
    return [claim.figure, *(case.figure for case in claim.cases if case.figure)]


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@each_file
def test_the_id_of_a_claim_is_its_path(path):
    assert load(path).path == str(path.relative_to(ROOT))


def test_no_two_claim_files_share_a_name():
    # pytest loads them by their name alone.
    names = Counter(path.stem for path in files())
    assert [name for name, count in names.items() if count > 1] == []


def sentence_troubles(sentence: str) -> list[str]:
    """What keeps a sentence from being a short fact."""
    return [
        trouble
        for trouble, is_so in {
            "empty": not sentence.strip(),
            "too long": len(sentence) > SENTENCE_LENGTH,
            "not one line": "\n" in sentence,
            "no full stop at the end": not sentence.endswith("."),
            "more than one sentence": ". " in sentence,
            "no capital at the beginning": sentence[:1] != sentence[:1].upper(),
            "a wish, not a fact": bool(WISHES.search(sentence)),
        }.items()
        if is_so
    ]


@each_file
def test_the_docstring_of_a_claim_file_is_a_fact_in_one_sentence(path):
    assert sentence_troubles(ast.get_docstring(tree_of(path), clean=False) or "") == []


@pytest.mark.parametrize(
    "sentence",
    [
        "",
        "Decode should be slow.",
        "Decode is slow",
        "decode is slow.",
        "Decode is slow. Prefill is not.",
        "Test that decode is slow.",
        "The loop stops correctly.",
        "Decode\nis slow.",
        "Decode is slow" + " and slow" * 12 + ".",
    ],
)
def test_a_sentence_that_is_no_fact_is_noticed(sentence):
    assert sentence_troubles(sentence)


@each_file
def test_the_sentence_of_a_claim_is_the_docstring_of_its_file(path):
    assert load(path).sentence == ast.get_docstring(tree_of(path), clean=False)


@each_file
def test_a_claim_has_a_control_or_says_why_none_can_exist(path):
    claim = load(path)
    assert bool(claim.controls) != bool(claim.no_control_because)
    assert claim.controls or len(claim.no_control_because) >= 20


@each_file
def test_each_control_has_a_name_a_sentence_and_a_case_of_the_claim(path):
    claim = load(path)
    cases = {case.name for case in claim.cases}
    names = [control.name for control in claim.controls]
    assert len(set(names)) == len(names)
    assert SUBJECT not in names
    for control in claim.controls:
        assert control.name.strip()
        assert sentence_troubles(control.sentence) == []
        assert control.case in {"", *cases}
        assert callable(control.plant)


@each_file
def test_a_control_is_tried_wherever_the_claim_is_judged(path):
    # A device on which every control is out of scope would void each of its verdicts.
    claim = load(path)

    def devices(case: Case) -> frozenset[str]:
        return case.judged_on or claim.scope.judged_on

    judged = frozenset().union(*(devices(case) for case in claim.cases))
    tried = frozenset().union(*(devices(claim.case(c.case)) for c in claim.controls))
    assert claim.no_control_because or judged <= tried


@each_file
def test_each_figure_has_a_finite_limit_a_unit_a_published_wording_and_a_reason(path):
    for figure in figures(load(path)):
        assert isfinite(figure.limit)
        assert figure.unit.strip()
        assert figure.claimed.strip()
        assert figure.setting.strip()
        assert len(figure.why.strip()) >= 20


@each_file
def test_the_cases_of_a_claim_have_names_of_their_own(path):
    names = [case.name for case in load(path).cases]
    assert names
    assert all(name.strip() for name in names)
    assert len(set(names)) == len(names)


@each_file
def test_each_rule_of_a_claim_is_one_of_the_kits(path):
    claim = load(path)
    assert claim.rule in RULES.values()
    assert {case.rule for case in claim.cases} <= {None, *RULES}


@each_file
def test_the_limit_of_a_share_is_one_that_a_share_can_miss(path):
    claim = load(path)
    for case in claim.cases:
        rule, figure = case.rule or claim.rule.__name__, claim.figure_of(case)
        limit = figure.limit
        # One example settles that something exists; that none was found settles nothing.
        exists = rule == "share_at_least" and limit == 0 and "never refuted" in figure.why
        assert exists or not rule.startswith("share") or 0 < limit < 1
        assert rule != "every_one_of" or limit == 1


@each_file
def test_a_claim_reports_in_known_lanes_and_is_judged_on_known_devices(path):
    claim = load(path)
    assert claim.scope.lanes
    assert claim.scope.lanes <= {"cpu", "gpu", "server", "fuzz", "architectures"}
    for judged_on in (claim.scope.judged_on, *(c.judged_on for c in claim.cases if c.judged_on)):
        assert judged_on
        assert judged_on <= {"cpu", "cuda"}
    assert claim.scope.says.strip()


@each_file
def test_a_claim_names_its_source_and_the_place_in_it(path):
    source = load(path).source
    assert set(source.document.split(", ")) <= DOCUMENTS
    assert source.where.strip()


@each_file
def test_a_quick_claim_needs_no_trained_weights(path):
    claim = load(path)
    assert not (claim.quick and Need.TRAINED in claim.needs)


@each_file
def test_a_claim_file_is_under_eighty_lines(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) < 80


def decisions(tree: ast.Module) -> list[str]:
    """What a claim file does beyond measuring: it must leave judging to the rule."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert):
            found.append(f"line {node.lineno}: assert")
        if isinstance(node, ast.Attribute) and ast.unparse(node) in {
            "pytest.skip",
            "pytest.fail",
            "pytest.xfail",
            "pytest.importorskip",
            "time.sleep",
        }:
            found.append(f"line {node.lineno}: {ast.unparse(node)}")
        if isinstance(node, ast.ImportFrom) and node.module == "claims._kit.verdict":
            found.append(f"line {node.lineno}: imports verdicts")
    return found


@each_file
def test_a_claim_file_decides_nothing_and_waits_for_nothing(path):
    assert decisions(tree_of(path)) == []


@pytest.mark.parametrize(
    "code",
    [
        "def measure(s, c):\n    assert s",
        "def measure(s, c):\n    pytest.skip('later')",
        "def measure(s, c):\n    time.sleep(1)",
        "from claims._kit.verdict import Verdict",
    ],
)
def test_a_claim_file_that_decides_something_is_noticed(code):
    assert decisions(ast.parse(code))


@each_file
def test_a_claim_file_ends_with_its_two_tests_and_has_no_other(path):
    tree = tree_of(path)
    assert ast.unparse(tree.body[-1]).replace("(", "").replace(")", "") == (
        LAST_LINE.replace("(", "").replace(")", "")
    )
    defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert "measure" in defined
    assert not any(name.startswith("test") for name in defined)


# Known refutations -------------------------------------------------------------------------------

LINES = deviations.read()


@pytest.mark.parametrize(
    "line", LINES, ids=[f"{n}-{line.claim}-{line.case}" for n, line in enumerate(LINES)]
)
def test_a_known_refutation_names_a_claim_a_case_and_a_target_that_exist(line):
    claims = {str(path.relative_to(ROOT)): path for path in files()}
    family, sentence = line.claim.split("/")
    path = claims[f"claims/{family}/test_{sentence.replace('-', '_')}.py"]
    assert line.case in {"", *(case.name for case in load(path).cases)}
    drawn = {f"random:{shape}" for shape in targets.shapes()}
    served = {engine.target for engine in lane.ENGINES.values()}
    assert line.target in {"*", *targets.names(), *drawn, *served}


@pytest.mark.parametrize(
    "line", LINES, ids=[f"{n}-{line.claim}-{line.case}" for n, line in enumerate(LINES)]
)
def test_a_known_refutation_has_a_reason_and_a_date_to_look_again(line):
    assert len(line.why.strip()) >= 20
    assert type(line.review_by) is date


def test_no_refutation_is_listed_twice():
    keys = Counter((line.claim, line.case, line.target) for line in LINES)
    assert [key for key, count in keys.items() if count > 1] == []
