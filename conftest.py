"""Wiring only: options, the ledger, and which claims, targets and pages belong together."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import pytest
from pytest_metadata.plugin import metadata_key

from claims._kit import deviations, ledger, outcome, stored, workers
from claims._kit.claim import Claim
from claims._kit.run import SUBJECT, Conditions, Run
from claims._kit.verdict import Verdict, exit_status
from fixtures import (
    each_target,
    profiles,  # noqa: F401 (registers Hypothesis' profiles before they are chosen)
    target_list,
)
from fixtures.needs import CannotRun, Need
from reports import matrix, page, still, terminal

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parent
OUT = ROOT / "reports" / "out"
RUN = pytest.StashKey[Run]()
PATH = pytest.StashKey[Path]()
STARTED = pytest.StashKey[datetime]()
REPLAYED = pytest.StashKey[ledger.Ledger]()
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
    if not (only_meta or nothing or option.claims or option.collectonly or option.htmlpath):
        _make_folder(path.parent)
        option.htmlpath = str(path.with_suffix(".html"))
        option.self_contained_html = True
        option.css = [str(page.CSS)]
    if workers.is_controller(config) and not only_meta:
        _spread(config)


def _spread(config: pytest.Config) -> None:
    """Prepare a run over pytest-xdist's workers: a claim's file stays with one of them."""
    option, path = config.option, config.stash[PATH]
    if why := workers.refusal(option):
        raise pytest.UsageError(f"onecall: {why}")
    if path.exists() and path.stat().st_size:
        raise pytest.UsageError(f"onecall: --ledger {path} exists; name another file")
    option.dist, option.ledger = workers.BY_FILE, str(path)

    def start(header: ledger.Row) -> Run:
        from fixtures.machines import as_a_whole

        header = as_a_whole(header, workers=len(option.tx))
        writer = ledger.Writer(path)
        config.stash[RUN] = run = Run(
            writer=writer, conditions=_as_told(header), deviations=deviations.read()
        )
        writer.write(header)
        return run

    controller = workers.Controller(list(map(str, config.invocation_params.args)), start)
    config.stash[CONTROLLER] = controller
    config.pluginmanager.register(controller)


def _as_told(header: ledger.Row, **more: Any) -> Conditions:
    """Conditions of a run that is judged, or was, in another process: it measures nothing."""

    def no_engine() -> Any:
        raise CannotRun("the ledger holds no samples of this case; nothing is measured here")

    return Conditions(
        device=header["device"],
        target=header["target"]["name"],
        engine=no_engine,
        offers=no_engine,
        why_no_cuda=header["machine"].get("why_no_cuda", ""),
        rehearsal=header.get("rehearsal", False),
        **more,
    )


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
    items.sort(key=lambda item: (claim := _claim_of(item)) is not None and claim.profiled)
    if workers.is_worker(config):
        _keep(config, items, lambda claim: claim is None or not claim.timed)
    if config.stash.get(ALONE, False):
        _keep(config, items, lambda claim: claim is not None and claim.timed)
    if config.option.replay:
        _keep_stored(config, items)
    if config.option.claims:
        found = {claim.id: claim for item in items if (claim := _claim_of(item))}
        rows = [(c.id, sorted(c.scope.lanes), c.sentence) for c in found.values()]
        _terminal(config).write(terminal.claim_list(rows))
        items.clear()


def pytest_collection_finish(session: pytest.Session) -> None:
    """Start the run: its ledger, its conditions, and what it is going to judge."""
    config = session.config
    claimed = [(item, claim) for item in session.items if (claim := _claim_of(item))]
    if not claimed or config.option.collectonly:
        return
    try:
        begun = config.stash.get(RUN, None)
        run = _start(config, [claim for _, claim in claimed], begun)
    except (ledger.LedgerError, CannotRun) as error:
        _refuse(config, error)
    config.stash[RUN] = run
    for item, claim in claimed:
        run.plan(claim, *_role_and_case(item, claim))
    if isinstance(run.writer, workers.Relay):
        config.pluginmanager.register(workers.Worker(run.writer, sorted(run.planned)))


def _refuse(config: pytest.Config, error: Exception) -> NoReturn:
    """Stop with one line, and leave alone the page of the ledger that was named."""
    if workers.is_worker(config):
        config.workeroutput[workers.REFUSED] = str(error)  # type: ignore[attr-defined]
    for plugin in config.pluginmanager.get_plugins():
        if type(plugin).__module__.startswith("pytest_html."):
            config.pluginmanager.unregister(plugin)
    pytest.exit(f"onecall: {error}", returncode=int(pytest.ExitCode.USAGE_ERROR))


def _claim_of(item: pytest.Item) -> Claim | None:
    mark = item.get_closest_marker("claim")
    return mark.args[0] if mark else None


def _role_and_case(item: pytest.Item, claim: Claim) -> tuple[str, str]:
    params = item.callspec.params  # type: ignore[attr-defined]
    if control := params.get("control"):
        return control.name, claim.case(control.case).name
    return SUBJECT, params["case"].name


def _keep(
    config: pytest.Config, items: list[pytest.Item], wanted: Callable[[Claim | None], bool]
) -> None:
    left = [item for item in items if not wanted(_claim_of(item))]
    config.hook.pytest_deselected(items=left)
    items[:] = [item for item in items if wanted(_claim_of(item))]


@pytest.hookimpl(wrapper=True)
def pytest_runtestloop(session: pytest.Session) -> Iterator[None]:
    """Where workers shared a run, its timed claims come last, here, with the machine to itself."""
    done = yield
    if CONTROLLER in session.config.stash and not session.config.option.collectonly:
        session.config.stash[ALONE] = True
        workers.run_the_rest(session)
    return done


def _keep_stored(config: pytest.Config, items: list[pytest.Item]) -> None:
    try:
        old = ledger.read(Path(config.option.replay), tolerate_cut=True)
    except ledger.LedgerError as error:
        _refuse(config, error)
    held = stored.stored_rows(old.rows)
    if gone := stored.gone(held, filter(None, map(_claim_of, items)), ROOT / "claims"):
        _terminal(config).write_line(
            f"onecall: {config.option.replay}: {len(gone)} of its cases belong to claims that are "
            f"not here any more and are left out: {', '.join(gone[:3])}"
            + (" ..." if len(gone) > 3 else "")
        )
    kept, left = [], []
    for item in items:
        claim = _claim_of(item)
        is_held = claim is None or (claim.id, *_role_and_case(item, claim)) in held
        (kept if is_held else left).append(item)
    config.hook.pytest_deselected(items=left)
    items[:] = kept


def _start(config: pytest.Config, claims: list[Claim], begun: Run | None) -> Run:
    """A new run, a resumed one, a stored one to be judged again, or one that workers ``begun``."""
    option, path = config.option, config.stash[PATH]
    beside = workers.is_worker(config)
    writer = workers.Relay(path) if beside else begun.writer if begun else ledger.Writer(path)
    if not (option.resume or beside or begun) and path.exists() and path.stat().st_size:
        raise ledger.LedgerError(f"--ledger {path} exists; name another file, or --resume it")
    if option.replay:
        return _replay(config, Path(option.replay), writer)
    from fixtures.session import Session, chosen, device_for

    if beside:
        from fixtures.machines import share_processor

        share_processor(workers.count(config))
    lane = option.markexpr or "all"
    session = Session(
        target=chosen(option.target, option.model),
        device=device_for(lane, "cpu" if option.rehearsal else option.device),
        seed=option.seed,
        say=lambda line: _say(config, line),
        rehearsal=option.rehearsal,
    )
    command = ["pytest", *map(str, config.invocation_params.args)]
    started = f"{config.stash[STARTED]:%Y-%m-%d %H:%M:%S} UTC"
    header = session.header(run=path.stem, started=started, command=command, lane=lane)
    served, header = _served(config, claims, header)
    rows: dict[stored.Key, list[ledger.Row]] = {}
    if option.resume:
        rows = stored.resume(path, header, writer)
    elif begun is None:
        writer.write(header)
    conditions = Conditions(
        device=session.device,
        target=header["target"]["name"],
        server=served,
        engine=session.engine,
        offers=session.offers,
        why_no_cuda=header["machine"]["why_no_cuda"],
        repeat_with=_repeat_with(option),
        parallel=beside or "PYTEST_XDIST_WORKER" in os.environ,
        rehearsal=option.rehearsal,
        watch=session.watch,
        tidy=session.tidy,
    )
    if begun:
        begun.conditions = conditions
        return begun
    return Run(writer=writer, conditions=conditions, deviations=deviations.read(), stored=rows)


def _served(
    config: pytest.Config, claims: list[Claim], header: dict[str, Any]
) -> tuple[Any, dict[str, Any]]:
    """Who answers server claims, and the header; it is the served model's if all claims are.

    Beside other claims the started server has the default target, so it answers for no other.
    """
    option = config.option
    asked = {Need.SERVER in claim.needs for claim in claims}
    if False in asked and option.base_url:
        raise CannotRun("--base-url is for server claims alone; add -m server")
    if True not in asked or (False in asked and (option.target or option.model)):
        return None, header
    if option.target or option.model:
        raise CannotRun("--target and --model are not for server claims; give --served-model")
    if option.base_url and option.serve:
        raise CannotRun("give --base-url or --serve: a server is reached, or started")
    from fixtures.servers import lane

    served = lane.Served(
        option.base_url,
        option.served_model,
        option.serve or lane.DEFAULT,
        lambda line: _say(config, line),
    )
    config.add_cleanup(served.close)
    return served, served.beside(header) if False in asked else served.header(header)


def _replay(config: pytest.Config, source: Path, writer: ledger.Writer) -> Run:
    config.stash[REPLAYED] = old = ledger.read(source, tolerate_cut=True)
    writer.write(old.header)
    config.stash[STILL] = still.Still(old.header, ROOT, config.stash.get(metadata_key, {}))
    config.pluginmanager.register(config.stash[STILL])

    # A claim's line says how to repeat it: pytest, its file, and the options of the run.
    told = (row["repeat"].split(" ", 2)[2:] for row in old.rows if row["kind"] == "claim")
    repeat = next((words[0] for words in told if words), f"--seed {old.header['seed']}")
    return Run(
        writer=writer,
        conditions=_as_told(old.header, repeat_with=repeat),
        deviations=deviations.read(),
        stored=stored.stored_rows(old.rows),
        replay=True,
    )


def _repeat_with(option: Any) -> str:
    named = (
        *(("--target", option.target), ("--model", option.model), ("-m", option.markexpr)),
        *(("--base-url", option.base_url), ("--served-model", option.served_model)),
        ("--serve", option.serve),
    )
    words = [f"{flag} {shlex.quote(value)}" for flag, value in named if value]
    return " ".join([*words, f"--seed {option.seed}"])


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
        run, claim = item.config.stash.get(RUN, None), _claim_of(item)
        if run and claim:
            role, case = _role_and_case(item, claim)
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
            _close(session, run, exitstatus)
        yield
        if (kept := session.config.stash.get(STILL, None)) and session.config.option.htmlpath:
            kept.settle(Path(session.config.option.htmlpath))
    except (OSError, ledger.LedgerError) as error:
        session.exitstatus = session.exitstatus or pytest.ExitCode.USAGE_ERROR
        _terminal(session.config).write_line(f"\nonecall: the run's end cannot be kept: {error}")


def _close(session: pytest.Session, run: Run, exitstatus: int) -> None:
    """The verdicts decide the exit status; a broken run keeps its own and gets no footer."""
    ended, today = _end(session.config)
    notes = deviations.stale(
        run.deviations, run.outcomes(), target=run.conditions.target, today=today
    )
    if exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        session.exitstatus = status = _exit(run, notes, exitstatus)
        if ended and not run.unfinished():
            run.close(ended, status, notes)


def _end(config: pytest.Config) -> tuple[str, date]:
    """When the run ended, and the day on which known deviations are looked at.

    A replay says what the run would have said: its end is the run's, and one that was cut off has
    none.
    """
    now = datetime.now(UTC)
    if not (old := config.stash.get(REPLAYED, None)):
        return f"{now:%Y-%m-%d %H:%M:%S} UTC", date.today()
    ended = str(old.footer["finished"]) if old.footer else ""
    try:
        return ended, date.fromisoformat((ended or str(old.header["started"]))[:10])
    except ValueError:
        return ended, date.today()


def _exit(run: Run, notes: list[str], exitstatus: int) -> int:
    """The worst of verdicts, stale deviations, claims cut short, and tests that are no claim's."""
    claims = [(Verdict(r["verdict"]), bool(r["known"])) for r in run.finished.values()]
    claims += [(Verdict.VOID, False) for _ in run.unfinished()]
    if run.conditions.rehearsal and all(v is Verdict.NOT_APPLICABLE for v, _ in claims):
        return int(exitstatus)  # nothing crashed, and more was not asked for
    return 1 if notes else exit_status(claims) or int(exitstatus)


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


def _terminal(config: pytest.Config) -> Any:
    return config.pluginmanager.getplugin("terminalreporter")


def _say(config: pytest.Config, line: str) -> None:
    """A progress line that is seen although pytest captures what tests print.

    A worker has no terminal of its own, and says nothing.
    """
    if workers.is_worker(config):
        return
    capture = config.pluginmanager.getplugin("capturemanager")
    with capture.global_and_fixture_disabled():
        _terminal(config).write_line(f"  {line}")
