"""Can each law of grammars fail, do the schemas hold every keyword, and is the judge exact."""

from __future__ import annotations

import json
from decimal import Decimal

import jsonschema
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from fixtures import schema_values
from fixtures.faults import grammar_laws as faults
from fixtures.grammar_laws import LAWS, VOCABULARY, accepts
from fixtures.grammar_search import TRIED_ON, search
from fixtures.grammar_trials import Trial, trials
from fixtures.json_forms import (
    LOOSE,
    PLAIN,
    Judge,
    Style,
    other_styles,
    python_regex,
    written,
)
from fixtures.schema_engines import ENGINES
from fixtures.schema_engines.protocol import Habits, Unsupported
from fixtures.schemas import FAMILIES
from history import grammars
from history.result import CONFIRMED, GREEN, INCONCLUSIVE, RED, REFUTED, VOID

pytest.importorskip("llguidance", reason="llguidance is not installed")
HONEST = {"llguidance": ENGINES["llguidance"]}
QUIET = settings(max_examples=25, derandomize=True, database=None, deadline=None)

PLANTED = [
    ("mask_is_acceptance", {"stepper": faults.OneBitOff}, "nested"),
    ("rollback", {"stepper": faults.RollsBackShort}, "nested"),
    ("ends", {"stepper": faults.EndsAnywhere}, "strings"),
    ("reaches", {"stepper": faults.NoHighBytes}, "strings"),
    ("forms", {"stepper": faults.NoExponents}, "numbers"),
    ("parses", {"stepper": faults.RawControls}, "strings"),
    ("parses", {"stepper": faults.AnyPoint}, "numbers"),
    ("refuses", {"ignores": faults.COUNTS}, "arrays"),
    ("refuses", {"ignores": faults.BOUNDS}, "ranges"),
    ("refuses", {"ignores": ("multipleOf",)}, "whole multiples"),
    ("refuses", {"ignores": ("minLength",)}, "lengths"),
    ("refuses", {"ignores": ("required",)}, "objects"),
    ("separators", {"deaf": True}, "containers"),
]


@pytest.mark.parametrize(("law", "flaw", "family"), PLANTED)
def test_each_law_finds_its_planted_fault_and_passes_the_honest_engine(law, flaw, family):
    faulty = faults.with_flaw(**flaw)(HONEST)["llguidance"]()
    found = search(faulty, law, (family,), examples=40)
    assert found.broken, f"{law} sees nothing of {flaw}"
    assert found.how
    assert found.schema
    clean = "containers" if family == "nested" else family
    honest = search(HONEST["llguidance"](), law, (clean,), examples=10)
    assert not honest.broken, honest.how
    assert set(honest.samples) == {1.0}


def test_every_law_has_a_planted_fault():
    assert {law for law, _, _ in PLANTED} == set(LAWS) == set(TRIED_ON)


KEYWORDS = {
    "strings": ['"string"'],
    "lengths": ["minLength", "maxLength"],
    "patterns": ["pattern", "\\\\S", "\\\\d", "[^ab]", "{2}", "é"],
    "choices": ["enum", "const", "名", "/", "null", "true", "\\n", '\\"', "0.5"],
    "numbers": ['"integer"', '"number"'],
    "ranges": ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", ": -", ": 0", "."],
    "multiples": ["multipleOf", "0.25", "minimum"],
    "arrays": ["minItems", "maxItems", "items", '"minItems": 0'],
    "objects": ["properties", "required", "additionalProperties", "né"],
    "nested": ['"items": {"type": "object"', '"items": {"type": "array"', "pattern", "const"],
}


@pytest.mark.parametrize("family", sorted(KEYWORDS))
def test_each_keyword_is_drawn(family):
    seen = []

    @settings(QUIET, max_examples=250, phases=[Phase.generate])
    @given(schema=FAMILIES[family]())
    def draw(schema):
        seen.append(json.dumps(schema, ensure_ascii=False))

    draw()
    assert [w for w in KEYWORDS[family] if not any(w in text for text in seen)] == []


