"""A fleet's plan, its ledgers and its table: everything about it that needs no cluster."""

from __future__ import annotations

import asyncio
import copy
import json
import random
import time
import venv
from pathlib import Path

import jsonschema
import pytest

from claims._kit import ledger
from fixtures import target_list
from meta_tests import fleets, made_up
from meta_tests.fleets import CLAIMS, Nodes, entry, ledger_of, plan, run
from meta_tests.pages import DATA, Parsed
from meta_tests.pages import made_up as rows_made_up
from reports import (
    compare,
    compare_html,
    fleet,
    fleet_light,
    fleet_node,
    fleet_table,
    page,
    read,
    shapes,
    summary,
)
from reports.fleet_kept import taken_up
from reports.fleet_plan import PlanError, lacking
from reports.fleet_run import Account, Fleet
from reports.model import view

SAMPLES = sorted((made_up.ROOT / "reports" / "samples").glob("*.jsonl"))

# The plan ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", "wants at least one [[entry]]"),
        ("entry = 1", "wants at least one [[entry]]"),
        ("a = [", "no TOML"),
        ('colour = "red"\n[[entry]]\nname = "a"', "unknown key 'colour'; known: arguments,"),
        ('[[entry]]\nname = "a"\ncolour = "red"', "entry 1: unknown key 'colour'; known: alone,"),
        ('[[entry]]\nlane = "cpu"', "entry 1: wants a name of letters"),
        ('[[entry]]\nname = "../a"', "entry 1: wants a name of letters"),
        ('[[entry]]\nname = "a"\n[[entry]]\nname = "A"', "entry 2 has a name that stands above"),
        ('[[entry]]\nname = "a"\ngpus = 0.5', "gpus is a whole number"),
        ('[[entry]]\nname = "a"\ngpus = true', "gpus is a number"),
        ('[[entry]]\nname = "a"\ncpus = -1', "cpus is a number from 0 on"),
        ('[[entry]]\nname = "a"\ncpus = nan', "cpus is a number from 0 on"),
        ('[[entry]]\nname = "a"\nalone = "no"', "alone is true or false"),
        ('[[entry]]\nname = "a"\nresources = 3', "resources is a table"),
        ('[[entry]]\nname = "a"\nlane = 3', "lane is a text in quotes"),
        ('[[entry]]\nname = "a"\ngpu_kind = "H200"', "gpu_kind goes with gpus"),
        ('[[entry]]\nname = "a"\narguments = "x"', "arguments is a list of texts"),
        ('[[entry]]\nname = "a"\narguments = ["--ledger=x"]', "leave out --ledger"),
        ('[[entry]]\nname = "a"\ntarget = "x"\nmodel = "y"', "give one of base_url"),
        ('[[entry]]\nname = "a"\nkey_env = "K"', "go with base_url"),
    ],
)
def test_what_a_plan_has_wrong_is_one_line(tmp_path, text, line):
    with pytest.raises(PlanError) as caught:
        plan(tmp_path, text)
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_plan_that_is_not_there_or_no_text_is_one_line(tmp_path, capsys):
    assert fleet.main([str(tmp_path / "none.toml")]) == 4
    (tmp_path / "x.toml").write_bytes(b"\xff")
    assert fleet.main([str(tmp_path / "x.toml")]) == 4
    lines = capsys.readouterr().err.splitlines()
    assert ["onecall:" in line for line in lines] == [True, True]


@pytest.mark.parametrize(
    "about",
    [
        {"base_url": "http://x/v1", "served_model": "m"},
        {"serve": "llama.cpp", "lane": "server and not timed"},
        {"model": "random:tiny"},
        {"target": "smollm2-135m", "lane": "gpu"},
    ],
)
def test_an_entry_becomes_the_options_that_a_targets_file_would_give_it(about):
    assert entry("x", **about).words == target_list.Entry(name="x", **about).arguments("")


