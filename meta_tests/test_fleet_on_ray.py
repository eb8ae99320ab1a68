"""A fleet on a real cluster of this machine: nodes that are killed, a driver that is stopped."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from claims._kit import ledger
from meta_tests import made_up
from meta_tests.pages import Parsed
from reports import fleet, matrix

pytest.importorskip("ray", reason="a fleet runs on Ray, which is not installed: tox -e fleet")
pytestmark = pytest.mark.slow

WAIT_S = 240
CLAIMS = ("made/a", "made/b", "made/c", "made/d")


@pytest.fixture(scope="module")
def head() -> Iterator[Any]:
    """A cluster without a node that could run anything."""
    patch = pytest.MonkeyPatch()
    patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    patch.setenv("RAY_worker_niceness", "0")
    from ray.cluster_utils import Cluster

    about = {"num_cpus": 0, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=about)
    yield cluster
    cluster.shutdown()
    patch.undo()


@pytest.fixture
def nodes(head: Any, tmp_path: Path) -> Iterator[Callable[[int], str]]:
    """Adds nodes that only this test's entries ask for; gives the name of their resource."""
    mine = f"nodes_of_{tmp_path.name}"
    added: list[Any] = []

    def add(count: int) -> str:
        for _ in range(count):
            have = {"machine": 1, mine: 100}
            added.append(head.add_node(num_cpus=1, resources=have, wait=False))
        head.wait_for_nodes()
        return mine

    yield add
    for node in added:
        if node in head.worker_nodes:
            head.remove_node(node)


def plan(folder: Path, common: str, *entries: dict[str, Any]) -> Path:
    """A plan of these entries, each with the lines of ``common``."""
    text = "".join(
        "[[entry]]\n" + common + "".join(f"{k} = {json.dumps(v)}\n" for k, v in entry.items())
        for entry in entries
    )
    path = folder / "plan.toml"
    path.write_text(text, encoding="utf-8")
    return path


def claims(folder: Path, *, gate: str = "") -> dict[str, Any]:
    """An entry of four made-up claims; the one named ``gate`` waits for the file ``go``.

    Of the gate ``setup`` pytest does not get beyond collecting.
    """
    folder.mkdir()
    wait = "import time\n    while not (Path(__file__).parent / 'go').exists(): time.sleep(0.05)"
    for letter in "abcd":
        at = f"{letter}-{'control' if letter == 'd' else 'claim'}"
        only = "if subject > 1:\n        " if letter == "d" else ""
        body = only + wait.replace("\n    ", "\n        " if only else "\n    ")
        made_up.write_claim(folder, letter, body=body if at == gate else "pass")
    if gate == "setup":
        code = f"from pathlib import Path\nPath(__file__).with_name('in-setup').touch()\n{wait}"
        (folder / "test_setup.py").write_text(code.replace("\n    ", "\n"), encoding="utf-8")
    arguments = made_up.arguments("-q", folder)
    return {"name": folder.name, "arguments": arguments}


def on(out: Path, name: str) -> str:
    """The first eight digits of the node that an entry was sent to; empty before it was."""
    record = out / "fleet.jsonl"
    rows = record.read_text().splitlines() if record.exists() else []
    found = [json.loads(row) for row in rows]
    sent = [row["about"] for row in found if row["entry"] == name and row["what"] == "on"]
    return sent[0].partition("/")[2][:8] if sent else ""


def finished(out: Path, name: str) -> set[str]:
    """Claims of an entry that are on the driver's disk."""
    path = out / f"{name}.jsonl"
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    rows = [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]
    return {row["claim"] for row in rows if row["kind"] == "claim"}


def wait_until(true: Callable[[], Any], what: str) -> None:
    end = time.monotonic() + WAIT_S
    while not true():
        assert time.monotonic() < end, f"never: {what}"
        time.sleep(0.05)


def confirmed(out: Path, name: str) -> dict[str, Any]:
    """The header of a finished ledger with all claims confirmed, each row there once."""
    kept = ledger.read(out / f"{name}.jsonl")
    assert kept.footer is not None
    verdicts = {r["claim"]: r["verdict"] for r in kept.rows if r["kind"] == "claim"}
    assert verdicts == dict.fromkeys(CLAIMS, "CONFIRMED")
    keys = [(r["kind"], r["claim"], r.get("role"), r.get("case")) for r in kept.rows]
    assert len(keys) == len(set(keys))
    return dict(kept.header)


