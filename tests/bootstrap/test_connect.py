"""Ranks that meet around init(): processes with a launcher's variables, and what is said when it fails."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from ports import free_port

pytestmark = pytest.mark.launch

ROOT = Path(__file__).parents[2]
# What init() does before and after Horovod's own, without a framework: errors come before Horovod starts.
MEET = """
import json, os, sys, types
ours = lambda: {name: value for name, value in os.environ.items() if name.startswith("HOROVOD_")}
from hvdkit.bootstrap.connect import connected
horovod = types.SimpleNamespace(is_initialized=lambda: False, mpi_built=lambda: True, gloo_built=lambda: GLOO)
with connected(horovod, None, None):
    print(json.dumps(ours()), flush=True)
    sys.stdin.read()  # Horovod's init would hold rank 0 until the others are there
"""
# Imports take longer than a short bound where the machine is busy: all ranks begin to meet together.
TOGETHER = """
import sys, hvdkit.bootstrap.connect
print("here", flush=True)
sys.stdin.readline()
"""
# Horovod itself: a set of ranks made after init needs the control port again, and so does a second init.
TRAIN = """
import torch, hvdkit.torch as hvd
def total():
    return int(hvd.allreduce(torch.tensor([hvd.rank() + 1]), op=hvd.Sum))