def test_what_the_plan_says_for_all_is_said_for_each_and_an_entry_may_differ(tmp_path):
    text = """
        checkout = "/opt/onecall"
        python = ".venv/bin/python"
        arguments = ["-q"]
        [[entry]]
        name = "one"
        gpus = 1
        gpu_kind = "H200"
        memory_gib = 2
        [[entry]]
        name = "two"
        checkout = "/elsewhere"
        arguments = ["claims/roofline"]
        alone = false
        resources = { disk = 2 }
    """
    one, two = plan(tmp_path, text)
    assert (one.checkout, one.python, one.words) == (
        "/opt/onecall",
        ".venv/bin/python",
        ["-m", "cpu", "-q"],
    )
    assert one.needs == {
        "CPU": 1,
        "GPU": 1,
        "memory": 2 * 1024**3,
        "accelerator_type:H200": 0.001,
        "machine": 0.01,
    }
    assert (two.checkout, two.words) == ("/elsewhere", ["-m", "cpu", "claims/roofline"])
    assert two.needs == {"CPU": 1, "machine": 0.01, "disk": 2}
    assert entry("three").needs == {"CPU": 1, "machine": 1}


def test_a_resource_that_nobody_has_is_named_and_so_is_one_that_no_single_node_has():
    cpu, gpu = {"CPU": 8.0, "machine": 1.0}, {"CPU": 1.0, "GPU": 1.0, "machine": 1.0}
    assert lacking(entry("a", cpus=4), [cpu, gpu]) == ""
    assert lacking(entry("a", gpus=1), [cpu, gpu]) == ""
    assert lacking(entry("a", gpus=2), [cpu, gpu]) == "no node has GPU 2 (the most is 1)"
    assert "accelerator_type:H200" in lacking(entry("a", gpus=1, gpu_kind="H200"), [cpu, gpu])
    both = lacking(entry("a", gpus=1, cpus=4), [cpu, gpu])
    assert both.startswith("no single node has CPU 4, GPU 1")
    assert "--resources" in lacking(entry("a"), [{"CPU": 1.0}])
    assert "no node has" in lacking(entry("a"), [])


# Ledgers as they arrive ----------------------------------------------------------------------


def kept(folder: Path, name: str = "a") -> ledger.Ledger:
    """The ledger of an entry, checked against the schema by the kit's own reader."""
    return ledger.read(folder / f"{name}.jsonl")


def verdicts(folder: Path, name: str = "a") -> dict[str, str]:
    return {r["claim"]: r["verdict"] for r in kept(folder, name).rows if r["kind"] == "claim"}


def test_a_ledger_that_arrives_is_the_one_that_was_written_but_for_the_node(tmp_path):
    lines = ledger_of(tmp_path)
    accounts, said = run(tmp_path / "out", Nodes(lines, ["n1"]), entry("a"))
    arrived = (tmp_path / "out" / "a.jsonl").read_text().splitlines()
    assert arrived[1:] == lines[1:]
    header = json.loads(arrived[0])
    assert header.pop("fleet") == {"node": "host/n1"}
    assert header == json.loads(lines[0])
    assert (accounts[0].state, accounts[0].status, accounts[0].claims) == ("finished", 0, 5)
    assert "a: 5 claims, made/claim-e CONFIRMED" in said


def test_the_commands_that_read_ledgers_read_one_of_a_fleet(tmp_path, capsys):
    lines, out = ledger_of(tmp_path), tmp_path / "out"
    run(out, Nodes(lines, ["n1", "n2"], dies={"n1": 3}), entry("a"))
    (tmp_path / "alone.jsonl").write_text("".join(f"{line}\n" for line in lines))
    assert compare.main([str(tmp_path / "alone.jsonl"), str(out / "a.jsonl"), "--strict"]) == 0
    assert "5 claims in both; no change" in capsys.readouterr().out
    assert summary.main([str(out / "a.jsonl")]) == 0
    assert "Traceback" not in page.body(read.rows(out / "a.jsonl"))


@pytest.mark.parametrize("claims", [0, 1, 2, 4, 5])
def test_a_node_that_dies_costs_no_finished_claim_and_half_a_claim_is_not_counted(
    tmp_path, claims
):
    """At each moment: nothing finished yet, some, all but the footer."""
    lines, out = ledger_of(tmp_path), tmp_path / "out"
    nodes = Nodes(lines, ["n1", "n2"], dies={"n1": claims})
    accounts, said = run(out, nodes, entry("a"))
    assert accounts[0].state == "finished"
    assert verdicts(out) == dict.fromkeys(CLAIMS, "CONFIRMED")
    told = kept(out).header["fleet"]
    assert told["node"] == "host/n2"
    assert told["attempts"][0]["ended"] == "host/n1: the node is dead"
    assert told["attempts"][0].get("claims", []) == list(CLAIMS[:claims])
    assert "tried once more elsewhere" in "\n".join(said)
    # What the second node was given is finished claims and the header as a run wrote it.
    given = [json.loads(line) for line in nodes.orders[1][1].finished]
    assert {row["claim"] for row in given[1:]} == set(CLAIMS[:claims])
    assert not given or given[0] == json.loads(lines[0])
    # Each claim is of one node, and no row is there twice.
    keys = [(r["kind"], r["claim"], r.get("role"), r.get("case")) for r in kept(out).rows]
    assert len(keys) == len(set(keys)) == len(lines) - 2


