"""The command line of horovodrun for each kind of network."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from hvdkit.hosts.interfaces import Interface, Route
from hvdkit.hosts.lists import parse_hosts
from hvdkit.hosts.ssh import Ssh
from hvdkit.launch.horovodrun import UNCHECKED, Start, command_line

ETH = Interface("eth0", "10.0.0.1", "10.0.0.0/24")
ENS = Interface("ens3", "10.0.0.2", "10.0.0.0/24")
HOSTS = parse_hosts("a:2,b:2")


def words(start: Start) -> list[str]:
    made = command_line(start, ["python", "train.py"])
    assert made[:2] == [*UNCHECKED]
    assert made[-2:] == ["python", "train.py"]
    return made[2:-2]


def test_one_machine() -> None:
    start = Start(2, parse_hosts("localhost:2"), "gloo")
    assert words(start) == ["-np", "2", "-H", "localhost:2", "--disable-cache", "--gloo"]


def test_one_name() -> None:
    route = Route({"a": ETH, "b": Interface("eth0", "10.0.0.2", "10.0.0.0/24")})
    assert words(Start(4, HOSTS, "gloo", "a", route))[-2:] == ["--network-interfaces", "eth0"]
    made = words(Start(4, HOSTS, "mpi", "a", route, Ssh(2222), crowded=True, mpi_args="--report-bindings"))
    assert made[-5:-1] == ["--network-interfaces", "eth0", "-p", "2222"]
    assert made[-1] == (
        "--mpi-args=--mca mpi_yield_when_idle 1 --mca oob_tcp_if_include eth0 --report-bindings"
    )


def test_yielding_that_was_asked_for_is_stronger_than_crowded_cores() -> None:
    yielding = "--mpi-args=--mca mpi_yield_when_idle 1"
    assert words(Start(2, HOSTS, "mpi", yields=True))[-1] == yielding
    assert yielding not in words(Start(2, HOSTS, "mpi", crowded=True, yields=False))
    assert yielding not in words(Start(2, HOSTS, "gloo", yields=True))


def test_two_names_become_one_network_for_mpi_and_the_launchers_own_for_gloo() -> None:
    route = Route({"a": ETH, "b": ENS})
    assert words(Start(4, HOSTS, "gloo", "b", route))[-2:] == ["--network-interfaces", "ens3"]
    made = words(Start(4, HOSTS, "mpi", "a", route))
    assert made[-3:] == [
        "--network-interfaces",
        "10.0.0.0/24",
        "--mpi-args=--mca oob_tcp_if_include 10.0.0.0/24",
    ]


def test_mpirun_gets_options_that_open_mpi_6_takes(tmp_path: Path) -> None:
    """It reads `-bind-to none` as a program named none."""
    mpirun = tmp_path / "mpirun"
    mpirun.write_text('#!/bin/sh\n[ "$1" = --version ] && echo "mpirun (Open MPI) 6.0.0" || echo "$*"\n')
    mpirun.chmod(0o755)
    command = [*UNCHECKED, "-np", "1", "-H", "localhost:1", "--mpi", "true"]
    environment = {**os.environ, "PATH": os.pathsep.join([str(tmp_path), os.environ["PATH"]])}
    said = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    assert " --bind-to none --map-by slot " in said and " -bind-to" not in said
