"""What stops a start, and what a start takes from the report."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hvdkit.examination.finding import Finding, Level
from hvdkit.examination.session import Examination, Report, examine
from hvdkit.hosts.interfaces import Interface, Route
from hvdkit.hosts.lists import Host, HostList, parse_hosts
from hvdkit.launch.horovodrun import Start
from hvdkit.launch.preflight import (
    PreflightError,
    UnfinishedError,
    judge,
    refuse_unfinished,
    script_of,
    start,
)

LOADED = {"mpi": False, "gloo": True, "nccl": False}
TORCH = {"version": "2.13.0", "cuda": None, "gpus": 0, "horovod": LOADED}


def report(*levels: Level, cores: int = 8) -> Report:
    facts: dict[str, Any] = {
        "horovod": {"value": {"torch": TORCH, "tensorflow": None}},
        "threads": {"value": {"cores": cores, "threads": 1}},
    }
    findings = tuple(Finding(level, "seen", "why", "fix", "shm", "a") for level in levels)
    return Report(findings, {"localhost": facts}, None, ("localhost",))


@pytest.mark.parametrize("level", [Level.OK, Level.NOTE, Level.WARNING, Level.UNKNOWN])
def test_only_errors_stop(level: Level, capsys: pytest.CaptureFixture[str]) -> None:
    judge(report(level), force=False)
    assert ("seen" in capsys.readouterr().err) == level.counts


def test_an_error_stops_unless_forced() -> None:
    with pytest.raises(PreflightError, match="shm"):
        judge(report(Level.ERROR), force=False)
    judge(report(Level.ERROR), force=True)


@pytest.mark.parametrize(
    ("command", "script"),
    [
        (["python", "-u", "train.py", "--lr", "1"], "train.py"),
        (["python", "-m", "package"], ""),
        (["python", "-c", "pass"], ""),
    ],
)
def test_script_of(command: list[str], script: str) -> None:
    assert script_of(command) == script


def test_markers_are_named_with_their_places(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_text("a = 1\n    # hvdkit: TODO[HVD304] shard it\n# hvdkit: TODO[HVD510] join it\n")
    with pytest.raises(UnfinishedError, match=r"train.py:2: HVD304: shard it\n.*train.py:3: HVD510"):
        refuse_unfinished(str(file))
    file.write_text("# TODO something else\n")
    refuse_unfinished(str(file))


def test_a_start_takes_controller_and_cores_from_the_report() -> None:
    made = start(report(cores=2), Start(2, parse_hosts("localhost:2"), ""))
    assert (made.controller, made.crowded, made.launcher) == ("gloo", True, "localhost")
    assert not start(report(cores=3), Start(2, parse_hosts("localhost:2"), "")).crowded


def test_without_a_network_nothing_is_started_even_by_force() -> None:
    with pytest.raises(PreflightError, match="no network"):
        start(report(), Start(2, parse_hosts("192.0.2.77:2"), "gloo"))


def test_a_controller_that_was_not_built_is_refused() -> None:
    found = report()
    fact = found.facts["localhost"]["horovod"]["value"]["torch"]["horovod"]
    fact["mpi"] = False
    try:
        with pytest.raises(PreflightError, match="built without mpi"):
            start(found, Start(2, parse_hosts("localhost:2"), "mpi"))
        assert start(found, Start(2, parse_hosts("localhost:2"), "gloo")).controller == "gloo"
        assert start(found, Start(2, parse_hosts("localhost:2"), "gloo", world="torch")).world == "torch"
    finally:
        fact["mpi"] = True


def test_the_one_host_that_is_left_needs_no_network() -> None:
    """After the other was lost: horovodrun refuses an interface for ranks of one machine."""
    route = Route({"localhost": Interface("eth0", "10.0.0.1", "10.0.0.0/24")})
    found = replace(report(), route=route)
    assert start(found, Start(2, parse_hosts("localhost:2"), "gloo")).route is None
    two = HostList((Host("localhost", 1), Host("127.0.0.1", 1)))
    assert start(found, Start(2, two, "gloo")).route == route


def test_this_machine_under_two_names_is_examined_once() -> None:
    two = parse_hosts("localhost:1,127.0.0.1:1")
    asked: list[str] = []
    found = examine(Examination(two, 2, checks=()), asked.append)
    assert (found.hosts, found.route, asked) == (("localhost", "127.0.0.1"), None, [])
    assert start(report(cores=2), Start(2, two, "gloo")).crowded  # both ranks are on its cores