def test_a_node_of_another_kind_begins_anew_and_nothing_is_mixed(tmp_path):
    lines, out = ledger_of(tmp_path), tmp_path / "out"
    nodes = Nodes(lines, ["n1", "n2"], dies={"n1": 3}, other_kind=frozenset({"n2"}))
    accounts, said = run(out, nodes, entry("a"))
    assert (accounts[0].state, len(verdicts(out))) == ("finished", 5)
    assert kept(out).header["fleet"]["attempts"] == [
        {"node": "host/n1", "ended": "host/n1: the node is dead"}
    ]
    assert any("anew" in line for line in said)


def test_of_two_attempts_that_broke_off_the_one_with_more_claims_is_shown(tmp_path):
    lines, out = ledger_of(tmp_path), tmp_path / "out"
    nodes = Nodes(lines, ["n1", "n2"], dies={"n1": 4, "n2": 1}, other_kind=frozenset({"n2"}))
    accounts, _ = run(out, nodes, entry("a"))
    assert (accounts[0].state, accounts[0].claims) == ("failed", 4)
    assert set(verdicts(out)) == set(CLAIMS[:4])
    assert kept(out).header["fleet"]["node"] == "host/n1"
    assert fleet.worst(accounts) == 3
    assert "the attempt with most finished claims" in accounts[0].why


def test_it_is_tried_on_two_nodes_and_on_no_third(tmp_path):
    nodes = Nodes(ledger_of(tmp_path), ["n1", "n2", "n3"], dies={"n1": 1, "n2": 2})
    accounts, _ = run(tmp_path / "out", nodes, entry("a"))
    assert [node for node, _ in nodes.orders] == ["n1", "n2"]
    assert accounts[0].state == "failed"
    assert set(verdicts(tmp_path / "out")) == set(CLAIMS[:3])


def test_without_another_node_it_says_what_died_and_that_none_is_left(tmp_path):
    nodes = Nodes(ledger_of(tmp_path), ["n1"], dies={"n1": 1})
    accounts, _ = run(tmp_path / "out", nodes, entry("a"))
    assert accounts[0].why.startswith("host/n1: the node is dead; no node has machine 1")
    assert set(verdicts(tmp_path / "out")) == {CLAIMS[0]}


def test_a_node_that_lacks_the_environment_is_told_and_another_one_runs_the_entry(tmp_path):
    lacks = {"n1": "No module named 'torch'"}
    nodes = Nodes(ledger_of(tmp_path), ["n1", "n2"], lacks=lacks)
    accounts, said = run(tmp_path / "out", nodes, entry("a"))
    assert (accounts[0].state, accounts[0].nodes) == ("finished", ["host/n1", "host/n2"])
    assert any("host/n1 lacks something: No module named 'torch'" in line for line in said)


def test_resume_runs_what_is_missing_and_leaves_alone_what_is_finished(tmp_path):
    lines, out = ledger_of(tmp_path), tmp_path / "out"
    run(out, Nodes(lines, ["n1"]), entry("a"))
    run(out, Nodes(lines, ["n1"], dies={"n1": 2}), entry("b"))
    finished = (out / "a.jsonl").read_bytes()
    nodes = Nodes(lines, ["n2"])
    accounts, _ = run(out, nodes, entry("a"), entry("b"), entry("c"))
    assert [account.state for account in accounts] == ["kept", "finished", "finished"]
    assert accounts[0].status == 0
    assert (out / "a.jsonl").read_bytes() == finished
    given = {order.name: order.finished for _, order in nodes.orders}
    assert set(given) == {"b", "c"}
    assert {json.loads(line).get("claim") for line in given["b"][1:]} == set(CLAIMS[:2])
    assert len(verdicts(out, "b")) == 5


