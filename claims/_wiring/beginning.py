"""How a run begins: anew, resumed, replayed, or where its workers left off."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest

from claims._kit import deviations, ledger, stored, workers
from claims._kit.claim import Claim
from claims._kit.conditions import Conditions
from claims._kit.run import Run
from claims._wiring import several
from claims._wiring.common import PATH, REPLAYED, STARTED, say
from fixtures import meeting, once
from fixtures.needs import CannotRun, Need


def as_told(header: ledger.Row, **more: Any) -> Conditions:
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


def start(config: pytest.Config, claims: list[Claim], begun: Run | None) -> Run:
    """A new run, a resumed one, a stored one to be judged again, or one that workers ``begun``."""
    option, path = config.option, config.stash[PATH]
    beside = workers.is_worker(config)
    writer = begun.writer if begun else writer_of(config, path)
    silent = several.is_silent(config)
    if not (option.resume or beside or begun or silent) and path.exists() and path.stat().st_size:
        raise ledger.LedgerError(f"--ledger {path} exists; name another file, or --resume it")
    if option.replay:
        return _replay(config, Path(option.replay), writer)
    session = _session(config)
    lane = option.markexpr or "all"
    command = [*several.launcher(config).split(), *map(str, config.invocation_params.args)]
    started = f"{config.stash[STARTED]:%Y-%m-%d %H:%M:%S} UTC"
    header = session.header(run=path.stem, started=started, command=command, lane=lane)
    served, header = _served(config, claims, header)
    rows: dict[stored.Key, list[ledger.Row]] = {}
    if option.resume and not silent:
        rows = stored.resume(path, header, writer)
    elif begun is None:
        writer.write(header)
    conditions = _conditions(config, session, header, server=served, parallel=beside)
    if begun:
        begun.conditions = conditions
        return begun
    rows = several.share(rows)
    return Run(writer=writer, conditions=conditions, deviations=deviations.read(), stored=rows)


def writer_of(config: pytest.Config, path: Path) -> ledger.Writer:
    """Where a process's rows go: to its controller, to nobody, or into the ledger."""
    if workers.is_worker(config):
        return workers.Relay(path)
    return several.Unkept(path) if several.is_silent(config) else ledger.Writer(path)


def _session(config: pytest.Config) -> Any:
    """What the run is done on; where ranks share it they have met, each with its device."""
    from fixtures.session import Session, chosen, device_for

    if workers.is_worker(config):
        from fixtures.machines import share_processor

        share_processor(workers.count(config))
    option = config.option
    session = Session(
        target=chosen(option.target, option.model),
        device=device_for(option.markexpr or "all", "cpu" if option.rehearsal else option.device),
        seed=option.seed,
        say=lambda line: say(config, line),
        rehearsal=option.rehearsal,
    )
    if rank := several.of(config):
        meeting.join(rank.at, session.device)
    return session


def _conditions(
    config: pytest.Config, session: Any, header: ledger.Row, **more: Any
) -> Conditions:
    option = config.option
    return Conditions(
        launcher=several.launcher(config),
        others=several.others(config, session),
        device=session.device,
        target=header["target"]["name"],
        engine=session.engine,
        offers=session.offers,
        why_no_cuda=header["machine"]["why_no_cuda"],
        repeat_with=repeat_with(option),
        rehearsal=option.rehearsal,
        again=session.again,
        watch=session.watch,
        forget=once.forget,
        tidy=session.tidy,
        **more,
    )


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
        lambda line: say(config, line),
    )
    config.add_cleanup(served.close)
    return served, served.beside(header) if False in asked else served.header(header)


def _replay(config: pytest.Config, source: Path, writer: ledger.Writer) -> Run:
    config.stash[REPLAYED] = old = ledger.read(source, tolerate_cut=True)
    writer.write(old.header)

    launcher, repeat = _repeated(old)
    return Run(
        writer=writer,
        conditions=as_told(old.header, launcher=launcher, repeat_with=repeat),
        deviations=deviations.read(),
        stored=stored.stored_rows(old.rows),
        replay=True,
    )


def _repeated(old: ledger.Ledger) -> tuple[str, str]:
    """What stands before and after the file in a claim's line that says how to repeat it."""
    told = [row["repeat"].partition("pytest ") for row in old.rows if row["kind"] == "claim"]
    launcher = f"{told[0][0]}pytest" if told and told[0][1] else "pytest"
    options = [rest.split(" ", 1)[1] for _, _, rest in told if " " in rest]
    return launcher, options[0] if options else f"--seed {old.header['seed']}"


def repeat_with(option: Any) -> str:
    """The options that judge again what this run judges."""
    named = (
        *(("--target", option.target), ("--model", option.model), ("-m", option.markexpr)),
        *(("--base-url", option.base_url), ("--served-model", option.served_model)),
        ("--serve", option.serve),
    )
    words = [f"{flag} {shlex.quote(value)}" for flag, value in named if value]
    return " ".join([*words, f"--seed {option.seed}"])
