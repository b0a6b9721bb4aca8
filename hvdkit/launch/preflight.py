"""What is looked at before the first rank starts."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from hvdkit.errors import HvdkitError
from hvdkit.examination.check import Check
from hvdkit.examination.checks import CHECKS
from hvdkit.examination.checks.operations import built
from hvdkit.examination.finding import Level
from hvdkit.examination.report import print_findings
from hvdkit.examination.session import LAUNCHER, Report
from hvdkit.hosts.interfaces import is_own_address
from hvdkit.hosts.lists import HostList
from hvdkit.launch.horovodrun import Start
from hvdkit.source.notebook import NOTEBOOK, program_of

_OF_HOROVOD = {"horovod", "operations", "mpi"}
_MARKER = re.compile(r"# hvdkit: TODO\[(\w+)\] ?(.*)")


class PreflightError(HvdkitError):
    """A check found what would end or corrupt the job."""


class UnfinishedError(HvdkitError):
    """The script still holds what `hvdkit migrate` left to you."""


def script_of(command: Sequence[str]) -> str:
    """The file that a command runs, "" if it runs none: `python -u train.py --lr 1` is train.py."""
    return next((word for word in command if word.endswith((".py", NOTEBOOK))), "")


def refuse_unfinished(script: str) -> None:
    """Raises: UnfinishedError, with the place of each marker that is left."""
    file = Path(script)
    if not script or not file.is_file():
        return
    text = program_of(file) if file.suffix == NOTEBOOK else file.read_text(encoding="utf-8", errors="replace")
    found = [
        f"{script}:{number}: {match[1]}: {match[2]}"
        for number, line in enumerate(text.splitlines(), 1)
        if (match := _MARKER.search(line))
    ]
    if found:
        raise UnfinishedError(
            "the migration is not finished:\n  " + "\n  ".join(found),
            why="the script is not known to compute what the original did",
            fix="do what each line says and remove it, or hvdkit run --force",
        )


def checks(world: str) -> tuple[Check, ...]:
    """The checks of a job: ranks that Horovod does not connect need neither it nor another framework.

    torch.distributed's are given one thread each, as torchrun does where nothing is said.
    """
    left_out = {"torch": {"tensorflow", "threads"}, "tensorflow": {"torch"}}.get(world)
    if left_out is None:
        return tuple(CHECKS.values())
    return tuple(each for each in CHECKS.values() if each.id not in left_out | _OF_HOROVOD)


def judge(report: Report, force: bool) -> None:
    """Print what counts to stderr. Raises: PreflightError if one of it is an error, unless `force`."""
    counting = [finding for finding in report.findings if finding.level.counts]
    print_findings(counting, sys.stderr)
    errors = [finding for finding in counting if finding.level is Level.ERROR]
    if errors and not force:
        ids = sorted({finding.check for finding in errors})
        raise PreflightError(
            f"{len(errors)} of the checks before the start failed: {', '.join(ids)}",
            why="no rank was started",
            fix="do what each line above says; hvdkit run --force starts anyway",
        )


def start(report: Report, wanted: Start) -> Start:
    """What to start, completed by what the report says of the hosts: route, controller, crowded cores.

    wanted: controller is "" where horovodrun's own choice is to be made: MPI where it was built in and is
    installed, else Gloo.
    Raises: PreflightError if ranks on other hosts would have no way to this one, whatever was forced.
    """
    here = all(is_own_address(host.name) for host in wanted.hosts.hosts)
    if report.route is None and not here:
        raise PreflightError(
            f"no network connects every host to every other: {', '.join(report.hosts)} were examined",
            why="no rank was started; ranks report to this machine and connect to each other",
            fix=f"hvdkit doctor -H {wanted.hosts.argument}",
        )
    if wanted.controller and not wanted.world:
        _refuse_unbuilt(wanted.controller, report.facts)
    return replace(
        wanted,
        controller=wanted.controller or _controller(report.facts),
        launcher=next((host.name for host in wanted.hosts.hosts if is_own_address(host.name)), LAUNCHER),
        # More hosts may have been examined than the job has now: on one machine ranks meet by its loopback.
        route=None if here and len(wanted.hosts.hosts) == 1 else report.route,
        crowded=_crowded(report.facts, wanted.hosts, here),
    )


def _controller(facts: Mapping[str, Mapping[str, Any]]) -> str:
    answers = [fact["horovod"]["value"] for fact in facts.values() if "value" in fact.get("horovod", {})]
    return "mpi" if shutil.which("mpirun") and all("mpi" in built(answer) for answer in answers) else "gloo"


def _refuse_unbuilt(controller: str, facts: Mapping[str, Mapping[str, Any]]) -> None:
    for host, fact in facts.items():
        has = built(fact["horovod"]["value"]) if "value" in fact.get("horovod", {}) else ()
        if has and controller not in has:  # where nothing loads, the check of Horovod has said so
            raise PreflightError(
                f"Horovod on {host or 'this machine'} was built without {controller}",
                why="no rank was started; its ranks could not meet",
                fix="leave the option out, or hvdkit install-horovod",
            )


def _crowded(facts: Mapping[str, Mapping[str, Any]], used: HostList, here: bool) -> bool:
    """Whether a host has at least as many ranks as cores. here: all are this machine, by any name."""
    slots = {host.name: used.slots if here else host.slots for host in used.hosts}
    threads = {name: fact.get("threads", {}).get("value") for name, fact in facts.items()}
    return any(known and slots.get(name, 0) >= known["cores"] for name, known in threads.items())