def test_a_driver_that_died_within_a_line_is_gone_on_with(tmp_path):
    lines, out = ledger_of(tmp_path), tmp_path / "out"
    out.mkdir()
    whole = [line for part in fleets.by_claim(lines)[:2] for line in part]
    text = "".join(f"{line}\n" for line in whole) + lines[len(whole)][:20]
    (out / "a.jsonl").write_text(text, encoding="utf-8")
    accounts, _ = run(out, Nodes(lines, ["n1"]), entry("a"))
    assert accounts[0].state == "finished"
    assert len(verdicts(out)) == 5


def test_a_cancelled_fleet_has_its_ledgers_and_can_be_gone_on_with(tmp_path):
    lines, out = ledger_of(tmp_path), tmp_path / "out"
    out.mkdir()
    nodes, said = Nodes(lines, ["n1"], tick_s=0.05), []

    async def stopped() -> list[Account]:
        fleet_of = Fleet(folder=out, launch=nodes.launch, say=said.append)
        running = asyncio.ensure_future(fleet_of.run([entry("a"), entry("b")]))
        while not any("2 claims" in line for line in said):  # noqa: ASYNC110 (lines are no event)
            await asyncio.sleep(0.005)
        running.cancel()
        return await running

    accounts = asyncio.run(stopped())
    assert [account.state for account in accounts] == ["cancelled", "cancelled"]
    assert nodes.busy == set()
    assert fleet.worst(accounts) == 2
    again, _ = run(out, Nodes(lines, ["n1"]), entry("a"), entry("b"))
    assert [account.state for account in again] == ["finished", "finished"]
    assert kept(out).header["fleet"]["attempts"][0]["ended"] == "the fleet was stopped"


def test_an_entry_that_breaks_the_driver_does_not_end_the_others(tmp_path):
    nodes = Nodes(ledger_of(tmp_path), ["n1", "n2"])
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "a.jsonl").mkdir()  # a file that cannot be written
    accounts, _ = run(tmp_path / "out", nodes, entry("a"), entry("b"))
    assert [account.state for account in accounts] == ["failed", "finished"]


def test_a_folder_with_files_is_not_written_into_and_a_changed_entry_is_not_gone_on_with(tmp_path):
    out = tmp_path / "out"
    fleet._folder(out, [entry("a")], resume=False)
    fleet._folder(out, [entry("a", lane="gpu")], resume=True)  # it has not begun
    (out / "a.jsonl").write_text("")
    with pytest.raises(PlanError, match="holds files"):
        fleet._folder(out, [entry("a")], resume=False)
    with pytest.raises(PlanError, match="entry a is not what it was"):
        fleet._folder(out, [entry("a")], resume=True)
    with pytest.raises(PlanError, match="no fleet wrote into"):
        fleet._folder(tmp_path / "none", [entry("a")], resume=True)


# What waits for what -------------------------------------------------------------------------


def test_entries_of_one_device_never_overlap_and_others_run_side_by_side(tmp_path):
    lines = ledger_of(tmp_path)
    nodes = Nodes(lines, ["n1", "n2", "n3", "n4"], tick_s=0.002)
    url = "http://user:secret@box:8000/v1"
    entries = [
        entry("a", device="card"),
        entry("b", device="card"),
        entry("c", base_url=url),
        entry("d", base_url="http://BOX:8000/other"),
        entry("e"),
    ]
    accounts, _ = run(tmp_path / "out", nodes, *entries)
    assert {account.state for account in accounts} == {"finished"}
    assert not any({"a", "b"} <= set(at_once) for at_once in nodes.overlap)
    assert not any({"c", "d"} <= set(at_once) for at_once in nodes.overlap)
    assert nodes.at_once == 3
    assert not any("secret" in device for each in entries for device in each.devices)


# On a node -----------------------------------------------------------------------------------


def order(folder: Path, *words: str, **about) -> fleet_node.Order:
    args = made_up.arguments(*words, folder)
    return fleet_node.Order(
        **{"name": "a", "words": tuple(args), "checkout": str(made_up.ROOT), "pause_s": 0.05}
        | about
    )


