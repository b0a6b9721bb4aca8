"""The doctor measures what ranks on two hosts really get, by ssh and from inside an MPI job."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hvdkit.doctor.allreduce import SIZES

from .hosts import Cluster

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(1800)]

RATE = 80e6  # bits a second, what a host may send


def largest(report: dict[str, Any]) -> dict[str, Any]:
    measured: dict[str, Any] = report["allreduce"][-1]
    assert [each["size"] for each in report["allreduce"]] == list(SIZES)
    return measured


def test_bus_bandwidth_is_that_of_the_wire(cluster: Cluster) -> None:
    for name in cluster.names:
        cluster.limit_rate(name, "80mbit")
    command = ["python", "-m", "hvdkit", "doctor", "-H", "a:1,b:1", "--allreduce", "--json"]
    found = largest(json.loads(cluster.run("a", command, timeout=600).stdout))
    assert found["ranks"] == 2
    assert 0.3 * RATE < found["bus"] * 8 < 1.1 * RATE


def test_inside_an_mpi_job_no_ssh_is_asked(pair: Cluster) -> None:
    launch = ["mpirun", "-np", "2", "-H", "a:1,b:1", "--mca", "btl_tcp_if_include", "eth0"]
    command = [
        *launch,
        "-x",
        "PATH",
        "-x",
        "PYTHONPATH",
        "python",
        "-m",
        "hvdkit",
        "doctor",
        "--allreduce",
        "--json",
    ]
    report = json.loads(pair.run("a", command, timeout=600).stdout)
    assert report["holds"] and sorted(report["hosts"]) == ["a", "b"]
    looked_at = {(each["check"], each["host"]) for each in report["findings"]}
    assert {("reach", "a"), ("reach", "b"), ("names", "a"), ("names", "b"), ("network", "")} <= looked_at
    assert "ssh" not in {check for check, _ in looked_at}
    assert largest(report)["ranks"] == 2
