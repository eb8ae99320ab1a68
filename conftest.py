"""Wiring only: options, the ledger, and which claims, targets and pages belong together."""

from __future__ import annotations

import os
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from claims._kit import deviations, ledger, stored
from claims._kit.claim import Claim
from claims._kit.run import SUBJECT, Conditions, Run
from claims._kit.verdict import Verdict, exit_status
from fixtures.needs import CannotRun
from reports import page, terminal

pytest_plugins = ["pytester"]

OUT = Path(__file__).parent / "reports" / "out"
RUN = pytest.StashKey[Run]()
PATH = pytest.StashKey[Path]()
STARTED = pytest.StashKey[datetime]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """The suite's own options."""
    group = parser.getgroup("onecall", "claims about one LLM call")
    group.addoption("--target", default="", help="a model of fixtures/models, by name")
    group.addoption("--model", default="", help="hub id, folder, FILE.gguf or random:SHAPE")
    group.addoption("--device", default="auto", choices=("auto", "cpu", "cuda"))
    group.addoption("--seed", type=int, default=0, help="of every draw (default 0)")
    group.addoption("--ledger", default="", help="where to write the run's ledger")
    group.addoption("--resume", default="", help="finish the run of this ledger")
    group.addoption("--replay", default="", help="judge this ledger again, without a model")
    group.addoption("--claims", action="store_true", help="list the claims and stop")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Name the run; give pytest-html its page unless only the suite's own tests are asked for."""
    config.addinivalue_line("markers", "claim(c): the claim that a test belongs to")
    option = config.option
    if option.resume and option.replay:
        raise pytest.UsageError("give --resume or --replay, not both")
    config.stash[STARTED] = now = datetime.now(UTC)
    kind = "replay" if option.replay else "run"
    fresh = OUT / f"{kind}-{now:%Y%m%dT%H%M%S}-{os.getpid()}.jsonl"
    config.stash[PATH] = path = Path(option.resume or option.ledger or fresh)
    only_meta = bool(config.args) and all("meta_tests" in str(a) for a in config.args)
    if not (only_meta or option.claims or option.collectonly or option.htmlpath):
        option.htmlpath = str(path.with_suffix(".html"))
        option.self_contained_html = True
        option.css = [str(page.CSS)]


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """``--claims`` lists instead of running."""
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
        run = _start(config)
    except (ledger.LedgerError, CannotRun) as error:
        pytest.exit(f"onecall: {error}", returncode=int(pytest.ExitCode.USAGE_ERROR))
    config.stash[RUN] = run
    for item, claim in claimed:
        params = item.callspec.params  # type: ignore[attr-defined]
        control = params.get("control")
        case = claim.case(control.case) if control else params["case"]
        run.plan(claim, control.name if control else SUBJECT, case.name)


def _claim_of(item: pytest.Item) -> Claim | None:
    mark = item.get_closest_marker("claim")
    return mark.args[0] if mark else None


def _start(config: pytest.Config) -> Run:
    """A new run, a resumed one, or a stored one to be judged again."""
    from fixtures.session import Session, chosen, device_for

    option, path = config.option, config.stash[PATH]
    writer = ledger.Writer(path)
    if option.replay:
        return _replay(Path(option.replay), writer)
    lane = option.markexpr or "all"
    session = Session(
        target=chosen(option.target, option.model),
        device=device_for(lane, option.device),
        seed=option.seed,
        say=lambda line: _say(config, line),
    )
    command = ["pytest", *map(str, config.invocation_params.args)]
    started = f"{config.stash[STARTED]:%Y-%m-%d %H:%M:%S} UTC"
    header = session.header(run=path.stem, started=started, command=command, lane=lane)
    rows: dict[stored.Key, list[ledger.Row]] = {}
    if option.resume:
        rows = stored.resume(path, header, writer)
    else:
        writer.write(header)
    conditions = Conditions(
        device=session.device,
        target=session.target.name,
        engine=session.engine,
        offers=session.offers,
        why_no_cuda=header["machine"]["why_no_cuda"],
        repeat_with=_repeat_with(option),
        parallel="PYTEST_XDIST_WORKER" in os.environ,
    )
    return Run(writer=writer, conditions=conditions, deviations=deviations.read(), stored=rows)


def _replay(source: Path, writer: ledger.Writer) -> Run:
    old = ledger.read(source, tolerate_cut=True)
    writer.write(old.header)

    def no_engine() -> Any:
        raise CannotRun(f"{source} holds no samples of this case; a replay measures nothing")

    conditions = Conditions(
        device=old.header["device"],
        target=old.header["target"]["name"],
        engine=no_engine,
        offers=no_engine,
        why_no_cuda=old.header["machine"].get("why_no_cuda", ""),
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
    named = (("--target", option.target), ("--model", option.model), ("-m", option.markexpr))
    words = [f"{flag} {value!r}" if " " in value else f"{flag} {value}" for flag, value in named if value]
    return " ".join([*words, f"--seed {option.seed}"])


@pytest.fixture
def bench(pytestconfig: pytest.Config) -> Run:
    """The run that a claim's tests hand their measure to."""
    return pytestconfig.stash[RUN]


def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, str] | None:
    """Show the verdict, not pytest's word for it, beside each case."""
    verdict = dict(report.user_properties).get("verdict")
    if report.when != "call" or not verdict:
        return None
    outcome = "xfailed" if hasattr(report, "wasxfail") else report.outcome
    return outcome, str(verdict)[0], str(verdict)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Close the ledger; the verdicts decide the exit status, a broken run keeps its own."""
    run = session.config.stash.get(RUN, None)
    if session.config.option.claims and exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
        session.exitstatus = pytest.ExitCode.OK
    if run is None:
        return
    notes = deviations.stale(
        run.deviations, run.outcomes(), target=run.conditions.target, today=date.today()
    )
    session.exitstatus = _exit(run, notes, exitstatus)
    if exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        run.close(f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC", int(session.exitstatus), notes)


def _exit(run: Run, notes: list[str], exitstatus: int) -> int:
    if exitstatus not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        return exitstatus
    claims = [(Verdict(r["verdict"]), bool(r["known"])) for r in run.finished.values()]
    return max(exit_status(claims), 1 if notes else 0)


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