def test_a_node_runs_pytest_sends_its_ledger_and_leaves_nothing_behind(tmp_path, monkeypatch):
    tmp_path = tmp_path / "claims"
    tmp_path.mkdir()
    made_up.write_claim(tmp_path)
    there = tmp_path / "temporary"
    there.mkdir()
    monkeypatch.setattr(fleet_node.tempfile, "tempdir", str(there))
    events = list(fleet_node.work(order(tmp_path), "0123456789"))
    assert next(kind for kind, _ in events) == fleet_node.NODE
    rows = [json.loads(line) for k, lines in events if k == fleet_node.LINES for line in lines]
    assert [rows[0]["kind"], rows[-1]["kind"]] == ["header", "footer"]
    assert rows[0]["run"] == "a"
    kind, end = events[-1]
    assert (kind, end["status"], end["rows"], end["lacks"]) == ("ended", 0, len(rows), False)
    assert list(there.iterdir()) == []


def test_a_node_goes_on_with_finished_claims_and_refuses_what_another_machine_began(tmp_path):
    made_up.write_claim(tmp_path, "one")
    made_up.write_claim(tmp_path, "two")
    events = list(fleet_node.work(order(tmp_path), "n"))
    lines = [line for k, lines in events if k == fleet_node.LINES for line in lines]
    half = tuple(line for part in fleets.by_claim(lines)[:1] for line in part)
    assert len(made_up.calls(tmp_path)) == 4
    events = list(fleet_node.work(order(tmp_path, finished=half), "n"))
    assert not any(kind == fleet_node.ANEW for kind, _ in events)
    assert len(made_up.calls(tmp_path)) == 6  # the other claim and its control
    other = {**json.loads(half[0]), "seed": 1}
    begun = (json.dumps(other), *half[1:])
    events = list(fleet_node.work(order(tmp_path, finished=begun), "n"))
    assert any(kind == fleet_node.ANEW for kind, _ in events)
    assert len(made_up.calls(tmp_path)) == 10  # both of them, anew


@pytest.mark.parametrize(
    ("about", "said"),
    [
        ({"checkout": "/nowhere"}, "no checkout of the suite at /nowhere"),
        ({"python": "none/bin/python"}, "no interpreter at"),
        ({"key_env": "ONECALL_TEST_UNSET"}, "the environment has no ONECALL_TEST_UNSET"),
    ],
)
def test_what_a_node_lacks_is_said_before_anything_runs(tmp_path, about, said):
    (_, (_, end)) = list(fleet_node.work(order(tmp_path, **about), "n"))
    assert end["lacks"]
    assert said in end["said"]


def test_an_interpreter_without_pytest_is_what_the_node_lacks(tmp_path):
    venv.create(tmp_path / "bare", with_pip=False)
    bare = tmp_path / "bare" / "bin" / "python"
    *_, (_, end) = fleet_node.work(order(tmp_path, python=str(bare)), "n")
    assert (end["lacks"], end["rows"]) == (True, 0)
    assert "No module named" in end["said"]


def test_an_entry_gets_its_own_key_of_all_and_the_nodes_number_of_threads(tmp_path, monkeypatch):
    monkeypatch.setenv("MINE", "m")
    monkeypatch.setenv("YOURS", "y")
    monkeypatch.setenv("ONECALL_API_KEY", "of the node")
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.setattr(fleet_node, "_at_the_start", lambda: {"MINE"})
    inner = fleet_node._environment(order(tmp_path, key_env="MINE", keys=("MINE", "YOURS")))
    assert inner["ONECALL_API_KEY"] == "m"
    assert not {"MINE", "YOURS", "OMP_NUM_THREADS"} & set(inner)
    inner = fleet_node._environment(order(tmp_path, keys=("MINE", "YOURS")))
    assert "ONECALL_API_KEY" not in inner


def test_a_run_that_nobody_waits_for_any_more_ends(tmp_path, monkeypatch):
    made_up.write_claim(tmp_path)
    monkeypatch.setenv("ONECALL_HOLD_AT", "all")
    stream = fleet_node.work(order(tmp_path), "n")
    assert next(stream)[0] == fleet_node.NODE
    assert next(stream)[0] == fleet_node.LINES  # the header: pytest is running
    while not made_up.calls(tmp_path):
        time.sleep(0.02)
    began = time.monotonic()
    stream.close()
    assert time.monotonic() - began < 6


# Many ledgers --------------------------------------------------------------------------------


