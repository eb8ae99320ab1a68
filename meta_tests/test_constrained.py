"""Do the engines of masks keep one contract: mask and step agree, ends are ends, nothing leaks."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import pytest
import regex
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from fixtures.constrained import NotInstalled, Stepper, spell, unpack
from fixtures.constrained_engines import COMPILED, Llguidance, ScannerEngine
from fixtures.grammar import Scanner, Vocabulary, names, pattern, reachable

ENGINES = {"scanner": ScannerEngine, **COMPILED}
ASCII = [chr(c) for c in range(32, 127)]
# Pieces that mislead: legal beginnings with an illegal end, other scripts, half a character.
STRAYS = ["\n", '{"service":"', '{"service": "x', " true", "00", "12a", "null", "é", "\ufffd"]
ENDS, UNUSED = 2, 3
LEGAL = regex.compile(pattern())


@pytest.fixture(scope="module", params=sorted(ENGINES))
def engine(request):
    made = ENGINES[request.param]()
    try:
        made.compile(pattern(), Vocabulary((*ASCII, ""), frozenset({len(ASCII)})))
    except NotInstalled as lack:
        pytest.skip(str(lack))
    return made


@st.composite
def sentences(draw):
    name = draw(st.sampled_from(names()))
    port, healthy = draw(st.integers(0, 99_999)), draw(st.sampled_from(["true", "false"]))
    return f'{{"service": "{name}", "port": {port}, "healthy": {healthy}}}'


@dataclass
class Written:
    """A sentence cut into pieces, and a vocabulary that holds these pieces among others."""

    sentence: str
    vocabulary: Vocabulary
    ids: list[int]


@st.composite
def written(draw):
    sentence = draw(sentences())
    cuts = sorted(draw(st.sets(st.integers(1, len(sentence) - 1), max_size=12)))
    pieces = [sentence[a:b] for a, b in zip([0, *cuts], [*cuts, len(sentence)], strict=True)]
    more = draw(st.lists(st.text(min_size=1, max_size=4), max_size=5))
    texts = [*draw(st.permutations([*pieces, *STRAYS, *more])), *ASCII, *[""] * (ENDS + UNUSED)]
    first_end = len(texts) - ENDS - UNUSED
    vocabulary = Vocabulary(tuple(texts), frozenset(range(first_end, first_end + ENDS)))
    return Written(sentence, vocabulary, [texts.index(piece) for piece in pieces])


def right_mask(vocabulary: Vocabulary, text: str) -> list[bool]:
    """By a regular expression with partial matching, which no engine here is made of."""
    done = LEGAL.fullmatch(text) is not None
    return [
        done
        if i in vocabulary.end_ids
        else bool(p) and bool(LEGAL.fullmatch(text + p, partial=True))
        for i, p in enumerate(vocabulary.pieces)
    ]


def steps_agree(stepper: Stepper, mask: torch.Tensor) -> bool:
    """Each id is accepted exactly where its bit is set, and is taken back again."""
    for i, bit in enumerate(mask.tolist()):
        if stepper.accept(i) is not bit:
            return False
        if bit:
            stepper.rollback(1)
    return torch.equal(stepper.allowed(), mask)


@given(case=written())
@settings(max_examples=15)
def test_along_every_sentence_the_mask_is_right_and_steps_follow_it(engine, case):
    stepper = engine.compile(pattern(), case.vocabulary).start()
    text = ""
    for i in [*case.ids, None]:
        mask = stepper.allowed()
        assert mask.dtype is torch.bool
        assert mask.tolist() == right_mask(case.vocabulary, text), text
        assert steps_agree(stepper, mask), text
        assert stepper.is_complete() is (text == case.sentence)
        if i is not None:
            assert stepper.accept(i)
            text += case.vocabulary.pieces[i]


@given(case=written(), back=st.integers(1, 12))
@settings(max_examples=15)
def test_rollback_undoes_steps_even_behind_the_end(engine, case, back):
    compiled = engine.compile(pattern(), case.vocabulary)
    stepper, path = compiled.start(), [*case.ids, min(case.vocabulary.end_ids)]
    assert all(stepper.accept(i) for i in path)
    assert stepper.is_complete()
    assert not stepper.allowed().any(), "nothing comes behind the end id"
    assert not any(stepper.accept(i) for i in range(len(case.vocabulary.pieces)))

    kept = path[: max(0, len(path) - back)]
    stepper.rollback(len(path) - len(kept))
    other = compiled.start()
    assert all(other.accept(i) for i in kept)
    assert torch.equal(stepper.allowed(), other.allowed())
    assert all(stepper.accept(i) for i in path[len(kept) :])


@given(text=sentences(), at=st.integers(0, 40), put=st.sampled_from([*ASCII, "é", "\n"]))
@settings(max_examples=30)
def test_texts_of_another_language_are_refused(engine, text, at, put):
    spoilt = text[:at] + put + text[at + 1 :]
    vocabulary = Vocabulary((*ASCII, "é", "\n", ""), frozenset({len(ASCII) + 2}))
    stepper = engine.compile(pattern(), vocabulary).start()
    end = len(vocabulary.pieces) - 1
    took = all(stepper.accept(i) for i in spell(vocabulary, spoilt, longest=1))

    assert (took and stepper.accept(end)) is bool(LEGAL.fullmatch(spoilt))


def test_sentences_of_one_grammar_do_not_share_a_place(engine):
    vocabulary = Vocabulary((*ASCII, ""), frozenset({len(ASCII)}))
    compiled = engine.compile(pattern(), vocabulary)
    first, second = compiled.start(), compiled.start()
    before = second.allowed().clone()
    assert first.accept(ASCII.index("{"))

    assert torch.equal(second.allowed(), before)
    assert not torch.equal(first.allowed(), before)


def test_the_scanner_that_looks_at_first_characters_finds_what_the_full_scan_finds():
    texts = (*ASCII, *STRAYS, *names(), '", "port": ', "80", "true}", "")
    scanner = Scanner(Vocabulary(texts, frozenset({len(texts) - 1})))
    for state in reachable(scanner):
        assert scanner.mask(state).equal(scanner.scan(state)), state


def test_the_scanner_refuses_grammars_it_does_not_know():
    with pytest.raises(ValueError, match="sample grammar alone"):
        ScannerEngine().compile("a+", Vocabulary(("a", ""), frozenset({1})))


def test_llguidance_as_shipped_forces_a_spelling_and_leaks_nothing():
    pytest.importorskip("llguidance", reason="llguidance is not installed")
    vocabulary = Vocabulary((*ASCII, '{"', ""), frozenset({len(ASCII) + 1}))
    brace, both = ASCII.index("{"), len(ASCII)
    shipped = Llguidance(spell=lambda v: lambda text: spell(v, text, longest=2))

    def first(made):
        return made.compile(pattern(), vocabulary).start().allowed().nonzero()[:, 0].tolist()

    assert first(Llguidance()) == [brace, both]
    assert first(shipped) == [both]


@pytest.mark.parametrize("name", ["xgrammar", "llguidance"])
def test_a_missing_package_is_one_line_with_the_command(monkeypatch, name):
    monkeypatch.setitem(sys.modules, name, None)
    made = {"xgrammar": "XGrammar", "llguidance": "llguidance"}[name]
    with pytest.raises(NotInstalled, match=f"run: pip install --no-deps {name}==") as caught:
        COMPILED[made]().compile(pattern(), Vocabulary(("a", ""), frozenset({1})))
    assert "\n" not in str(caught.value)


def test_words_are_unpacked_lowest_bit_first():
    words = torch.tensor([0b101, -(2**31)], dtype=torch.int32)

    assert unpack(words, 64).nonzero()[:, 0].tolist() == [0, 2, 63]
    assert unpack(words, 33).nonzero()[:, 0].tolist() == [0, 2]
