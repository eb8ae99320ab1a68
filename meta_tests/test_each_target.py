"""``--targets``: one run for each entry of a file, one page for all, and no key anywhere."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from claims._kit import ledger
from fixtures import each_target, target_list
from fixtures.needs import CannotRun
from fixtures.servers import faulty
from fixtures.servers.client import KEY_VARIABLE
from fixtures.servers.lies import Lie, LineFault
from meta_tests import made_up
from meta_tests.pages import Parsed
from reports import matrix

KEY = "sk-planted-0123456789abcdef"
CLAIM = made_up.ROOT / "claims/server/test_greedy_repeats.py"


def listed(folder: Path, *entries: dict[str, str], name: str = "targets.toml") -> Path:
    """A file of these entries."""
    lines = []
    for entry in entries:
        lines += ["[[target]]", *(f"{k} = {json.dumps(v)}" for k, v in entry.items()), ""]
    path = folder / name
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def server(name: str, flaw: Lie | LineFault = Lie.NONE, **more: str) -> dict[str, str]:
    return {"name": name, "base_url": faulty.url(flaw), "served_model": "toy", **more}


def run(folder: Path, *entries: dict[str, str], **env: str) -> tuple[int, str, Path]:
    """Exit status and output of a run over these entries, and the folder it wrote."""
    file, out = listed(folder, *entries), folder / "out"
    args = [f"--targets={file}", "--ledger", out, "-q", "-p", "no:cacheprovider", CLAIM]
    process = made_up.command(args, folder=made_up.ROOT, **env)
    output, _ = process.communicate(timeout=600)  # a pytest for each entry
    status = process.returncode
    assert "Traceback" not in output, output
    return status, output, out


# The whole of it -----------------------------------------------------------------------------


def test_each_entry_has_a_run_and_the_page_puts_them_side_by_side(tmp_path):
    """A dead entry and one without its key are a line each; the rest is judged, the worst told."""
    dead = {"name": "dead", "base_url": "http://127.0.0.1:9/v1"}
    entries = [dead, server("keyless", key_env="ONECALL_TEST_UNSET"), server("honest")]
    status, output, out = run(tmp_path, *entries, server("draws", Lie.DRAWS))
    assert status == 1, output
    rows = {name: ledger.read(out / f"{name}.jsonl").rows for name in ("honest", "draws")}
    assert not (out / "dead.jsonl").exists()
    found = {name: claim_verdict(r) for name, r in rows.items()}
    assert found == {"honest": "CONFIRMED", "draws": "REFUTED"}
    assert output.count("nothing answers there") == 2  # where it happened, and in the end
    page = (out / "matrix.html").read_text(encoding="utf-8")
    shown = " ".join(Parsed(page).texts)
    for words in ("2 targets side by side", "2 could not be judged", "nothing answers there"):
        assert words in shown
    assert "the environment has no ONECALL_TEST_UNSET" in shown
    assert 'id="server/greedy-repeats" class="differs"' in page


def claim_verdict(rows) -> str:
    return next(row["verdict"] for row in rows if row["kind"] == "claim")


@pytest.mark.parametrize("flaw", [LineFault.ECHOES_KEY, LineFault.UNAUTHORIZED])
def test_a_key_is_in_no_file_and_goes_to_its_own_server_alone(flaw, tmp_path):
    """Neither the list, a ledger, a page nor the output has it; nor does the other server."""
    entries = [
        server("locked", flaw, key_env="ONECALL_TEST_KEY"),
        {**server("open", LineFault.ECHOES_KEY), "served_model": ""},
    ]
    env = {"ONECALL_TEST_KEY": KEY, KEY_VARIABLE: f"{KEY}-of-the-command"}
    _, output, out = run(tmp_path, *entries, **env)
    written = {path.name: path.read_text() for path in tmp_path.rglob("*.*") if path.is_file()}
    assert KEY not in output
    assert not [name for name, text in written.items() if KEY in text]
    assert "matrix.html" in written
    # This server writes into its reply with which key it was asked.
    assert "Incorrect key provided: none" in written["open.jsonl"]
    assert ("[key]" in written.get("locked.jsonl", "")) is (flaw is LineFault.ECHOES_KEY)
    assert (out / "open.html").exists()


def test_a_name_that_holds_markup_is_refused_and_a_ledgers_text_is_escaped(tmp_path):
    path = tmp_path / "a.jsonl"
    row = made_up.header(target={"name": "<b>x</b>"})
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    told, absent = matrix.write({"a": path, "b": tmp_path / "none"}, [], tmp_path / "m.html")
    assert [name for name, _ in absent] == ["b"]
    assert "<b>x" not in (tmp_path / "m.html").read_text()
    assert "b: " in told


def test_a_page_of_nothing_but_dead_targets_says_so(tmp_path):
    matrix.write({}, [("dead", "nothing answers there")], tmp_path / "m.html")
    shown = " ".join(Parsed((tmp_path / "m.html").read_text()).texts)
    assert "0 targets side by side" in shown
    assert "nothing answers there" in shown


# What an entry becomes -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("about", "lane", "words"),
    [
        (
            {"base_url": "http://x/v1", "served_model": "m"},
            "",
            "-m server --base-url http://x/v1 --served-model m",
        ),
        (
            {"serve": "llama.cpp"},
            "server and not timed",
            "-m 'server and not timed' --serve llama.cpp",
        ),
        ({"model": "random:tiny"}, "", "-m cpu --model random:tiny"),
        ({"target": "smollm2-135m", "lane": "gpu"}, "cpu", "-m gpu --target smollm2-135m"),
    ],
)
def test_an_entry_becomes_options_of_its_run(about, lane, words):
    assert target_list.Entry(name="x", **about).arguments(lane) == shlex.split(words)


def test_of_all_keys_an_entry_gets_its_own():
    mine = target_list.Entry(name="x", base_url="http://x/v1", key_env="MINE")
    outer = {"MINE": "m", "YOURS": "y", KEY_VARIABLE: "of the command", "HOME": "/h"}
    keys = frozenset({"MINE", "YOURS"})
    assert mine.environment(outer, keys) == {KEY_VARIABLE: "m", "HOME": "/h"}
    none = target_list.Entry(name="y", base_url="http://y/v1")
    assert none.environment(outer, keys) == {"HOME": "/h"}
    with pytest.raises(CannotRun, match="no MINE"):
        mine.environment({"MINE": ""}, keys)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "wants [[target]] tables"),
        ("target = 3", "wants [[target]] tables"),
        ("[[server]]\nname = 'a'", "wants [[target]] tables"),
        (f"[[target]\nkey = '{KEY}'", "no TOML (at line 1)"),
        (f"[[target]]\nname = 'a'\nserve = 'vllm'\nkey = '{KEY}'", "unknown field 'key'"),
        ("[[target]]\nname = 'a'", "give one of base_url, serve, target, model; it has 0"),
        ("[[target]]\nname = 'a'\nmodel = 'm'\nserve = 'vllm'", "it has 2"),
        ("[[target]]\nname = '../a'\nmodel = 'm'", "wants a name"),
        ("[[target]]\nmodel = 'm'", "wants a name"),
        ("[[target]]\nname = 'a'\nmodel = 3", "every value is a text"),
        ("[[target]]\nname = 'a'\nmodel = 'm'\nkey_env = 'K'", "go with base_url"),
        (2 * "[[target]]\nname = 'a'\nmodel = 'm'\n", "two entries have one name"),
    ],
)
def test_a_list_that_cannot_be_used_is_one_line_that_repeats_no_value(text, words, tmp_path):
    path = tmp_path / "targets.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(CannotRun) as caught:
        target_list.read(path)
    line = str(caught.value)
    assert words in line
    assert KEY not in line
    assert "\n" not in line


def test_a_list_that_is_not_there_is_one_line(tmp_path):
    with pytest.raises(CannotRun, match="No such file"):
        target_list.read(tmp_path / "none.toml")


@pytest.mark.parametrize(
    "more", [["--base-url", "http://x/v1"], ["--model", "random:tiny"], ["--serve", "vllm"]]
)
def test_a_target_beside_a_list_of_targets_is_refused(more, tmp_path):
    path = listed(tmp_path, {"name": "a", "model": "random:tiny"})
    line = made_up.refused(
        made_up.finished([f"--targets={path}", *more, CLAIM], folder=made_up.ROOT)
    )
    assert "leave out" in line


def test_a_folder_with_files_in_it_is_left_alone(tmp_path):
    path = listed(tmp_path, {"name": "a", "model": "random:tiny"})
    args = [f"--targets={path}", "--ledger", tmp_path, CLAIM]
    assert "holds files" in made_up.refused(made_up.finished(args, folder=made_up.ROOT))


# Exit status ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("statuses", "worst"),
    [
        ([0, 0], 0),
        ([0, 21], 21),
        ([21, 20], 20),
        ([20, 4, 0], 4),
        ([4, 1], 1),
        ([1, 2], 2),
        ([2, 3], 3),
        ([1, -9], 3),
        ([0, 5], 5),
        ([], 5),
    ],
)
def test_the_worst_exit_status_is_the_runs(statuses, worst):
    assert each_target.worst(statuses) == worst


def test_options_are_taken_out_in_either_way_of_writing():
    given = ["-q", "--targets", "a", "--targets=b", "-m", "server", "--ledger=x", "claims"]
    assert each_target.without(given, "--targets", "-m", "--ledger") == ["-q", "claims"]