def broken(row: ledger.Row, draw: random.Random) -> ledger.Row:
    """The row with one change somewhere in it."""
    row = copy.deepcopy(row)
    place, name = row, draw.choice(sorted(row))
    while isinstance(place[name], dict) and place[name] and draw.random() < 0.7:
        place, name = place[name], draw.choice(sorted(place[name]))
    if isinstance(place[name], list) and place[name] and draw.random() < 0.7:
        place, name = place[name], draw.randrange(len(place[name]))
    new = draw.choice([None, True, 1, 1.0, -1, 0.5, "", "nan", "x" * 12, [], {}, [None], {"a": 1}])
    if draw.random() < 0.2 and isinstance(place, dict):
        del place[name]
    elif draw.random() < 0.2 and isinstance(place, dict):
        place["surplus"] = new
    else:
        place[name] = new
    return row


def test_the_fast_check_and_the_one_that_explains_agree_on_every_broken_row():
    about = {"node": "a", "attempts": [{"node": "b", "ended": "c", "claims": ["a/b"]}]}
    rows = [*rows_made_up(), {**rows_made_up()[0], "fleet": about}]
    draw, found = random.Random(0), {True: 0, False: 0}
    for number in range(4000):
        row = broken(rows[number % len(rows)], draw)
        kind = row.get("kind")
        if kind not in ("header", "footer", "claim", "samples", "verdict"):
            continue
        slow = read._by_kind()[kind].is_valid(row)
        assert fleet_light._checks()[kind](row) == slow, row
        found[slow] += 1
    assert min(found.values()) > 500


def test_a_keyword_that_the_fast_check_does_not_know_is_an_error():
    with pytest.raises(ValueError, match="maxLength"):
        shapes.compiled({"items": {"maxLength": 3}}, {})


@pytest.mark.parametrize("value", [True, 1, 1.0, "1", None, [], {}, float("nan")], ids=repr)
@pytest.mark.parametrize(
    "schema",
    [
        {"const": 1},
        {"enum": [True, "a"]},
        {"type": "integer", "minimum": 1},
        {"type": ["number", "null"]},
        {"minimum": 1},
        {"minLength": 1},
        {"oneOf": [{"type": "number"}, {"enum": ["1"]}]},
        {"oneOf": [{"type": "number"}, {"type": "integer"}]},
        {"items": {"type": "string"}, "required": ["a"]},
        {"additionalProperties": {"type": "string"}},
    ],
    ids=json.dumps,
)
def test_the_fast_check_means_what_json_schema_means(schema, value):
    assert shapes.compiled(schema, {})(value) == jsonschema.Draft202012Validator(schema).is_valid(
        value
    )


@pytest.mark.parametrize("path", [*sorted(DATA.glob("made_up*.jsonl")), *SAMPLES], ids=str)
def test_a_light_run_has_the_same_table_of_claims(path):
    whole, light = view(read.rows(path)), fleet_light.light(path, fleet_light.Shared())
    pages = {compare_html.side_by_side([run], ["a"]) for run in (whole, light)}
    assert len(pages) == 1


def test_equal_parts_are_one_object_and_true_is_not_one():
    shared = fleet_light.Shared()
    first, second = (shared(json.loads('{"a": [1.5, {"b": true}]}')) for _ in range(2))
    assert first is second
    assert shared([True]) is not shared([1])
    assert shared([1]) is not shared([1.0])


@pytest.mark.parametrize("text", ["", "{}\n", '{"kind": "footer"}\n', "x\n", "[1]\n"])
def test_a_ledger_that_is_none_is_told_and_the_rest_is_shown(tmp_path, text):
    (tmp_path / "bad.jsonl").write_text(text)
    good = tmp_path / "good.jsonl"
    good.write_text("".join(f"{line}\n" for line in ledger_of(tmp_path)), encoding="utf-8")
    accounts = [
        Account(entry("bad"), state="finished", status=0, ledger=tmp_path / "bad.jsonl"),
        Account(entry("good"), state="finished", status=0, ledger=good),
        Account(entry("gone"), state="failed", why="nobody has <b>it</b>"),
    ]
    told, runs, _ = fleet_table.write(tmp_path, accounts)
    assert list(runs) == ["good"]
    html = (tmp_path / "matrix.html").read_text(encoding="utf-8")
    shown = " ".join(Parsed(html).texts)
    for words in ("1 target side by side", "bad.jsonl", "nobody has"):
        assert words in shown
    assert "<b>it" not in html
    assert Parsed(html).faults == []
    assert "good" in told


