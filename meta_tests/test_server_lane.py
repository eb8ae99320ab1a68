"""The server lane as a whole: its engines, its ledgers judged again, and what it keeps out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from claims._kit import ledger
from fixtures import targets
from fixtures.servers import faulty, lane, started
from fixtures.servers.client import ServerTrouble
from fixtures.servers.lies import Lie
from meta_tests import made_up

CLAIMS = [
    made_up.ROOT / f"claims/server/test_{name}.py"
    for name in ("greedy_repeats", "limits_and_stops_are_exact", "schemas_are_kept")
]
PLAIN = ("-q", "-p", "no:cacheprovider")


def body(page: Path) -> str:
    """The page's own part, which ledger rows alone make."""
    text = page.read_text(encoding="utf-8")
    return text[text.index('<div id="onecall"') : text.index("</main>")]


def test_a_servers_ledger_judged_again_gives_the_same_rows_and_the_same_page(tmp_path):
    """Without the server, whose refutations and words for repeating it are kept too."""
    first, again = tmp_path / "first.jsonl", tmp_path / "again.jsonl"
    address = ["--base-url", faulty.url(Lie.IGNORES_STOP), "--served-model", "toy"]
    status, output = made_up.finished(
        ["--ledger", first, *address, *CLAIMS, *PLAIN], folder=made_up.ROOT
    )
    assert status == 1, output
    replayed, output = made_up.finished(
        [f"--replay={first}", "--ledger", again, *CLAIMS, *PLAIN], folder=made_up.ROOT
    )
    assert replayed == 1, output
    assert ledger.read(again).all_rows == ledger.read(first).all_rows
    assert body(again.with_suffix(".html")) == body(first.with_suffix(".html"))
    assert "--base-url" in body(again.with_suffix(".html"))


def test_the_engines_that_can_be_started_are_those_of_the_option(pytestconfig):
    help_ = (made_up.ROOT / "conftest.py").read_text(encoding="utf-8")
    named = re.search(r'"--serve",.*?choices=\((.*?)\)', help_, re.DOTALL)[1]
    assert re.findall(r'"(.*?)"', named) == list(lane.ENGINES)


def test_each_engine_has_a_target_of_its_own_and_the_default_ones_is_the_models():
    names = [engine.target for engine in lane.ENGINES.values()]
    assert names[0] == targets.DEFAULT
    assert len(set(names)) == len(names)
    assert all(name.startswith(targets.DEFAULT) for name in names)


def test_an_engine_whose_package_is_missing_is_one_line_that_says_what_to_install(monkeypatch):
    monkeypatch.setattr(started.importlib.util, "find_spec", lambda _: None)
    for engine in lane.ENGINES.values():
        with pytest.raises(
            ServerTrouble, match=r"is not installed; run: pip install .+"
        ) as caught:
            engine()
        assert "\n" not in str(caught.value)


def test_an_address_beside_an_engine_to_start_is_refused(tmp_path):
    args = ["--base-url", "http://127.0.0.1:9/v1", "--serve", "transformers", CLAIMS[0]]
    line = made_up.refused(
        made_up.finished(["--ledger", tmp_path / "a.jsonl", *args, *PLAIN], folder=made_up.ROOT)
    )
    assert "reached, or started" in line


class Silent(started.Started):
    """A process that ends without an address."""

    module = "fixtures.needs"
    engine = "a silent server"
    target = "nothing"
    package = "pytest"
    ready_s = 30.0


def test_a_server_that_ends_before_it_answers_is_one_line_and_no_wait():
    with pytest.raises(ServerTrouble, match="a silent server ended early; run: pip install"):
        Silent()


class Chatty(Silent):
    """A process that prints its address, and then far more than a pipe holds."""

    module = "meta_tests.chatty_server"


def test_what_a_server_prints_is_read_to_the_end():
    chatty = Chatty()
    assert chatty.base_url == "http://127.0.0.1:9/v1"
    chatty.process.wait(30)  # a full pipe would keep it from ending, as it kept vLLM from replying
    chatty.stop()