hvd.init(process_sets="dynamic")
sets = [hvd.add_process_set([rank]) for rank in range(2)]
alone = int(hvd.allreduce(torch.tensor([1]), op=hvd.Sum, process_set=sets[hvd.rank()]))
hvd.barrier()  # a rank that shuts down takes the other's set of one with it
hvd.shutdown()
context = hvd.init()
print(alone, total(), context.rank, context.size, context.local_rank)
hvd.shutdown()
"""


def start(code: str, rank: int, size: int, **environ: str) -> subprocess.Popen[str]:
    outside = {name: value for name, value in os.environ.items() if not name.startswith("HOROVOD_")}
    given = {"RANK": str(rank), "WORLD_SIZE": str(size), "MASTER_ADDR": "127.0.0.1"}
    return subprocess.Popen(
        [sys.executable, "-c", code.replace("GLOO", "True")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**outside, "PYTHONPATH": str(ROOT), "HVDKIT_START_TIMEOUT": "60", **given, **environ},
    )


def told(process: subprocess.Popen[str]) -> dict[str, str]:
    """The variables that a rank was given."""
    assert process.stdout is not None
    return dict(json.loads(process.stdout.readline() or "{}"))


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    stdout, stderr = process.communicate(timeout=300)
    return process.returncode, stdout, stderr


@pytest.fixture
def port() -> str:
    """MASTER_PORT; the next one is the control port."""
    return str(free_port())


def test_ranks_are_told_their_places(port: str) -> None:
    jobs = [start(MEET, rank, 3, MASTER_PORT=port) for rank in (2, 1, 0)]
    variables = [told(job) for job in jobs]
    assert [ended(job) for job in jobs] == [(0, "", "")] * 3
    assert [each["HOROVOD_LOCAL_RANK"] for each in variables] == ["2", "1", "0"]
    assert variables[0] == {
        "HOROVOD_RANK": "2",
        "HOROVOD_SIZE": "3",
        "HOROVOD_LOCAL_RANK": "2",
        "HOROVOD_LOCAL_SIZE": "3",
        "HOROVOD_CROSS_RANK": "0",
        "HOROVOD_CROSS_SIZE": "1",
        "HOROVOD_HOSTNAME": socket.gethostname(),
        "HOROVOD_CONTROLLER": "gloo",
        "HOROVOD_CPU_OPERATIONS": "gloo",
        "HOROVOD_GLOO_RENDEZVOUS_ADDR": "127.0.0.1",
        "HOROVOD_GLOO_RENDEZVOUS_PORT": str(int(port) + 1),
        "HOROVOD_GLOO_IFACE": "lo",
    }


def test_process_sets_may_come_later_and_init_may_come_again(port: str) -> None:
    results = [ended(job) for job in [start(TRAIN, rank, 2, MASTER_PORT=port) for rank in range(2)]]
    assert [(code, stdout) for code, stdout, _ in results] == [(0, "1 3 0 2 0\n"), (0, "1 3 1 2 1\n")], (
        results
    )


def test_a_rank_that_does_not_come_is_named_on_all_others_within_the_bound(port: str) -> None:
    # A busy machine takes seconds until rank 0 listens.
    variables = {"MASTER_PORT": port, "HVDKIT_START_TIMEOUT": "15"}
    jobs = [start(TOGETHER + MEET, rank, 3, **variables) for rank in (0, 2)]
    for job in jobs:
        assert job.stdout is not None and job.stdout.readline() == "here\n"
    began = time.monotonic()
    for job in jobs:
        assert job.stdin is not None
        job.stdin.write("\n")
        job.stdin.flush()
    results = [ended(job) for job in jobs]
    assert time.monotonic() - began < 90
    host = socket.gethostname()
    for code, stdout, stderr in results:
        assert (code, stdout) == (1, "")
        assert (
            f"MeetingError: of 3 ranks, rank 1 did not connect within 15 s; connected: {host}: ranks 0, 2"
            in stderr
        )


def test_without_rank_0_its_address_and_port_are_named(port: str) -> None:
    code, _, stderr = ended(start(MEET, 1, 2, MASTER_PORT=port, HVDKIT_START_TIMEOUT="3"))
    assert code == 1
    place = f"rank 0 at 127.0.0.1 (127.0.0.1), port {int(port) + 1} within 3 s"
    assert f"got no answer from {place}: [Errno 111] Connection refused" in stderr
    assert "HVDKIT_CTRL_PORT=PORT" in stderr


def test_another_world_size_ends_all_ranks_at_once(port: str) -> None:
    jobs = [start(MEET, rank, size, MASTER_PORT=port) for rank, size in ((0, 2), (1, 3))]
    results = [ended(job) for job in jobs]
    for code, _, stderr in results:
        assert code == 1
        assert "has WORLD_SIZE=3, rank 0 has 2" in stderr


def test_a_second_job_on_the_port_is_refused_and_the_first_goes_on(port: str) -> None:
    control = {"HVDKIT_CTRL_PORT": str(int(port) + 1), "HVDKIT_START_TIMEOUT": "30"}
    first = start(MEET, 0, 2, TORCHELASTIC_RUN_ID="first", MASTER_PORT=port, **control)
    _wait_until_something_listens(int(port) + 1)
    second = {"TORCHELASTIC_RUN_ID": "second", "MASTER_PORT": port, **control, "HVDKIT_START_TIMEOUT": "4"}
    strangers = [start(MEET, rank, 2, **second) for rank in range(2)]
    (zero, _, said_by_zero), (one, _, said_by_one) = [ended(job) for job in strangers]
    assert (zero, one) == (1, 1)
    assert f"the control port 127.0.0.1:{int(port) + 1} is in use on this host" in said_by_zero
    assert "a different job answers there" in said_by_one
    partner = start(MEET, 1, 2, TORCHELASTIC_RUN_ID="first", MASTER_PORT=port, **control)
    assert [told(job)["HOROVOD_SIZE"] for job in (first, partner)] == ["2", "2"]
    (zero, _, said), quiet = ended(first), ended(partner)
    assert (zero, quiet) == (0, (0, "", ""))
    place = f"hvdkit: control port 127.0.0.1:{int(port) + 1}"
    assert said == f"{place}: turned away: 127.0.0.1 asked for another job\n", "one line, however often"


def test_a_rank_without_the_secret_is_turned_away_at_once(port: str) -> None:
    known = {"MASTER_PORT": port, "HVDKIT_SECRET": "what all ranks know"}
    first = start(MEET, 0, 2, **known)
    _wait_until_something_listens(int(port) + 1)
    code, _, said = ended(start(MEET, 1, 2, MASTER_PORT=port))
    assert code == 1 and "it asks for a secret" in said
    partner = start(MEET, 1, 2, **known)
    assert [told(job)["HOROVOD_SIZE"] for job in (first, partner)] == ["2", "2"]
    assert [ended(job)[0] for job in (first, partner)] == [0, 0]


@pytest.mark.parametrize(
    ("environ", "gloo", "seen"),
    [
        ({"HOROVOD_CONTROLLER": "mpi"}, True, "HOROVOD_CONTROLLER=mpi contradicts torchrun or PyTorchJob"),
        ({"HOROVOD_CPU_OPERATIONS": "ccl"}, True, "HOROVOD_CPU_OPERATIONS=ccl contradicts torchrun"),
        ({}, False, "torchrun or PyTorchJob started this process, and this Horovod was built without Gloo"),
        ({"MASTER_ADDR": "no.such.host.invalid"}, True, "cannot resolve no.such.host.invalid, rank 0's host"),
        (
            {"MASTER_ADDR": "192.0.2.1"},
            True,
            "MASTER_ADDR=192.0.2.1 is 192.0.2.1, which is not an address of",
        ),
    ],
)
def test_contradictions_are_named(environ: dict[str, str], gloo: bool, seen: str, port: str) -> None:
    given = {"MASTER_PORT": port, "HVDKIT_START_TIMEOUT": "2", **environ}
    code, _, stderr = ended(start(MEET.replace("GLOO", str(gloo)), 0, 2, **given))
    assert code == 1
    assert seen in stderr


def _wait_until_something_listens(port: int) -> None:
    end = time.monotonic() + 60
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            assert time.monotonic() < end
            time.sleep(0.05)
