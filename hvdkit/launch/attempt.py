"""One attempt at a job: the hosts are examined, the ranks started and watched, their end told."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from hvdkit.examination.session import Examination, Report, examine
from hvdkit.hosts.lists import HostList
from hvdkit.launch import foreign, job, preflight
from hvdkit.launch.horovodrun import Start
from hvdkit.launch.job import Outcome
from hvdkit.launch.screen import Screen
from hvdkit.launch.watch import Watch
from hvdkit.launch.world import RESTARTED, RESTARTS

_SHUT_DOWN = (
    "rank {} was still working with the others, and no rank printed an error: a different rank ended its "
    "training first{}. Give all ranks the same number of steps (DistributedSampler, drop_last=True), and "
    "call hvd.shutdown() or destroy_process_group() only after the last collective"
)


@dataclass(frozen=True)
class Wanted:
    """A job as it was asked for. named: all hosts that it may use. start: how ranks are started; its hosts
    and their number are each attempt's own. environ: all that ranks are given. ctrl_port: 0 for any.
    """

    named: HostList
    start: Start
    command: Sequence[str]
    environ: Mapping[str, str]
    script: str = ""
    interface: str = ""
    ctrl_port: int = 0
    log_dir: Path | None = None
    watched: bool = True
    force: bool = False
    restarts: int = 0


def examined(wanted: Wanted, used: HostList, ranks: int, say: Callable[[str], None]) -> Report:
    """What the checks find on these hosts."""
    checks = preflight.checks(wanted.start.world)
    start = wanted.start
    return examine(
        Examination(used, ranks, wanted.script, wanted.ctrl_port, start.ssh, wanted.interface, checks), say
    )


def attempt(
    wanted: Wanted, used: HostList, ranks: int, report: Report, number: int, screen: Screen
) -> Outcome:
    """Run the ranks to their end on hosts that were examined. number: how often the job was started before.

    Raises: PreflightError where the report holds an error, and what job.run raises.
    """
    preflight.judge(report, wanted.force)
    start = preflight.start(report, replace(wanted.start, hosts=used, ranks=ranks))
    watch = Watch(ranks, screen.say) if wanted.watched and ranks > 1 else None
    environ = {**wanted.environ, RESTARTS: str(wanted.restarts), RESTARTED: str(number)}
    folder = wanted.log_dir
    if folder is not None and number:
        folder = folder / f"restart.{number}"
    outcome = job.run(start, wanted.command, environ, wanted.ctrl_port, folder, watch, screen)
    _tell(outcome, screen)
    if not start.world and (advice := foreign.advice(outcome.traceback, wanted.command)):
        screen.say(advice)
    return outcome


def _tell(outcome: Outcome, screen: Screen) -> None:
    say = screen.say
    if outcome.parted is not None:
        say(f"the ranks have diverged, and the job was stopped: {outcome.parted}")
    if outcome.first is not None:
        if outcome.traceback:
            screen.line(outcome.traceback)
        say(f"rank {outcome.first.rank} on {outcome.first.host} failed first: {_how(outcome.first.code)}")
        if outcome.shut_down:
            where = f" ({outcome.uneven})" if outcome.uneven else ""
            say(_SHUT_DOWN.format(outcome.first.rank, where))


def _how(code: int | None) -> str:
    if code is None:
        return "it was not heard from again (killed, or its host is down)"
    return f"signal {code - 128}" if code > 128 else f"exit code {code}"
