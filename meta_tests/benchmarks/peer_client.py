"""Our waits beside those of an independent client, guidellm, at one llama.cpp server.

    python -m meta_tests.benchmarks.peer_client PATH/TO/guidellm [--rounds 7]

guidellm lives in an environment of its own and is run as a command. Both clients ask prompts of
one shape that no cache has seen, one request at a time, in turn: a few of one, then a few of the
other, the order flipped each round. Never both at once: beside an idle machine two that ask
without a pause fall into step, and one's prefill is then always in the other's decode (seen: half
the first-token wait and twice the step for one of them, all along). A round gives one ratio of
medians, ours over theirs. The exact interval of the median ratio decides; milliseconds are shown
for reading and judged by nothing.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from claims._kit import stats
from fixtures.servers import tasks
from fixtures.servers.client import Client
from fixtures.servers.llama_cpp import LlamaCpp
from fixtures.servers.started import embedded_folder

REQUESTS = 4  # of guidellm's in a round
TOKENS = 24
# Two clocks of one thing: a tenth is what a page of milliseconds is read to. An interval wider
# than a quarter of the ratio on either side shows a machine too busy for that.
AGREE, WIDE = 0.1, 0.25
SAME, DIFFERENT, UNDECIDED = 0, 1, 21


@dataclass(frozen=True)
class Seen:
    """One request: its two waits."""

    first_ms: float
    step_ms: float


def prompt(number: int) -> str:
    """A text of some 120 tokens whose first words are new each time."""
    chat = tasks.stamped(tasks.nonce(), "", 1, start=number)
    return f"{chat[0]['content']}\nTell a long story about this service."


def ours(client: Client) -> list[Seen]:
    """Our client, asking as the lane asks, less a first request."""
    how: dict[str, Any] = {"max_tokens": TOKENS, "temperature": 0, "stream": True}
    how |= {"stream_options": {"include_usage": True}, "ignore_eos": True}
    replies = [client.chat(tasks.user(prompt(n)), **how) for n in range(REQUESTS + 1)]
    return [Seen(1e3 * reply.waits.first, 1e3 * reply.step_s) for reply in replies[1:]]


def theirs(program: str, root: str, model: str, tokenizer: str) -> list[Seen]:
    """guidellm's own report of each of its requests, less the one that opens its connection."""
    with tempfile.TemporaryDirectory() as folder:
        data, told, plan = (Path(folder, name) for name in ("in.jsonl", "out.json", "plan.json"))
        rows = [
            {"prompt": text, "output_tokens_count": TOKENS}
            for text in map(prompt, range(REQUESTS + 1))
        ]
        data.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        spec = {
            "backend": {
                "kind": "openai_http",
                "target": root,
                "model": model,
                "request_format": "/v1/chat/completions",
                "extras": {"body": {"temperature": 0}},
            },
            "profile": {"kind": "synchronous"},
            "tokenizer": {"kind": "hf_auto", "model": tokenizer},
            "data": [{"kind": "json_file", "path": str(data)}],
            "constraints": [{"kind": "max_requests", "count": len(rows)}],
            "outputs": [{"kind": "json", "path": str(told)}],
        }
        plan.write_text(json.dumps({"spec": spec}), encoding="utf-8")
        command = [program, "run", "--config", str(plan), "--disable-console"]
        subprocess.run(command, check=True, cwd=folder, capture_output=True, text=True)
        report = json.loads(told.read_text(encoding="utf-8"))
    done = report["benchmarks"][0]["requests"]["successful"]
    if len(done) != len(rows):
        raise SystemExit(f"guidellm finished {len(done)} of {len(rows)} requests")
    in_time = sorted(done, key=lambda request: request["request_start_time"])
    return [Seen(r["time_to_first_token_ms"], r["inter_token_latency_ms"]) for r in in_time[1:]]


def measured(program: str, count: int) -> list[tuple[list[Seen], list[Seen]]]:
    """Ours and theirs by round, at one server."""
    model, folder = embedded_folder()
    server = LlamaCpp()
    client = Client(server.base_url, model, key="")
    root = server.base_url.removesuffix("/v1")
    found = []
    try:
        for number in range(count):
            early = ours(client) if number % 2 else []
            peer = theirs(program, root, model, folder)
            found.append((early or ours(client), peer))
        return found
    finally:
        client.close()
        server.stop()


def told(name: str, pairs: list[tuple[float, float]]) -> tuple[str, int]:
    """One line on a wait, and whether the two clients agree about it, as an exit status."""
    ratios = stats.median([mine / peer for mine, peer in pairs])
    mine, peer = (statistics.median(side) for side in zip(*pairs, strict=True))
    status = SAME if abs(ratios.estimate - 1) <= AGREE else DIFFERENT
    if ratios.low < ratios.estimate * (1 - WIDE) or ratios.high > ratios.estimate * (1 + WIDE):
        status = UNDECIDED
    word = {SAME: "agree", DIFFERENT: "differ", UNDECIDED: "too noisy to tell"}[status]
    line = (
        f"{name}: ours {mine:.1f} ms, theirs {peer:.1f} ms; ours over theirs "
        f"{ratios.estimate:.3f} [{ratios.low:.3f}, {ratios.high:.3f}], n = {len(pairs)}: {word}"
    )
    return line, status


def medians(
    found: list[tuple[list[Seen], list[Seen]]], wait: Callable[[Seen], float]
) -> list[tuple[float, float]]:
    """The median wait of ours and of theirs, by round."""
    return [
        (statistics.median(map(wait, mine)), statistics.median(map(wait, peer)))
        for mine, peer in found
    ]


def main() -> int:
    """Print both waits; 0 when the clients agree, 1 when they differ, 21 when noise hides it."""
    parser = argparse.ArgumentParser(prog="python -m meta_tests.benchmarks.peer_client")
    parser.add_argument("guidellm", help="the command, in its own environment")
    parser.add_argument("--rounds", type=int, default=7, help="six at the least (default 7)")
    given = parser.parse_args()
    found = measured(given.guidellm, given.rounds)
    first, first_status = told("first token", medians(found, lambda seen: seen.first_ms))
    step, step_status = told("further token", medians(found, lambda seen: seen.step_ms))
    print(f"{first}\n{step}")
    return (
        DIFFERENT if DIFFERENT in (first_status, step_status) else max(first_status, step_status)
    )


if __name__ == "__main__":
    raise SystemExit(main())
