"""The hosts of these tests are hosts: own names, addresses, ssh, processes; and each fault is a real one."""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Callable

import psutil
import pytest

from .hosts import Cluster

pytestmark = pytest.mark.cluster

SSH = ["ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=5"]


def test_hosts_have_names_addresses_and_ssh_both_ways(pair: Cluster) -> None:
    assert [pair.run(name, ["hostname"]).stdout for name in pair.names] == ["a\n", "b\n"]
    assert [pair.address(name) for name in pair.names] == ["10.77.0.1", "10.77.0.2"]
    assert pair.run("a", [*SSH, "b", "hostname; echo $HOME"]).stdout == f"b\n{pair.home('b')}\n"
    assert pair.run("b", [*SSH, pair.address("a"), "hostname"]).stdout == "a\n"


def test_processes_of_a_host_are_its_own(pair: Cluster) -> None:
    job = pair.start("a", ["bash", "-c", "sleep 600 & wait"])
    try:
        wait_for(lambda: sorted(names(pair, "a")) == ["bash", "sleep"])
        assert names(pair, "b") == []
        pair.signal(job, signal.SIGTERM)
        job.communicate(timeout=30)
        wait_for(lambda: names(pair, "a") == [])
    finally:
        pair.signal(job, signal.SIGKILL)


def test_a_command_that_does_not_end_is_killed(pair: Cluster) -> None:
    with pytest.raises(AssertionError, match=r"not done after 0\.5 s on a"):
        pair.run("a", ["bash", "-c", "sleep 600 & wait"], timeout=0.5)
    wait_for(lambda: names(pair, "a") == [])


def test_nothing_of_the_test_process_is_inherited(pair: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HVDKIT_SECRET", "1")
    assert "HVDKIT_SECRET" not in pair.run("a", ["env"]).stdout
    assert "ASKED=1\n" in pair.run("a", ["env"], env={"ASKED": "1"}).stdout


def test_faults_are_real(cluster: Cluster) -> None:
    reach_b = [*SSH, "b", "true"]
    cluster.stop_sshd("b")
    assert "Connection refused" in cluster.run("a", reach_b, check=False).stderr
    cluster.start_sshd("b")
    cluster.run("a", reach_b)
    cluster.change_host_key("b")
    assert "HOST IDENTIFICATION HAS CHANGED" in cluster.run("a", reach_b, check=False).stderr

    cluster.forget("a", "b")
    assert "not resolve" in cluster.run("a", reach_b, check=False).stderr
    cluster.set_hostname("b", "a")
    assert cluster.run("b", ["hostname"]).stdout == "a\n"

    cluster.limit_shm("a", "1m")
    assert cluster.run("a", ["df", "--output=size", "/dev/shm"]).stdout.split()[-1] == "1024"
    assert cluster.run("b", ["df", "--output=size", "/dev/shm"]).stdout.split()[-1] == str(1024 * 1024)

    cluster.add_interface("a", "docker0", "172.17.0.1/16")
    cluster.rename_interface("a", "eth0", "ens3")
    shown = cluster.run("a", ["ip", "-brief", "address"]).stdout
    assert [line.split()[0].split("@")[0] for line in shown.splitlines()] == ["lo", "docker0", "ens3"]


def test_faults_of_the_network_are_real(cluster: Cluster) -> None:
    ping = ["bash", "-c", f"exec 3<> /dev/tcp/{cluster.address('b')}/22"]
    cluster.limit_rate("b", "10mbit")
    cluster.run("a", ping)
    cluster.cut("b")
    assert cluster.run("a", ["timeout", "2", *ping], check=False).returncode == 124
    cluster.mend("b")
    cluster.run("a", ping)
    cluster.drop_port("b", 22)
    assert cluster.run("a", ["timeout", "2", *ping], check=False).returncode == 124


def names(cluster: Cluster, host: str) -> list[str]:
    found = []
    for process in cluster.processes(host):
        with contextlib.suppress(psutil.NoSuchProcess):  # a service of an earlier test may end meanwhile
            found.append(process.name())
    return found


def wait_for(condition: Callable[[], bool], seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"not so after {seconds} s"
        time.sleep(0.05)