MOMENTS = {
    "before it starts": ("setup", lambda out, _: on(out, "a")),
    "during set-up": ("setup", lambda _, folder: (folder / "in-setup").exists()),
    "mid-run": ("c-claim", lambda out, _: len(finished(out, "a")) == 2),
    "near the end": ("d-control", lambda out, _: len(finished(out, "a")) == 3),
    "after finishing": ("", lambda out, _: told(out, "a", "finished")),
}


def told(out: Path, name: str, what: str) -> bool:
    """Whether the fleet's record says this of an entry."""
    record = out / "fleet.jsonl"
    rows = record.read_text().splitlines() if record.exists() else []
    return any((r["entry"], r["what"]) == (name, what) for r in map(json.loads, rows))


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_node_killed_at_any_moment_costs_no_finished_claim(moment, head, nodes, tmp_path):
    """The node is gone for real: its processes are killed, and pytest with them."""
    gate, reached = MOMENTS[moment]
    count = 3 if moment == "mid-run" else 2
    common = f'resources = {{ {nodes(count)} = 1 }}\nlane = "cpu"\n'
    folder, out = tmp_path / "a", tmp_path / "out"
    # The other entry waits where nothing else would still run as the node dies.
    other = claims(tmp_path / "b", gate="" if gate else "c-claim")
    path = plan(tmp_path, common, claims(folder, gate=gate), other)
    before: set[str] = set()

    def kill() -> None:
        wait_until(lambda: reached(out, folder), moment)
        before.update(finished(out, "a"))
        (node,) = (n for n in head.worker_nodes if n.node_id.startswith(on(out, "a")))
        head.remove_node(node, allow_graceful=False)
        if gate:  # opened earlier, it would let the dying run come to its end
            wait_until(lambda: told(out, "a", "broke off"), "the end of the killed run")
        for waiting in (folder, tmp_path / "b"):
            (waiting / "go").touch()

    killer = threading.Thread(target=kill)
    killer.start()
    status = fleet.main([str(path), "--address", head.address, "--out", str(out)])
    killer.join()
    assert status == 0
    for name in "ab":
        header = confirmed(out, name)
        died = header["fleet"].get("attempts", [])
        assert len(died) == (1 if name == "a" and gate else 0)
        if died:
            assert "dead" in died[0]["ended"]
            assert set(died[0].get("claims", ())) == before
            assert on(out, "a") not in header["fleet"]["node"]
    measured = made_up.calls(folder)
    for claim in before:
        assert sum(line.startswith(claim[-1]) for line in measured) == 2  # it and its control
    page = (out / "matrix.html").read_text(encoding="utf-8")
    assert "2 targets side by side" in " ".join(Parsed(page).texts)
    assert 'class="soft">missing' not in page
    assert "UNFINISHED" not in page


def table_of(page: str) -> str:
    """The part of a page that has every claim of every run."""
    return page.partition("<h2>Every claim in every run</h2>")[2].partition('aria-label="Runs"')[0]


def test_three_entries_on_two_nodes_find_what_three_single_runs_find(head, nodes, tmp_path):
    """The quick cpu lane of the embedded model and of random shapes, some families of it."""
    some = ["-q", "-p", "no:cacheprovider", "claims/roofline", "claims/prefix", "claims/memory"]
    targets = {"embedded": {}, "tiny": {"model": "random:tiny"}, "again": {}}
    common = f'resources = {{ {nodes(2)} = 1 }}\nlane = "cpu and quick"\n'
    entries = [{"name": n, "arguments": some, **about} for n, about in targets.items()]
    path, out = plan(tmp_path, common, *entries), tmp_path / "out"
    status = fleet.main([str(path), "--address", head.address, "--out", str(out)])
    single, statuses = {}, []
    for name, about in targets.items():
        single[name] = tmp_path / f"{name}.jsonl"
        words = [
            "-m",
            "cpu and quick",
            *some,
            *(w for k, v in about.items() for w in (f"--{k}", v)),
        ]
        command = [sys.executable, "-m", "pytest", *words, "--ledger", str(single[name])]
        done = subprocess.run(command, cwd=made_up.ROOT, capture_output=True, check=False)
        statuses.append(done.returncode)
    assert status == max(statuses)
    matrix.write(single, [], tmp_path / "single.html")
    alone, merged = ((tmp_path / n).read_text() for n in ("single.html", "out/matrix.html"))
    assert table_of(alone).count("<td>") > 30
    assert table_of(merged) == table_of(alone)
    assert "disagree" not in merged
    overlapping(out)