# Disagreement and versions -------------------------------------------------------------------


def table(folder: Path, **ledgers: list[str]) -> tuple[str, str, list[str]]:
    """The text, the page's text and the disagreements of these ledgers."""
    folder.mkdir(exist_ok=True)
    accounts = []
    for name, lines in ledgers.items():
        path = folder / f"{name}.jsonl"
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        accounts.append(Account(entry(name), state="finished", status=0, ledger=path))
    told, _, found = fleet_table.write(folder, accounts)
    html = (folder / "matrix.html").read_text(encoding="utf-8")
    assert Parsed(html).faults == []
    return told, " ".join(Parsed(html).texts), [str(each) for each in found]


def test_two_nodes_of_one_kind_that_disagree_beyond_their_intervals_are_shown(tmp_path):
    near, far = ledger_of(tmp_path), ledger_of(tmp_path, value=0.75, verdicts=CLAIMS[:1])
    told, shown, found = table(tmp_path / "out", one=near, two=far, three=near)
    assert len(found) == 1
    assert found[0].startswith(f"{CLAIMS[0]} [")
    for words in ("0.5 seconds", "on one", "0.75 seconds", "on two"):
        assert words in found[0]
    assert f"nodes of one kind disagree: {CLAIMS[0]}" in told
    assert "Nodes of one kind disagree (1)" in shown
    assert "intervals share no value" in shown


def test_nodes_that_agree_or_are_of_another_kind_are_not_held_against_each_other(tmp_path):
    near = ledger_of(tmp_path)
    far = ledger_of(tmp_path, value=0.75, machine={"cpu": "another"})
    other = ledger_of(tmp_path, value=0.25, target={"name": "another"})
    assert table(tmp_path / "out", one=near, two=near, three=far, four=other)[2] == []


def test_opposite_verdicts_are_a_disagreement_too():
    def seen(name: str, verdict: str):
        rows = [copy.deepcopy(row) for row in rows_made_up()]
        for row in rows:
            if row["kind"] == "verdict" and row["claim"] == "sample/always-confirmed":
                row["verdict"] = verdict
        return {name: view(rows)}

    runs = seen("one", "CONFIRMED") | seen("two", "REFUTED") | seen("three", "CONFIRMED")
    found = fleet_table.disagreements(runs)
    assert found
    assert all(each.verdicts == ("CONFIRMED", "REFUTED") for each in found)
    assert not any(each.beyond_intervals for each in found)
    same = seen("one", "CONFIRMED") | seen("two", "INCONCLUSIVE")
    assert fleet_table.disagreements(same) == []


def test_versions_that_differ_between_nodes_are_told_with_who_has_them(tmp_path):
    old = ledger_of(tmp_path, software={"torch": "2.12", "python": "3.11"})
    new = ledger_of(tmp_path, software={"torch": "2.13", "python": "3.11"})
    told, shown, _ = table(tmp_path / "out", one=old, two=new, three=new)
    assert "versions differ: torch 2.12 (one); 2.13 (two and three)" in told
    assert "python 3" not in told
    assert "Versions that differ (1)" in shown


# A thousand entries --------------------------------------------------------------------------


def test_a_thousand_entries_on_a_hundred_nodes_all_end_and_no_device_is_shared(tmp_path):
    """The driver's own part alone: nodes that answer at once, a tenth of them dying."""
    lines = ledger_of(tmp_path, verdicts=CLAIMS[:2])
    names = [f"n{number}" for number in range(100)]
    nodes = Nodes(lines, list(names), dies=dict.fromkeys(names[:10], 1))
    entries = [entry(f"e{n}", device=f"d{n % 500}") for n in range(1000)]
    accounts, _ = run(tmp_path / "out", nodes, *entries)
    assert [account.state for account in accounts] == ["finished"] * 1000
    assert all(account.claims == 2 for account in accounts)
    assert sum(len(account.nodes) == 2 for account in accounts) == 10
    for at_once in nodes.overlap:
        devices = [int(name[1:]) % 500 for name in at_once]
        assert len(set(devices)) == len(devices)
    assert len(taken_up(tmp_path / "out", "e7").claims) == 2
