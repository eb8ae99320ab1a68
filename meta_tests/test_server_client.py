"""The client of servers: each way a server can fail is one clear line, and a key goes nowhere."""

from __future__ import annotations

import json
import re
import socket
import threading
import time
from pathlib import Path

import httpx
import pytest

from fixtures.faults import serving
from fixtures.needs import CannotRun, Need
from fixtures.servers import faulty, json_prefix, load, noop, probe, sse
from fixtures.servers.client import KEY_VARIABLE, Client, ServerTrouble, checked_url
from fixtures.servers.completion import BadReply, Usage
from fixtures.servers.lies import Lie, LineFault
from fixtures.servers.llama_cpp import LlamaCpp
from fixtures.servers.openai_engine import connect
from meta_tests import made_up

KEY = "sk-planted-0123456789abcdef"
CLAIM = made_up.ROOT / "claims/server/test_greedy_repeats.py"
PLAIN = ("-p", "no:cacheprovider")
HI = [{"role": "user", "content": "Say hello."}]


MADE: list[Client] = []


@pytest.fixture(autouse=True)
def _close_clients():
    yield
    while MADE:
        MADE.pop().close()


def kept(made: Client) -> Client:
    """The client itself, closed when its test ends."""
    MADE.append(made)
    return made


def client(flaw: Lie | LineFault, **options) -> Client:
    return kept(Client(faulty.url(flaw), "toy", **{"timeout_s": 5, "key": "", **options}))


def trouble(act) -> str:
    with pytest.raises(ServerTrouble) as caught:
        act()
    line = str(caught.value)
    assert "\n" not in line
    assert len(line) < 400
    return line


def canned(*events: object, end: str = "\n\n") -> Client:
    """A client whose server streams these events, each sent byte by byte."""
    text = "".join(f"data: {e if isinstance(e, str) else json.dumps(e)}{end}" for e in events)

    def answer(_request: httpx.Request) -> httpx.Response:
        data = text.encode()
        return httpx.Response(200, content=(data[i : i + 1] for i in range(len(data))))

    made = kept(Client("http://127.0.0.1:1/v1", "canned", key=""))
    made.__dict__["_http"] = httpx.Client(transport=httpx.MockTransport(answer))
    return made


def delta(finish: str | None = None, **said: object) -> dict:
    return {"choices": [{"index": 0, "finish_reason": finish, "delta": said}]}


# Faults of the line ------------------------------------------------------------------------------


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (
            LineFault.UNAUTHORIZED,
            f"401: the server does not accept a request without a key; set {KEY_VARIABLE}",
        ),
        (LineFault.NO_MODEL, "404: not found; check --served-model 'toy'"),
        (
            LineFault.TOO_MANY,
            "429: the server refuses more requests for now; it asks to wait 20 s",
        ),
        (LineFault.BROKEN, "500: the server failed"),
    ],
)
def test_a_refusal_is_one_line_that_says_what_to_do(fault, words, stream):
    assert words in trouble(lambda: client(fault).chat(HI, stream=stream))


@pytest.mark.parametrize(
    ("fault", "stream", "words"),
    [
        (LineFault.CUT, True, "the connection was cut in the middle"),
        (LineFault.QUIET_CUT, True, "the stream was cut: it ended without a finish reason"),
        (LineFault.NO_EVENTS, True, "an event of the stream is no JSON"),
        (LineFault.NO_JSON, False, "the reply is no JSON: '<html>"),
        (LineFault.NO_JSON, True, "a line of the stream is no event field: '<html>"),
        (LineFault.WRONG_USAGE, False, "usage numbers do not add up"),
    ],
)
def test_a_reply_that_cannot_be_read_is_one_line(fault, stream, words):
    assert words in trouble(lambda: client(fault).chat(HI, stream=stream, max_tokens=4))


def test_a_refused_connection_is_one_line():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    line = trouble(lambda: kept(Client(f"http://127.0.0.1:{port}/v1", key="")).chat(HI))
    assert "nothing answers there" in line
    assert "check --base-url" in line