def test_ranges_lie_below_zero_above_it_and_around_it():
    seen = set()

    @settings(QUIET, max_examples=250, phases=[Phase.generate])
    @given(schema=FAMILIES["ranges"]())
    def draw(schema):
        ends = [value for key, value in schema.items() if key != "type"]
        if len(ends) == 2:
            seen.add((min(ends) < 0, max(ends) > 0))

    draw()
    assert {(True, True), (True, False), (False, True)} <= seen


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_values_meet_their_schema_and_near_values_often_do_not(family):
    seen = {"near": 0, "wrong": 0}

    @QUIET
    @given(data=st.data())
    def check(data):
        schema = data.draw(FAMILIES[family]())
        judge = Judge(json.dumps(schema, ensure_ascii=False))
        value = data.draw(schema_values.values(family, schema))
        for style in (*PLAIN, LOOSE, *other_styles(Habits())):
            assert not judge.says(written(value, schema, style)), (schema, value, style)
        # Binary fractions have no exact remainder, and Python's classes are wider than ECMA's.
        if not {"multipleOf", "pattern"} & set(json.dumps(schema).split('"')):
            jsonschema.Draft202012Validator(schema).validate(value)
        seen["near"] += 1
        seen["wrong"] += not judge.is_valid(written(data.draw(schema_values.near(schema)), schema))

    check()
    bound = ("ranges", "lengths", "patterns", "choices", "whole multiples", "arrays", "multiples")
    if family in bound:
        assert seen["wrong"] > seen["near"] / 20, seen


@pytest.mark.parametrize(
    ("schema", "right", "wrong"),
    [
        ('{"type": "number", "multipleOf": 0.1}', ["0.3", "1e0", "-0.7"], ["0.35", "NaN"]),
        ('{"type": "integer"}', ["1.0", "-0", "10e1"], ["1.5", "01", "+1", "true", "1,"]),
        ('{"type": "string"}', ['"\\u0000"', '"é"'], ['"\x01"', '"\\x41"', '"a', '"a""']),
        ('{"type": "string", "pattern": "^a$"}', ['"a"'], ['"a\\n"', '"aa"']),
        ('{"type": "string", "pattern": "^\\\\S$"}', ['"x"', '"\\""'], ['"\\u00a0"', '" "']),
        ('{"type": "string", "maxLength": 1}', ['"😀"', '"\\ud83d\\ude00"'], ['"ab"']),
        ('{"type": "array", "minItems": 1}', ["[ 1 ]"], ["[]", "[,1]", "[1,]", "[ ,1]"]),
        ('{"const": 1.5}', ["1.5", "1.50", "15e-1"], ["1x5", "1.51"]),
    ],
)
def test_the_judge_is_exact(schema, right, wrong):
    judge = Judge(schema)
    assert [text for text in right if judge.says(text)] == []
    assert [text for text in wrong if judge.is_valid(text)] == []


def test_bytes_that_are_no_text_are_wrong():
    assert Judge('{"type": "string"}').says(b'"\xc3"')


@given(value=st.text() | st.decimals(-(10**6), 10**6, places=3))
@settings(max_examples=60, deadline=None)
def test_each_form_means_the_same_value(value):
    schema = {"type": "string" if isinstance(value, str) else "number"}
    for style in (*PLAIN, LOOSE, *other_styles(Habits())):
        back = json.loads(written(value, schema, style), parse_float=Decimal, parse_int=Decimal)
        assert back == value, style


def test_bound_values_are_written_plainly():
    schema = {"type": "string", "maxLength": 3}
    assert written("a/", schema, Style(escape="all")) == '"a/"'
    assert written(Decimal("1.5"), {"type": "number", "minimum": 1}, Style(number="e")) == "1.5"


def test_patterns_are_read_as_ecma_reads_them():
    assert not python_regex("^a$").search("a\n")
    assert not python_regex("^\\d$").search("٣")
    assert not python_regex("^.$").search("\u2028")
    assert python_regex("^\\s$").search("\ufeff")


@given(text=st.text(max_size=12))
@settings(max_examples=60, deadline=None)
def test_a_text_is_spelled_by_bytes_and_by_long_pieces(text):
    raw = text.encode("utf-8", "surrogatepass")
    for long in (False, True):
        assert VOCABULARY.text(VOCABULARY.spell(raw, long=long)) == raw
    assert len(VOCABULARY.spell(b'{"true', long=True)) == 2


