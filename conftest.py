"""Wiring only: options, the ledger, and which claims, targets and pages belong together."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, NoReturn

import pytest
from pytest_metadata.plugin import metadata_key

from claims._kit import deviations, ledger, outcome, stored
from claims._kit.claim import Claim
from claims._kit.run import SUBJECT, Conditions, Run
from claims._kit.verdict import Verdict, exit_status
from fixtures import profiles  # noqa: F401 (registers Hypothesis' profiles before they are chosen)
from fixtures.needs import CannotRun, Need
from reports import page, still, terminal

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parent
OUT = ROOT / "reports" / "out"
RUN = pytest.StashKey[Run]()
PATH = pytest.StashKey[Path]()
STARTED = pytest.StashKey[datetime]()
REPLAYED = pytest.StashKey[ledger.Ledger]()
STILL = pytest.StashKey[still.Still]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """The suite's own options."""
    group = parser.getgroup("onecall", "claims about one LLM call")
    group.addoption("--target", default="", help="a model of fixtures/models, by name")
    group.addoption("--model", default="", help="hub id, folder, FILE.gguf or random:SHAPE")
    group.addoption("--device", default="auto", choices=("auto", "cpu", "cuda"))
    group.addoption("--base-url", default="", help="of a server to verify (-m server): .../v1")
    group.addoption("--served-model", default="", help="its name at that server")
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
def pytest_configure(config: pytest.Config) -> None:
    """Name the run; give pytest-html its page unless only the suite's own tests are asked for."""
    config.addinivalue_line("markers", "claim(c): the claim that a test belongs to")
    option = config.option
    if option.resume and option.replay:
        raise pytest.UsageError("give --resume or --replay, not both")
    if option.rehearsal and option.device == "cuda":
        raise pytest.UsageError("a rehearsal runs on a CPU: leave out --device cuda")
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
        run = _start(config, [claim for _, claim in claimed])
    except (ledger.LedgerError, CannotRun) as error:
        _refuse(config, error)
    config.stash[RUN] = run
    for item, claim in claimed:
        run.plan(claim, *_role_and_case(item, claim))


def _refuse(config: pytest.Config, error: Exception) -> NoReturn:
    """Stop with one line, and leave alone the page of the ledger that was named."""
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


def _keep_stored(config: pytest.Config, items: list[pytest.Item]) -> None:
    try:
        old = ledger.read(Path(config.option.replay), tolerate_cut=True)
    except ledger.LedgerError as error:
        _refuse(config, error)
    held = stored.stored_rows(old.rows)
    kept, left = [], []
    for item in items:
        claim = _claim_of(item)
        is_held = claim is None or (claim.id, *_role_and_case(item, claim)) in held
        (kept if is_held else left).append(item)
    config.hook.pytest_deselected(items=left)
    items[:] = kept


def _start(config: pytest.Config, claims: list[Claim]) -> Run:
    """A new run, a resumed one, or a stored one to be judged again."""
    option, path = config.option, config.stash[PATH]
    writer = ledger.Writer(path)
    if not option.resume and path.exists() and path.stat().st_size:
        raise ledger.LedgerError(f"--ledger {path} exists; name another file, or --resume it")
    if option.replay:
        return _replay(config, Path(option.replay), writer)
    from fixtures.session import Session, chosen, device_for

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
    else:
        writer.write(header)
    conditions = Conditions(
        device=session.device,
        target=header["target"]["name"],
        server=served,
        engine=session.engine,
        offers=session.offers,
        why_no_cuda=header["machine"]["why_no_cuda"],
        repeat_with=_repeat_with(option),
        parallel="PYTEST_XDIST_WORKER" in os.environ,
        rehearsal=option.rehearsal,
        watch=session.watch,
        tidy=session.tidy,
    )
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
    from fixtures.servers.lane import Served

    served = Served(option.base_url, option.served_model, lambda line: _say(config, line))
    config.add_cleanup(served.close)
    return served, served.beside(header) if False in asked else served.header(header)


def _replay(config: pytest.Config, source: Path, writer: ledger.Writer) -> Run:
    config.stash[REPLAYED] = old = ledger.read(source, tolerate_cut=True)
    writer.write(old.header)
    config.stash[STILL] = still.Still(old.header, ROOT, config.stash.get(metadata_key, {}))
    config.pluginmanager.register(config.stash[STILL])

    def no_engine() -> Any:
        raise CannotRun(f"{source} holds no samples of this case; a replay measures nothing")

    conditions = Conditions(
        device=old.header["device"],
        target=old.header["target"]["name"],
        engine=no_engine,
        offers=no_engine,
        why_no_cuda=old.header["machine"].get("why_no_cuda", ""),
        rehearsal=old.header.get("rehearsal", False),
        repeat_with=f"--target {old.header['target']['name']} --seed {old.header['seed']}",
    )
    return Run(
        writer=writer,
        conditions=conditions,
        deviations=deviations.read(),
        stored=stored.stored_rows(old.rows),
        replay=True,
    )


def _repeat_with(option: Any) -> str:
    named = (
        *(("--target", option.target), ("--model", option.model), ("-m", option.markexpr)),
        *(("--base-url", option.base_url), ("--served-model", option.served_model)),
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
        if run := session.config.stash.get(RUN, None):
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
    """A progress line that is seen although pytest captures what tests print."""
    capture = config.pluginmanager.getplugin("capturemanager")
    with capture.global_and_fixture_disabled():
        _terminal(config).write_line(f"  {line}")