@pytest.mark.parametrize("stream", [False, True])
def test_a_slow_first_byte_ends_at_the_time_limit(stream):
    start = time.perf_counter()
    line = trouble(lambda: client(LineFault.SLOW, timeout_s=0.2).chat(HI, stream=stream))
    assert "no byte within 0.2 s" in line
    assert time.perf_counter() - start < faulty.SLOW_S


def test_a_stream_that_never_ends_is_left_at_the_deadline():
    line = trouble(lambda: client(Lie.NONE, deadline_s=0.05).chat(HI, stream=True))
    assert "did not end within 0.05 s" in line


def test_a_server_that_dies_is_told_once_and_used_again_when_it_is_back():
    asked = client(LineFault.DIES)
    for _ in range(2):
        asked.chat(HI, max_tokens=1)
    assert "the server died or hung up" in trouble(lambda: asked.chat(HI, max_tokens=1))
    assert asked.chat(HI, max_tokens=1).text
    assert asked.sent == 4  # and no request was sent twice


def test_trouble_is_what_the_kit_calls_void_and_not_a_crash():
    assert issubclass(ServerTrouble, CannotRun)


@pytest.mark.parametrize(
    "told",
    [
        {"prompt_tokens": -1, "completion_tokens": 1},
        {"prompt_tokens": 1.5, "completion_tokens": 1},
        {"prompt_tokens": True, "completion_tokens": 1},
        {"prompt_tokens": 3},
        {"prompt_tokens": 3, "completion_tokens": 1, "total_tokens": 5},
        {
            "prompt_tokens": 3,
            "completion_tokens": 1,
            "prompt_tokens_details": {"cached_tokens": 4},
        },
        "many",
    ],
)
def test_impossible_counts_are_refused(told):
    with pytest.raises(BadReply):
        Usage.of(told)


def test_counts_that_are_not_told_are_no_counts():
    assert Usage.of(None) is None
    told = {"prompt_tokens": 3, "completion_tokens": 1, "prompt_tokens_details": None}
    assert Usage.of(told) == Usage(3, 1, None)


# Streams -----------------------------------------------------------------------------------------


def test_characters_whose_bytes_come_one_by_one_are_whole():
    reply = canned(delta(content="雨"), delta(content="🌍"), delta("stop"), "[DONE]").chat(
        HI, stream=True
    )
    assert reply.text == "雨🌍"
    assert reply.pieces == ("雨", "🌍")


@pytest.mark.parametrize("end", ["\n\n", "\r\n\r\n", "\r\r"])
def test_every_line_end_of_the_standard_is_understood(end):
    assert canned(delta(content="a"), delta("stop"), "[DONE]", end=end).chat(HI, stream=True).text


def test_comments_and_other_fields_are_passed_over_and_data_lines_are_joined():
    lines = [": ping", "event: x", "id: 7", 'data: {"a":', "data: 1}", "", "data: [DONE]", ""]
    assert list(sse.values(lines)) == [{"a": 1}]


def test_a_stream_without_done_is_whole_when_it_gave_its_reason():
    assert canned(delta(content="a"), delta("length")).chat(HI, stream=True).finish == "length"


@pytest.mark.parametrize(
    "first",
    [
        {"reasoning_content": "hm"},
        {"reasoning": "hm"},
        {"tool_calls": [{"function": {"name": "look", "arguments": ""}}]},
    ],
)
def test_the_first_token_is_the_first_of_any_kind(first):
    ticks = iter(range(100))
    made = canned(
        delta(role="assistant", content=None), delta(**first), delta(content="a"), delta("stop")
    )
    made.clock = lambda: float(next(ticks))
    reply = made.chat(HI, stream=True)
    assert reply.hidden
    assert reply.waits.first < reply.waits.last


def test_pieces_are_not_tokens():
    usage = {"prompt_tokens": 3, "completion_tokens": 9}
    reply = canned(
        delta(content="nine tokens"), delta("stop"), {"choices": [], "usage": usage}
    ).chat(HI, stream=True)
    assert len(reply.pieces) == 1
    assert reply.tokens == 9


def test_a_proxy_that_buffers_shows_in_the_waits():
    honest, buffered = (
        client(lie).chat(HI, stream=True, max_tokens=40).waits for lie in (Lie.NONE, Lie.BUFFERS)
    )
    assert honest.first < honest.last / 2
    assert buffered.first > buffered.last / 2