class Refusing:
    """An engine that takes no schema."""

    name, habits = "refusing", Habits()

    def compile(self, schema, vocabulary, separators=None):
        raise Unsupported("no schema at all")


@pytest.mark.parametrize("law", sorted(LAWS))
def test_what_an_engine_refuses_is_counted_and_never_judged(law):
    found = search(Refusing(), law, TRIED_ON[law], examples=10)
    assert found.samples == []
    assert found.unsupported == 10
    assert "no schema at all" in found.refusal
    assert found.notes(("strings",))["refused"] == 10


class Failing:
    """An engine whose matchers raise, or whose adapter's caller does."""

    name, habits = "failing", Habits()

    def __init__(self, where):
        self.where = where

    def compile(self, schema, vocabulary, separators=None):
        raise self.where


def test_a_library_that_raises_breaks_the_law_and_our_own_error_does_not_pass_for_that():
    with pytest.raises(ZeroDivisionError):
        search(Failing(ZeroDivisionError()), "reaches", ("strings",), examples=5)
    made = HONEST["llguidance"]()
    made._known[VOCABULARY] = "no tokenizer"
    found = search(made, "reaches", ("strings",), examples=5)
    assert found.broken
    assert "the engine fails: TypeError" in found.how


@given(trial=trials(("containers",), "separators", regex=True))
@settings(max_examples=30, deadline=None)
def test_told_separators_are_drawn_with_something_to_separate_or_nothing(trial):
    assert isinstance(trial, Trial)
    assert Judge(trial.schema).is_valid(trial.plain())


def test_the_engine_is_asked_for_whole_texts():
    compiled = HONEST["llguidance"]().compile('{"type": "number"}', VOCABULARY)
    assert accepts(compiled, "-0.5")
    assert not accepts(compiled, "-")


# The history's grammar half ----------------------------------------------------------------------


def test_rows_name_laws_and_families_that_exist():
    rows, _ = grammars.read()
    assert len(rows) >= 12
    for row in rows:
        assert row.package in ENGINES
        assert row.tries
        assert all(law in LAWS and family in FAMILIES for law, family in row.tries)
        assert row.red != row.green


ROW = grammars.Row(
    report="x", package="xgrammar", red="1", green="2", says="", tries=(("parses", "strings"),)
)


def line(**more):
    return {
        "law": "parses",
        "judged": 9,
        "unsupported": 0,
        "broken": 0,
        "schema": "{}",
        "how": "so",
    } | more


@pytest.mark.parametrize(
    ("lines", "verdict"),
    [
        ([line()], CONFIRMED),
        ([line(), line(broken=2)], REFUTED),
        ([line(judged=4, unsupported=5)], INCONCLUSIVE),
        ([line(judged=0)], INCONCLUSIVE),
    ],
)
def test_a_release_is_judged_by_what_was_judged(lines, verdict):
    assert grammars._told(lines, ROW)["found"] == verdict


def test_a_search_that_is_missing_is_void(tmp_path, monkeypatch):
    # A child of another version, which cannot be imported: our own failure, and no catch.
    monkeypatch.setattr(grammars, "installed", lambda *_, **__: tmp_path)
    for side in (RED, GREEN):
        assert grammars.judged(ROW, side, []).found == VOID


def test_a_process_that_a_signal_ends_is_a_catch_that_names_the_trial(tmp_path, monkeypatch):
    (tmp_path / "history").mkdir()
    (tmp_path / "history" / "__init__.py").touch()
    (tmp_path / "history" / "grammar_child.py").write_text(
        "import os, sys, pathlib\n"
        "pathlib.Path(sys.argv[2]).with_suffix('.trial').write_text('the schema')\n"
        "os.abort()\n"
    )
    monkeypatch.setattr(grammars, "HERE", tmp_path / "history")
    told = grammars._verdict({}, tmp_path, tmp_path / "lines", ROW)
    assert told["found"] == REFUTED
    assert "SIGABRT" in told["witness"]
    assert "the schema" in told["witness"]
