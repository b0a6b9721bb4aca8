"""Jobs that are measured, on hosts that are examined once: each is started as by `hvdkit run`."""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from hvdkit import interpreter
from hvdkit.arguments import RANKS
from hvdkit.bench.recorded import Recorded, find
from hvdkit.errors import HvdkitError, UsageError
from hvdkit.examination.session import Examination, Report, examine
from hvdkit.hosts import environment
from hvdkit.hosts import lists as hosts
from hvdkit.hosts.lists import Host, HostList, enough
from hvdkit.hosts.ssh import Ssh
from hvdkit.launch import job, preflight
from hvdkit.launch.allocation import hosts_of_allocation
from hvdkit.launch.horovodrun import Start, find_horovodrun
from hvdkit.launch.tuned import Setting

THREADS = "OMP_NUM_THREADS"
_DEFAULT_RANKS = 2  # on this machine, where no host is named
Say = Callable[[str], None]


class MeasuredJobError(HvdkitError):
    """A job that was to be measured failed; `seen` holds the error of the rank that failed first."""


@dataclass(frozen=True)
class Ground:
    """Hosts that were examined. used: with the ranks that each gets. named: as examined."""

    named: HostList
    ranks: int
    ssh: Ssh
    report: Report

    @property
    def used(self) -> HostList:
        """Where the ranks are."""
        return enough(self.named, self.ranks)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Which hosts, as `hvdkit run` has them, and what is trained on them."""
    parser.add_argument(
        *RANKS, type=int, metavar="N", help=f"ranks (default: all slots, or {_DEFAULT_RANKS})"
    )
    hosts.add_options(parser)
    parser.add_argument("--network-interface", default="", metavar="NAME", help="the only one to use")


def prepare(asked: argparse.Namespace, say: Say) -> Ground:
    """Examine the hosts of these options. Raises: HostError, UsageError, LauncherError, PreflightError."""
    named = hosts.from_options(asked) or hosts_of_allocation(os.environ)
    if asked.num_proc is not None and asked.num_proc < 1:
        raise UsageError(f"-np {asked.num_proc}", fix="1 or more ranks")
    named = named or HostList((Host("localhost", asked.num_proc or _DEFAULT_RANKS),))
    ranks = asked.num_proc if asked.num_proc is not None else named.slots
    used = enough(named, ranks)
    find_horovodrun()
    ssh = Ssh(asked.ssh_port, asked.ssh_identity_file)
    say(f"examining {used.argument}")
    examination = Examination(used, ranks, ssh=ssh, interface=asked.network_interface)
    report = examine(replace(examination, checks=preflight.checks("")), say)
    if THREADS not in os.environ:  # ranks are given threads all the same
        report = replace(report, findings=tuple(each for each in report.findings if each.check != "threads"))
    preflight.judge(report, force=False)
    return Ground(named, ranks, ssh, report)


def threads_for(ground: Ground) -> dict[str, str]:
    """OMP_NUM_THREADS as it is set here, else this machine's cores shared among the ranks of a host.

    The same for each kind of job: torchrun would choose 1, and a rank of Horovod all cores.
    """
    return {THREADS: os.environ.get(THREADS, str(cores_of_a_rank(ground)))}


def cores_of_a_rank(ground: Ground) -> int:
    """This machine's cores divided by the ranks of a host, 1 at least."""
    most = max(host.slots for host in ground.used.hosts)
    return max(1, len(os.sched_getaffinity(0)) // most)


def run(ground: Ground, kind: str, steps: int, what: Sequence[str], setting: Setting) -> Recorded:
    """Run one job to its last step. kind: of hvdkit.bench.links. what: a model, or a script with arguments.

    Raises: MeasuredJobError, KeyboardInterrupt; whatever happens, no rank is left.
    """
    command = interpreter.module("hvdkit.bench.rank", kind, str(steps), *what)
    output = run_command(ground, kind, command, setting)
    recorded = find(output)
    if recorded is None:
        raise MeasuredJobError(f"the {kind} job of {what[0]} ended without a record:\n{output[-2000:]}")
    return recorded


def run_command(ground: Ground, kind: str, command: Sequence[str], setting: Setting) -> str:
    """What rank 0 of a job prints. Raises: as `run`."""
    ranks = 1 if kind == "one" else ground.ranks
    wanted = Start(
        ranks,
        enough(ground.named, ranks),
        "gloo" if kind == "ddp" else setting.controller,
        ssh=ground.ssh,
        yields=setting.yields,
        world="torch" if kind == "ddp" else "",
    )
    start = preflight.start(ground.report, wanted)
    environ = environment.for_launcher({**os.environ, **setting.variables})
    with tempfile.TemporaryDirectory(prefix="hvdkit-bench-") as name:
        outcome = job.run(start, command, environ, 0, Path(name))
        log = Path(name, "rank.0.log")
        output = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
    if outcome.code:
        first = outcome.first
        who = f"rank {first.rank} on {first.host}" if first else "the launcher"
        raise MeasuredJobError(
            f"{who} failed in the {kind} job:\n{outcome.traceback or output[-2000:]}",
            fix="make the same job work with hvdkit run",
        )
    return output