# Many at once ------------------------------------------------------------------------------------


def test_many_keep_their_order_and_never_exceed_the_bound():
    made, guard, now, most = client(Lie.NONE), threading.Lock(), [0], [0]

    def ask(number: int):
        def act():
            with guard:
                now[0] += 1
                most[0] = max(most[0], now[0])
            reply = made.complete(f"{number}", max_tokens=2, temperature=0)
            with guard:
                now[0] -= 1
            return reply

        return act

    replies = made.many([ask(n) for n in range(24)], at_once=5)
    alone = [made.complete(f"{n}", max_tokens=2, temperature=0).text for n in range(24)]
    assert [reply.text for reply in replies] == alone
    assert most[0] == 5


def test_one_failure_among_many_ends_the_rest():
    made = client(Lie.NONE)

    def fail():
        raise ServerTrouble("gone")

    asks = [fail] + [lambda: made.chat(HI, max_tokens=1)] * 50
    assert trouble(lambda: made.many(asks, at_once=2)) == "gone"
    assert made.sent < 50


# The handshake -----------------------------------------------------------------------------------


def test_the_handshake_finds_what_is_there_and_says_why_the_rest_is_not():
    engine = connect(faulty.url(Lie.NONE), "", key="")
    kept(engine.client)
    found = engine.handshake
    assert {Need.SERVER, Need.STREAM_USAGE, Need.CACHED_TOKENS, Need.COMPLETIONS} <= found.offers
    assert found.lacks[Need.GRAMMAR] == "the field is ignored"
    assert not found.offers & found.lacks.keys()


def test_a_model_that_is_not_served_is_named_with_those_that_are():
    line = trouble(lambda: connect(faulty.url(Lie.NONE), "nope", key=""))
    assert "serves no model 'nope'; it has toy" in line


def test_a_server_that_hangs_up_after_a_stream_is_noticed():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=_stream_and_hang_up, args=(listener,), daemon=True).start()
        made = kept(Client(f"http://127.0.0.1:{listener.getsockname()[1]}/v1", "x", key=""))
        assert probe.hangs_up(made)
    assert not probe.hangs_up(client(Lie.NONE))


def _stream_and_hang_up(listener: socket.socket) -> None:
    connection, _ = listener.accept()
    with connection:
        connection.recv(65536)
        head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        connection.sendall(head + b"0\r\n\r\n")


# The key -----------------------------------------------------------------------------------------


def test_a_key_is_sent_and_never_shown(monkeypatch):
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    made = kept(Client(faulty.url(LineFault.ECHOES_KEY), "toy"))
    for stream in (False, True):
        reply = made.chat(HI, stream=stream, max_tokens=4)
        assert reply.text == "Incorrect key provided: Bearer [key]"
        assert KEY not in repr(reply)
    assert KEY not in repr(made)
    refused = kept(Client(faulty.url(LineFault.UNAUTHORIZED), "toy"))
    line = trouble(lambda: refused.chat(HI))
    assert "[key]" in line
    assert KEY not in line


def test_servers_of_ours_get_no_key(monkeypatch):
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    serving.engine.cache_clear()
    assert serving.engine(Lie.NONE).client.key == ""


@pytest.mark.parametrize(
    "url",
    [f"http://me:{KEY}@127.0.0.1/v1", f"http://127.0.0.1/v1?key={KEY}", f"ftp://{KEY}/", KEY],
)
def test_an_address_that_is_more_than_one_is_refused_without_being_repeated(url):
    with pytest.raises(ServerTrouble) as caught:
        checked_url(url)
    assert KEY not in str(caught.value)


@pytest.mark.parametrize("flaw", [LineFault.ECHOES_KEY, LineFault.UNAUTHORIZED])
def test_a_whole_run_leaves_no_trace_of_the_key(flaw, tmp_path):
    address = ["--base-url", faulty.url(flaw), "--served-model", "toy"]
    args = ["-v", "-l", "--ledger", tmp_path / "run.jsonl", *address, CLAIM, *PLAIN]
    status, output = made_up.finished(args, folder=tmp_path, **{KEY_VARIABLE: KEY})
    written = {path.name: path.read_text() for path in tmp_path.rglob("*.*") if path.is_file()}
    assert KEY not in output
    assert not [name for name, text in written.items() if KEY in text]
    if flaw is LineFault.ECHOES_KEY:
        assert status == 0, output
        assert "[key]" in written["run.jsonl"]  # the server did repeat it
    else:
        assert KEY_VARIABLE in made_up.refused((status, output))


