"""The bugs that end or stop a job, and those that take two nodes; no rule is without a reproduction."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from hvdkit.check.rules import all_rules
from tests.warm import forked

JOBS = Path(__file__).with_name("jobs.py")

# On a machine without a GPU these cannot be shown: there is no device to choose.
NEEDS_GPU = {
    "HVD851": "all ranks of a node on one GPU",
    "HVD852": "a model on the first GPU before the device is chosen",
}


def job(program: str, variant: str, folder: Path) -> tuple[int, str]:
    """Exit code and output of a 2-rank job; a stalled one is ended by Horovod after some seconds."""
    command = ["horovodrun", "-np", "2", "-H", "localhost:2", "--gloo"]
    environment = {
        **os.environ,
        "HOROVOD_STALL_CHECK_TIME_SECONDS": "5",
        "HOROVOD_STALL_SHUTDOWN_TIME_SECONDS": "10",
    }
    done = subprocess.run(
        forked([*command, sys.executable, str(JOBS), program, variant, str(folder)], environment),
        capture_output=True,
        text=True,
        env=environment,
        timeout=400,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.launch
@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("rank_test", "(?i)stall|shut ?down"),  # HVD805: a hang, cut by a bound
        ("unnamed", "same name"),  # HVD821
        ("before_init", "has not been initialized"),  # HVD853
        ("uneven", "(?i)stall|shut ?down"),  # HVD817
        ("leave_apart", "(?i)stall|shut ?down"),  # HVD873
        ("workers", "DataLoader worker|bootstrapping|(?i:stall|shut ?down|gloo)"),  # HVD855
    ],
)
def test_the_job_fails_and_the_fixed_one_does_not(program: str, said: str, tmp_path: Path) -> None:
    code, output = job(program, "wrong", tmp_path)
    assert code != 0
    assert re.search(said, output), output
    code, output = job(program, "fixed", tmp_path)
    assert code == 0, output


@pytest.mark.launch
def test_two_nodes(tmp_path: Path) -> None:
    """HVD812, HVD850, HVD860, on two nodes of one rank each, brought together by Horovod's rendezvous."""
    from horovod.runner.common.util.hosts import HostInfo, get_host_assignments
    from horovod.runner.http.http_server import RendezvousServer

    server = RendezvousServer()
    port = server.start()
    server.init(get_host_assignments([HostInfo("a", 1), HostInfo("b", 1)], 2))
    ranks = []
    for rank in range(2):
        variables = {
            "RANK": rank,
            "SIZE": 2,
            "LOCAL_RANK": 0,
            "LOCAL_SIZE": 1,
            "CROSS_RANK": rank,
            "CROSS_SIZE": 2,
            "HOSTNAME": "ab"[rank],
            "GLOO_RENDEZVOUS_ADDR": "127.0.0.1",
            "GLOO_RENDEZVOUS_PORT": port,
            "GLOO_IFACE": "lo",
            "GLOO_TIMEOUT_SECONDS": 300,  # the two may start far apart on a busy machine
            "CONTROLLER": "gloo",
            "CPU_OPERATIONS": "gloo",
        }
        environment = {**os.environ, **{f"HOROVOD_{key}": str(value) for key, value in variables.items()}}
        command = [sys.executable, str(JOBS), "two_nodes", str(tmp_path)]
        ranks.append(subprocess.Popen(forked(command, environment), env=environment))
    try:
        assert [process.wait(timeout=300) for process in ranks] == [0, 0]
    finally:
        for process in ranks:
            process.kill()
        server.stop()
    one, two = (ast.literal_eval((tmp_path / f"{rank}.txt").read_text()) for rank in range(2))
    assert one["local share"] == two["local share"]
    assert sorted(one["share"] + two["share"]) == list(range(8))
    assert (one["device by rank exists"], two["device by rank exists"]) == (True, False)
    assert (one["device by local rank exists"], two["device by local rank exists"]) == (True, True)
    assert (one["writes by local rank"], two["writes by local rank"]) == (True, True)
    assert (one["writes by rank"], two["writes by rank"]) == (True, False)


def test_every_rule_has_a_reproduction() -> None:
    tests = Path(__file__).parents[1]
    files = [*tests.glob("check/test_repro_*.py"), tests / "tf" / "test_tf_check.py"]
    text = "".join(file.read_text(encoding="utf-8") for file in files)
    for rule in all_rules():
        assert rule.id in text or f"test_{rule.id.lower()}_" in text, f"{rule.id} has no reproduction"
    assert set(NEEDS_GPU) <= {rule.id for rule in all_rules()}