def overlapping(out: Path) -> None:
    """Fails when a machine had two entries at a time."""
    running: dict[str, str] = {}
    for row in map(json.loads, (out / "fleet.jsonl").read_text().splitlines()):
        if row["what"] == "on":
            node = row["about"].partition(",")[0]
            assert node not in running.values(), row
            running[row["entry"]] = node
        else:
            running.pop(row["entry"], None)


def test_a_resource_that_nobody_has_is_one_line_and_nothing_runs(head, nodes, tmp_path, capsys):
    common = f"resources = {{ {nodes(1)} = 1 }}\n"
    gpu = {**claims(tmp_path / "b"), "gpus": 1, "gpu_kind": "H200"}
    path, out = plan(tmp_path, common, claims(tmp_path / "a"), gpu), tmp_path / "out"
    assert fleet.main([str(path), "--address", head.address, "--out", str(out)]) == 4
    told = capsys.readouterr().err.splitlines()
    assert told == ["onecall: entry b: no node has GPU 1 (the most is 0)"]
    assert made_up.calls(tmp_path / "a") == []


def test_a_cluster_that_is_not_there_is_one_line(tmp_path, capsys):
    path = plan(tmp_path, "", claims(tmp_path / "a"))
    for address in ("ray://127.0.0.1:1", "127.0.0.1:1"):
        out = tmp_path / "out"
        assert fleet.main([str(path), "--address", address, "--out", str(out), "--resume"]) == 4
        assert capsys.readouterr().err.count("onecall: ") == 1


def pytests(folder: Path) -> list[int]:
    """Processes whose command line names the folder."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = file.read_bytes()
        except OSError:
            continue
        if str(folder).encode() in words and b"pytest" in words and b"--ledger" in words:
            found.append(int(file.parent.name))
    return found


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGKILL])
def test_a_stopped_fleet_leaves_no_process_and_is_gone_on_with(sent, tmp_path):
    """Ctrl-C, and a driver that dies: what is finished is on the disk, the rest is run later."""
    # The third waits for the whole machine, so that it is stopped before it begins.
    whole = {**claims(tmp_path / "c"), "cpus": os.cpu_count()}
    entries = [claims(tmp_path / "a"), claims(tmp_path / "b", gate="c-claim"), whole]
    path, out = plan(tmp_path, 'alone = false\nlane = "cpu"\n', *entries), tmp_path / "out"
    command = [sys.executable, "-m", "reports.fleet", str(path), "--out", str(out)]
    env = {**os.environ, "OMP_NUM_THREADS": "1"}
    about: dict[str, Any] = {"cwd": made_up.ROOT, "env": env, "text": True}
    about |= {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    # What a shell starts in the background ignores Ctrl-C and hands that down; not to this one.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    first = subprocess.Popen(command, start_new_session=True, **about)
    signal.signal(signal.SIGINT, before)
    wait_until(
        lambda: told(out, "a", "finished") and len(finished(out, "b")) == 2, "two claims of b"
    )
    kept = (out / "a.jsonl").read_bytes()
    first.send_signal(sent)
    output, _ = first.communicate(timeout=WAIT_S)
    if sent == signal.SIGINT:
        assert first.returncode == 2, output
        assert "b: cancelled, 2 claims" in output
        assert "Traceback" not in output
    wait_until(lambda: not pytests(tmp_path), "the end of every pytest")
    (tmp_path / "b" / "go").touch()
    again = subprocess.run([*command, "--resume"], check=False, timeout=WAIT_S, **about)
    assert again.returncode == 0, again.stdout
    assert "a: kept, 4 claims" in again.stdout
    assert (out / "a.jsonl").read_bytes() == kept
    assert set(confirmed(out, "b")["fleet"]["attempts"][0]["claims"]) == {"made/a", "made/b"}
    assert sum(line.startswith("a") for line in made_up.calls(tmp_path / "b")) == 2
    confirmed(out, "c")
