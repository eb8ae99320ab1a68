"""Wiring only: options, and what pytest's hooks hand to the kit, the fixtures and the page."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pytest_metadata.plugin import metadata_key

from claims._kit import deviations, ledger, outcome, workers
from claims._kit.run import Run
from claims._wiring import several
from claims._wiring.beginning import as_told, repeat_with, start
from claims._wiring.choosing import keep, keep_stored
from claims._wiring.common import (
    PATH,
    REPLAYED,
    RUN,
    STARTED,
    claim_of,
    refuse,
    role_and_case,
    terminal_of,
)
from claims._wiring.ending import close
from fixtures import (
    each_target,
    profiles,  # noqa: F401 (registers Hypothesis' profiles before they are chosen)
    target_list,
)
from fixtures.needs import CannotRun
from reports import matrix, page, still, terminal

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parent
OUT = ROOT / "reports" / "out"
STILL = pytest.StashKey[still.Still]()
CONTROLLER = pytest.StashKey[workers.Controller]()
ALONE = pytest.StashKey[bool]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """The suite's own options."""
    group = parser.getgroup("onecall", "claims about one LLM call")
    group.addoption("--target", default="", help="a model of fixtures/models, by name")
    group.addoption("--model", default="", help="hub id, folder, FILE.gguf or random:SHAPE")
    group.addoption("--device", default="auto", choices=("auto", "cpu", "cuda"))
    group.addoption("--base-url", default="", help="of a server to verify (-m server): .../v1")
    group.addoption("--served-model", default="", help="its name at that server")
    group.addoption(
        "--serve",
        default="",
        choices=("llama.cpp", "transformers", "vllm"),
        help="the engine started with the embedded model where no --base-url is given",
    )
    group.addoption(
        "--targets",
        default="",
        metavar="FILE",
        help="TOML list of servers and models: a run for each (--ledger names their folder)",
    )
    group.addoption("--seed", type=int, default=0, help="of every draw (default 0)")
    group.addoption("--ledger", default="", help="where to write the run's ledger")
    group.addoption("--resume", default="", help="finish the run of this ledger")
    group.addoption("--replay", default="", help="judge this ledger again, without a model")
    group.addoption(
        "--rehearsal",
        action="store_true",
        help="try the gpu lane's code on a CPU at small sizes; judges nothing",
    )
    group.addoption("--claims", action="store_true", help="list the claims and stop")


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> int | None:
    """With ``--targets`` a run of its own for each entry, then the page of them all."""
    return _each_target(config) if config.option.targets else None


def _each_target(config: pytest.Config) -> int:
    several.refuse_targets()
    option = config.option
    own = ("base_url", "served_model", "serve", "target", "model", "resume", "replay")
    if given := [f"--{name.replace('_', '-')}" for name in own if getattr(option, name)]:
        raise pytest.UsageError(f"onecall: --targets names what to run on; leave out {given[0]}")
    try:
        entries = target_list.read(Path(option.targets))
    except CannotRun as error:
        raise pytest.UsageError(f"onecall: {error}") from None
    fresh = OUT / f"targets-{datetime.now(UTC):%Y%m%dT%H%M%S}-{os.getpid()}"
    folder = Path(option.ledger or fresh)
    _make_folder(folder)
    if any(folder.iterdir()):
        raise pytest.UsageError(f"onecall: --ledger {folder} holds files; name another folder")
    say = partial(print, flush=True)
    arguments = each_target.without(
        [*map(str, config.invocation_params.args)], "--targets", "--ledger", "-m"
    )
    ended = each_target.run_each(entries, arguments, lane=option.markexpr, folder=folder, say=say)
    refused = [(run.entry.name, run.refusal) for run in ended if run.refusal]
    ledgers = {run.entry.name: run.ledger for run in ended if not run.refusal}
    told, _ = matrix.write(ledgers, refused, folder / "matrix.html")
    say(f"\n{told}page: {folder / 'matrix.html'}")
    return each_target.worst([run.status for run in ended])


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Name the run; give pytest-html its page unless only the suite's own tests are asked for."""
    config.addinivalue_line("markers", "claim(c): the claim that a test belongs to")
    option = config.option
    if option.resume and option.replay:
        raise pytest.UsageError("give --resume or --replay, not both")
    if option.rehearsal and option.device == "cuda":
        raise pytest.UsageError("a rehearsal runs on a CPU: leave out --device cuda")
    try:
        deviations.read()  # claim files read it too, and would fail with a traceback
    except deviations.DeviationError as error:
        raise pytest.UsageError(f"onecall: {error}") from None
    config.stash[STARTED] = now = datetime.now(UTC)
    kind = "replay" if option.replay else "run"
    fresh = OUT / f"{kind}-{now:%Y%m%dT%H%M%S}-{os.getpid()}.jsonl"
    config.stash[PATH] = path = Path(option.resume or option.ledger or fresh)
    only_meta = bool(config.args) and all("meta_tests" in str(a) for a in config.args)
    nothing = bool(option.resume) and not path.is_file()  # refused once the tests are collected
    if not (only_meta or nothing or option.claims or option.collectonly):
        _make_folder(path.parent)
        option.htmlpath = option.htmlpath or str(path.with_suffix(".html"))
        option.self_contained_html = True
        option.css = [str(page.CSS), *option.css]
    several.enter(config)
    if workers.is_controller(config) and not only_meta:
        _spread(config)


