"""`hvdkit doctor`: its arguments, what it prints, its exit code."""

from __future__ import annotations

import argparse
import io
import os
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

from hvdkit import interpreter, reports
from hvdkit.arguments import CommandParser, parsed
from hvdkit.errors import HvdkitError, UsageError
from hvdkit.examination.checks import CHECKS
from hvdkit.examination.finding import Level
from hvdkit.hosts import lists as hosts
from hvdkit.hosts.ssh import Ssh

if TYPE_CHECKING:
    from hvdkit.doctor.allreduce import Measured
    from hvdkit.examination.session import Examination, Report

EXAMPLES = """\
hvdkit doctor                                 this machine
hvdkit doctor -H a:2,b:2 --script train.py    two hosts, compared: versions, names, ssh, ports, the script
hvdkit doctor --hostfile hosts --quiet        only what is wrong
hvdkit doctor -H a:2,b:2 --allreduce          and the measured bandwidth between the ranks
hvdkit doctor --only shm,limits --json        two checks, as JSON
srun hvdkit doctor --allreduce                inside an MPI job: no ssh, rank 0 reports
"""
EXITS = {"0": "nothing found", "1": "something found", "2": "the hosts could not be examined"}


class MeasureError(HvdkitError):
    """The job that measures did not get to its end."""


def parser() -> CommandParser:
    """The arguments of the command."""
    made = CommandParser(
        "doctor",
        "Find what prevents a Horovod job on this machine, or on several hosts.",
        EXAMPLES,
        EXITS,
        "Nothing is changed on any host.",
        "hvdkit doctor [options]",
    )
    hosts.add_options(made)
    made.add_argument(
        "--script", default="", metavar="FILE", help="check that FILE is identical on all hosts"
    )
    made.add_argument("--ctrl-port", type=int, default=0, metavar="PORT", help="check that this port is free")
    made.add_argument(
        "--allreduce", action="store_true", help="also start a job and measure bandwidth and latency"
    )
    made.add_argument("--only", metavar="ID,ID", help="only these checks")
    made.add_argument("--list", action="store_true", help="list the checks and exit")
    reports.add_reports(made, {"--json": "findings and facts as JSON"})
    made.add_argument("--quiet", action="store_true", help="print only what is wrong")
    return made


def main(argv: list[str]) -> int:
    """Exit code: 0 nothing found, 1 something found. Raises: HvdkitError."""
    asked = parsed(parser(), argv[1:])
    if asked.list:
        width = max(map(len, CHECKS))
        print("\n".join(f"{check.id:<{width}}  {check.title}" for check in CHECKS.values()))
        return 0
    from hvdkit.doctor import in_job
    from hvdkit.examination.session import Examination, examine

    named = hosts.from_options(asked)
    wanted = Examination(
        hosts=named,
        ranks=named.slots if named else 1,
        script=asked.script,
        ctrl_port=asked.ctrl_port or (named.ctrl_port if named else 0),
        ssh=Ssh(asked.ssh_port, asked.ssh_identity_file),
        checks=tuple(CHECKS[name] for name in _chosen(asked.only)),
    )
    if named is None and in_job.is_mpi_job(os.environ):
        found = in_job.examine(wanted)
        speed = in_job.measure() if asked.allreduce else []
        return 0 if found is None else _tell(found, speed, asked)
    report = examine(wanted, _say)
    return _tell(report, _measure(report, wanted) if asked.allreduce else [], asked)


def _measure(report: Report, wanted: Examination) -> list[Measured]:
    """In a job over the hosts that were examined; nothing where an error stands in its way."""
    from hvdkit.doctor import allreduce
    from hvdkit.hosts import environment
    from hvdkit.hosts.lists import Host, HostList
    from hvdkit.launch import job, preflight
    from hvdkit.launch.horovodrun import Start
    from hvdkit.launch.screen import Screen

    if any(finding.level is Level.ERROR for finding in report.findings):
        _say("allreduce not measured: fix the errors first")
        return []
    _say("measuring allreduce")
    listed = wanted.hosts or HostList((Host("localhost", 2),))
    start = preflight.start(report, Start(listed.slots, listed, "", ssh=wanted.ssh))
    output = io.BytesIO()
    command = interpreter.module("hvdkit.doctor.allreduce")
    environ = environment.for_launcher(os.environ)
    job.run(start, command, environ, 0, None, screen=Screen(out=output))
    results = allreduce.find(output.getvalue().decode())
    if not results:
        raise MeasureError(
            "the allreduce job printed no result", why="its output is above", fix="hvdkit run -np 2 true"
        )
    return results


def _tell(report: Report, speed: list[Measured], asked: argparse.Namespace) -> int:
    from hvdkit.doctor.allreduce import table
    from hvdkit.examination.report import as_json, print_report

    if asked.json is not None:
        reports.put_json(asked.json, {**as_json(report), "allreduce": [asdict(each) for each in speed]})
    if asked.json != reports.STDOUT:
        if speed:
            print(f"allreduce on {speed[0].ranks} ranks\n{table(speed)}\n")
        print_report(report, asked.quiet)
    return 0 if report.holds else 1


def _say(line: str) -> None:
    print(f"hvdkit: {line}", file=sys.stderr, flush=True)


def _chosen(only: str | None) -> list[str]:
    if only is None:
        return list(CHECKS)
    names = [name.strip() for name in only.split(",")]
    unknown = [name for name in names if name not in CHECKS]
    if unknown:
        raise UsageError(f"--only {unknown[0]}: there is no such check", fix="hvdkit doctor --list")
    return names