# Whole runs --------------------------------------------------------------------------------------


def test_an_address_is_refused_for_claims_that_need_no_server(tmp_path):
    mine = made_up.write_claim(tmp_path)
    args = made_up.arguments("--ledger", tmp_path / "run.jsonl", "--base-url", "http://x/v1", mine)
    assert "add -m server" in made_up.refused(made_up.finished(args, folder=tmp_path))


def test_a_server_that_is_not_there_is_one_line_and_no_traceback(tmp_path):
    address = ["--base-url", "http://127.0.0.1:9/v1"]
    args = ["--ledger", tmp_path / "run.jsonl", *address, CLAIM, *PLAIN]
    line = made_up.refused(made_up.finished(args, folder=tmp_path))
    assert "nothing answers there" in line


# Servers that are started ------------------------------------------------------------------------


def _is_alive(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False


def test_the_started_server_answers_and_is_gone_once_stopped():
    pytest.importorskip("xllamacpp", reason="the server in CI is xllamacpp's")
    server = LlamaCpp()
    try:
        assert server.base_url.startswith("http://127.0.0.1:")
        made = Client(server.base_url, "smollm2-135m", key="")
        assert made.chat(HI, max_tokens=1).tokens == 1
        made.close()
    finally:
        server.stop()
    assert not _is_alive(server.process.pid)


def test_the_started_server_does_not_outlive_whoever_started_it():
    pytest.importorskip("xllamacpp", reason="the server in CI is xllamacpp's")
    server = LlamaCpp()
    server.process.stdin.close()  # what the system does for one that is killed
    assert server.process.wait(10) == 0
    server.process.stdout.close()


@pytest.mark.slow
def test_of_a_thousand_requests_none_is_lost_and_none_doubled(monkeypatch):
    pytest.importorskip("xllamacpp", reason="the server in CI is xllamacpp's")
    monkeypatch.delenv(KEY_VARIABLE, raising=False)
    server = LlamaCpp()
    try:
        engine = connect(server.base_url, "")
        kept(engine.client)
        sent, written = engine.client.sent, _tokens_written(engine.client)
        found = load.errands(engine, 1000, at_once=16)
        # The server's own count of written tokens: a request it worked on twice would show there.
        written = _tokens_written(engine.client) - written
    finally:
        server.stop()
    assert load.own_and_once(found) == [1.0] * 1000
    assert engine.client.sent - sent == 1000
    assert written == sum(errand.tokens for errand in found)


def _tokens_written(made: Client) -> float:
    _, text = made.get(f"{made.root}/metrics")
    return float(re.search(r"^llamacpp:tokens_predicted_total (\S+)", text, re.MULTILINE)[1])


def test_the_clients_overhead_is_measured_on_a_server_that_does_nothing():
    assert 0.05 < noop.client_overhead_ms(20) < 50


@pytest.mark.timed
def test_the_client_adds_a_millisecond_at_most():
    assert noop.client_overhead_ms() <= 1.0


# Beginnings of JSON ------------------------------------------------------------------------------

WHOLE = '{"a": [1, -2.5e+3, "x\\u00e9\\n", true, false, null, {}, []], "b": {"c": 0}}'


@pytest.mark.parametrize("text", [WHOLE, WHOLE.replace(" ", ""), " [\n1 ,\t2 ]\n"])
def test_every_beginning_of_json_is_one(text):
    assert all(json_prefix.is_prefix(text[:n]) for n in range(len(text) + 1))


@pytest.mark.parametrize(
    "text",
    [
        "Sure! {",
        "```json\n{",
        '{"a": 1} and',
        '{"a" 1',
        "{a",
        '{"a": tru1',
        "[1 2",
        "[01",
        "[,",
        '{"a": "\n',
    ],
)
def test_what_no_json_begins_with_is_none(text):
    assert not json_prefix.is_prefix(text)