def _spread(config: pytest.Config) -> None:
    """Prepare a run over pytest-xdist's workers."""
    option, path = config.option, config.stash[PATH]
    if why := workers.refusal(option):
        raise pytest.UsageError(f"onecall: {why}")
    if path.exists() and path.stat().st_size:
        raise pytest.UsageError(f"onecall: --ledger {path} exists; name another file")
    option.dist, option.ledger = workers.distribution(option.markexpr), str(path)

    def begin(header: ledger.Row) -> Run:
        from fixtures.machines import as_a_whole

        header = as_a_whole(header, workers=len(option.tx))
        writer = ledger.Writer(path)
        config.stash[RUN] = run = Run(
            writer=writer,
            conditions=as_told(header, repeat_with=repeat_with(option)),
            deviations=deviations.read(),
        )
        writer.write(header)
        return run

    controller = workers.Controller(list(map(str, config.invocation_params.args)), begin)
    config.stash[CONTROLLER] = controller
    config.pluginmanager.register(controller)


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        line = f"onecall: {folder}: {error.strerror}; name another place with --ledger"
        raise pytest.UsageError(line) from None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """``--claims`` lists instead of running; a replay runs what its ledger holds.

    Claims that attach a profiler come last: it slows whatever its process does after it.
    """
    items.sort(key=lambda item: (claim := claim_of(item)) is not None and claim.profiled)
    if workers.is_worker(config):
        keep(config, items, lambda claim: claim is None or not claim.timed)
    if config.stash.get(ALONE, False):
        if run := config.stash.get(RUN, None):
            told = [(item, claim) for item in items if (claim := claim_of(item))]
            run.join((c, *role_and_case(item, c)) for item, c in told if not c.timed)
        keep(config, items, lambda claim: claim is not None and claim.timed)
    if config.option.replay:
        keep_stored(config, items)
    if config.option.claims:
        found = {claim.id: claim for item in items if (claim := claim_of(item))}
        rows = [(c.id, sorted(c.scope.lanes), c.sentence) for c in found.values()]
        terminal_of(config).write(terminal.claim_list(rows))
        items.clear()


def pytest_collection_finish(session: pytest.Session) -> None:
    """Start the run: its ledger, its conditions, and what it is going to judge."""
    config = session.config
    claimed = [(item, claim) for item in session.items if (claim := claim_of(item))]
    if not claimed or config.option.collectonly:
        return
    try:
        begun = config.stash.get(RUN, None)
        run = start(config, [claim for _, claim in claimed], begun)
    except (ledger.LedgerError, CannotRun) as error:
        refuse(config, error)
    config.stash[RUN] = run
    if old := config.stash.get(REPLAYED, None):
        kept = still.Still(old.header, ROOT, config.stash.get(metadata_key, {}))
        config.stash[STILL] = kept
        config.pluginmanager.register(kept)
    for item, claim in claimed:
        run.plan(claim, *role_and_case(item, claim))
    if isinstance(run.writer, workers.Relay):
        config.pluginmanager.register(workers.Worker(run.writer, sorted(run.planned)))


@pytest.hookimpl(wrapper=True)
def pytest_runtestloop(session: pytest.Session) -> Iterator[None]:
    """Where workers shared a run, its timed claims come last, here, with the machine to itself."""
    done = yield
    if CONTROLLER in session.config.stash and not session.config.option.collectonly:
        session.config.stash[ALONE] = True
        workers.run_the_rest(session)
    return done


@pytest.fixture
def bench(pytestconfig: pytest.Config) -> Run:
    """The run that a claim's tests hand their measure to."""
    return pytestconfig.stash[RUN]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Hand the verdict to whatever reports tests: the terminal, JUnit, other plugins."""
    try:
        return (yield)
    finally:
        run, claim = item.config.stash.get(RUN, None), claim_of(item)
        if run and claim:
            role, case = role_and_case(item, claim)
            if row := run.verdicts.get((claim.id, role, case)):
                item.user_properties += outcome.properties(claim, role, row)


def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, str] | None:
    """Show the verdict, not pytest's word for it, beside each case."""
    return outcome.status(report)


@pytest.hookimpl(wrapper=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> Iterator[None]:
    """Close the ledger, then let the page be written; a full disk is one line, not a traceback."""
    if session.config.option.claims and exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
        session.exitstatus = pytest.ExitCode.OK
    try:
        run = session.config.stash.get(RUN, None)
        if run and not workers.is_worker(session.config):
            close(session, run, exitstatus)
        yield
        if (kept := session.config.stash.get(STILL, None)) and session.config.option.htmlpath:
            kept.settle(Path(session.config.option.htmlpath))
    except (OSError, ledger.LedgerError) as error:
        session.exitstatus = session.exitstatus or pytest.ExitCode.USAGE_ERROR
        terminal_of(session.config).write_line(f"\nonecall: the run's end cannot be kept: {error}")


def pytest_html_report_title(report: Any) -> None:
    """The page's title."""
    report.title = "onecall: what one LLM call does here"


def pytest_html_results_summary(prefix: list[str], session: pytest.Session) -> None:
    """The page itself: made of ledger rows alone, placed before pytest-html's list of tests."""
    if run := session.config.stash.get(RUN, None):
        prefix.append(page.body(run.writer.rows))


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """A short table of the claims at the end, and where ledger and page lie."""
    if run := config.stash.get(RUN, None):
        terminalreporter.section("claims")
        terminalreporter.write(terminal.table(run.writer.rows))
        terminalreporter.write_line(f"ledger: {config.stash[PATH]}")
