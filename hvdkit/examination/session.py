"""Examine this machine, or several hosts together: a doctor on each, told about the others; then judge."""

from __future__ import annotations

import json
import os
import queue
import shlex
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hvdkit import interpreter
from hvdkit.examination import meeting
from hvdkit.examination.check import Check, Request
from hvdkit.examination.checks import CHECKS
from hvdkit.examination.finding import Finding, Level
from hvdkit.examination.gather import gather, gathering
from hvdkit.examination.judge import judge
from hvdkit.examination.meeting import Hello
from hvdkit.hosts.environment import passed
from hvdkit.hosts.interfaces import Route, is_own_address
from hvdkit.hosts.lists import Host, HostList
from hvdkit.hosts.ssh import Ssh, refusal

LAUNCHER = "this machine"  # when it is none of the hosts
_START_S = 60.0
_NO_FOLDER = 66


@dataclass(frozen=True)
class Examination:
    """What to examine. hosts: None is this machine alone. interface: the only one to use, "" for any."""

    hosts: HostList | None = None
    ranks: int = 1
    script: str = ""
    ctrl_port: int = 0
    ssh: Ssh = field(default_factory=Ssh)
    interface: str = ""
    checks: tuple[Check, ...] = tuple(CHECKS.values())


@dataclass(frozen=True)
class Report:
    """Findings in the order of the checks; facts by host and check; the route between the hosts, if there
    is one. hosts: those that were examined; LAUNCHER where this machine is none of them.
    """

    findings: tuple[Finding, ...]
    facts: Mapping[str, Mapping[str, Any]]
    route: Route | None
    hosts: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Nothing was found that counts."""
        return not any(finding.level.counts for finding in self.findings)


def examine(wanted: Examination, progress: Callable[[str], None]) -> Report:
    """Run the checks. Never raises for what is wrong with a host: that is a finding."""
    hosts = wanted.hosts.hosts if wanted.hosts else ()
    if not all(is_own_address(host.name) for host in hosts):
        return _together(wanted, hosts, progress)
    if not hosts:
        return _alone(wanted, Host("", wanted.ranks))
    # horovodrun starts the ranks of this machine without ssh, under whatever names.
    report = _alone(wanted, Host(hosts[0].name, sum(host.slots for host in hosts)))
    return replace(report, hosts=tuple(host.name for host in hosts))


def _alone(wanted: Examination, host: Host) -> Report:
    problem = ""
    if wanted.ctrl_port:
        try:
            meeting.bind(wanted.ctrl_port).close()
        except OSError as error:
            problem = str(error.strerror)
    request = Request(host.name, host.slots, wanted.ranks, wanted.script, wanted.ctrl_port, problem)
    facts = {host.name: gather(gathering(wanted.checks, CHECKS), request)}
    findings = judge(wanted.checks, facts, {host.name: request})
    return Report(tuple(findings), facts, None, (host.name,))


def _together(wanted: Examination, hosts: Sequence[Host], progress: Callable[[str], None]) -> Report:
    here = next((host.name for host in hosts if is_own_address(host.name)), LAUNCHER)
    slots = {host.name: host.slots for host in hosts}
    names = [*slots, LAUNCHER] if here is LAUNCHER else list(slots)
    # The job's first host, or the launcher: where the control port is bound.
    control = here
    findings: list[Finding] = []
    with ExitStack() as stack, ThreadPoolExecutor(len(names)) as pool:
        progress(f"asking {', '.join(names)}")

        def start(name: str) -> _Talk | Finding:
            port = wanted.ctrl_port if name == control else 0
            return _start(name, None if name == here else wanted.ssh, port, stack)

        started = dict(zip(names, pool.map(start, names)))
        talks = {name: talk for name, talk in started.items() if isinstance(talk, _Talk)}
        findings += [finding for finding in started.values() if isinstance(finding, Finding)]
        hellos = {name: talk.hello for name, talk in talks.items()}
        way = meeting.way(hellos, wanted.interface)
        base = Request(
            ranks=wanted.ranks,
            script=wanted.script,
            ctrl_port=wanted.ctrl_port,
            ssh=tuple(wanted.ssh.options),
        )
        requests = meeting.requests(base, hellos, slots, way)
        progress(f"examining {', '.join(talks)}")
        asked = gathering(wanted.checks, CHECKS)
        answers = pool.map(lambda name: talks[name].examine(asked, requests[name]), talks)
        facts = dict(zip(talks, answers))
    return Report((*findings, *judge(wanted.checks, facts, requests)), facts, way, tuple(talks))


@dataclass(frozen=True)
class _Talk:
    """The conversation with the doctor of one host; what it said first."""

    process: subprocess.Popen[str]
    lines: queue.Queue[str]
    hello: Hello

    def examine(self, checks: list[Check], request: Request) -> dict[str, Any]:
        """Its facts, with the clock measured on the way; an error for each check where it stays silent."""
        limit = max((check.timeout_s for check in checks), default=0.0) + _START_S
        try:
            before = time.time()
            theirs = self._ask({"clock": True}, _START_S)["clock"]
            after = time.time()
            message = {
                "request": request.as_json(),
                "checks": [check.id for check in checks],
                "environment": passed(os.environ),
            }
            facts: dict[str, Any] = self._ask(message, limit)["facts"]
        except (queue.Empty, OSError, ValueError) as error:
            reason = str(error) or f"no answer within {limit:g} s"
            return {check.id: {"error": reason} for check in checks}
        if "clocks" in facts:
            facts["clocks"] = {
                "value": {"offset_s": theirs - (before + after) / 2, "within_s": (after - before) / 2}
            }
        return facts

    def _ask(self, message: dict[str, Any], limit: float) -> dict[str, Any]:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()
        answer: dict[str, Any] = json.loads(self.lines.get(timeout=limit))
        return answer


def _start(name: str, ssh: Ssh | None, ctrl_port: int, stack: ExitStack) -> _Talk | Finding:
    """A doctor on a host, by ssh or (None) on this machine; what stands in the way where there is none."""
    command = interpreter.module("hvdkit.examination.agent", str(ctrl_port))
    if ssh is not None:
        found = os.environ.get("PYTHONPATH")
        settings = ["env", f"PYTHONPATH={found}"] if found else []
        folder = f"cd {shlex.quote(str(Path.cwd()))} || exit {_NO_FOLDER}; "
        command = ssh.command(name, ["sh", "-c", f"{folder}exec {shlex.join([*settings, *command])}"])
    process, lines, errors = stack.enter_context(_process(command))
    try:
        hello = Hello.from_json(json.loads(lines.get(timeout=_START_S)))
    except queue.Empty:
        return _refused(name, None, "")
    except ValueError:
        process.wait(timeout=_START_S)
        return _refused(name, process.returncode, "".join(errors))
    return _Talk(process, lines, hello)


@contextmanager
def _process(command: list[str]) -> Iterator[tuple[subprocess.Popen[str], queue.Queue[str], list[str]]]:
    """A process, its lines (an empty one at the end) and what it prints to standard error."""
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    )
    lines: queue.Queue[str] = queue.Queue()
    errors: list[str] = []

    def read() -> None:
        assert process.stdout is not None
        for line in process.stdout:
            lines.put(line)
        listening.join()  # what it died of is complete before its end is told
        lines.put("")

    def listen() -> None:
        assert process.stderr is not None
        errors.extend(process.stderr)

    listening = threading.Thread(target=listen, daemon=True)
    listening.start()
    threading.Thread(target=read, daemon=True).start()
    try:
        yield process, lines, errors
    finally:
        process.kill() if process.poll() is None and not _hang_up(process) else process.wait()


def _hang_up(process: subprocess.Popen[str]) -> bool:
    """Close its input, which ends a doctor; whether it ended."""
    assert process.stdin is not None
    try:
        process.stdin.close()
        process.wait(timeout=3.0)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return True


def _refused(name: str, code: int | None, errors: str) -> Finding:
    """Why no doctor started on a host."""
    python = sys.executable
    if code == _NO_FOLDER:
        parts = (
            f"{Path.cwd()} is not on {name}",
            "every rank starts in the folder that the job is started from",
            f"rsync -a ./ {name}:{Path.cwd()}/",
        )
    elif code in (126, 127):
        parts = (
            f"{python} is not on {name}",
            "horovodrun starts the same Python by the same path on every host",
            f"create the same environment on {name}",
        )
    elif "No module named" in errors:
        missing = errors.strip().splitlines()[-1].rpartition(" ")[2].strip("'\")")
        parts = (
            f"{name}: {python} has no {missing.partition('.')[0]}",
            "each rank is started through hvdkit",
            f"ssh {name} {python} -m pip install hvdkit",
        )
    else:
        problem = refusal(name, code, errors)
        parts = (problem.seen, problem.why, problem.fix)
    return Finding(Level.ERROR, *parts, check="ssh", host=name)
