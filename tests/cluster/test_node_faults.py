"""A job of a node list on two hosts loses a rank, a host, or its first process: it ends everywhere, in time.

The bounds are those that docs/clusters.md states, and what a busy machine needs to notice.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from .hosts import Cluster

pytestmark = pytest.mark.cluster

SCRIPT = Path(__file__).parents[2] / "examples" / "mnist" / "train_ddp_hvdkit.py"
A_RANK_ENDED_SECONDS = 30
A_HOST_LOST_SECONDS = 60


@dataclass
class Training:
    """A job that is in its training loop: the hosts, and the process that was started on each."""

    cluster: Cluster
    started: tuple[subprocess.Popen[str], subprocess.Popen[str]]

    def rank(self, number: int) -> psutil.Process:
        """The process of a rank, wherever it runs."""
        (found,) = (
            process
            for name in self.cluster.names
            for process in self.cluster.processes(name)
            if process.environ().get("HOROVOD_RANK") == str(number) and "--epochs" in process.cmdline()
        )
        return found

    def ends(self, within: float, *, cut: bool = False) -> list[tuple[int, str]]:
        """Exit code and standard error of both, after a look that nothing runs on either host."""
        began = time.monotonic()
        said = [process.communicate(timeout=300)[1] for process in self.started]
        assert time.monotonic() - began < within, said
        assert {name: self.cluster.processes(name) for name in self.cluster.names} == {"a": [], "b": []}
        return [(process.returncode, text) for process, text in zip(self.started, said)]


@pytest.fixture
def training(cluster: Cluster, tmp_path: Path) -> Iterator[Training]:
    nodes = tmp_path / "hvdkit.toml"
    nodes.write_text('gpus_per_node = 2\nnodes = [{addr = "a"}, {addr = "b"}]\n')
    command = [sys.executable, SCRIPT, "--epochs", "100000", "--save", tmp_path / "weights.pt"]
    environ = {"HVDKIT_NODES": str(nodes), "HVDKIT_START_TIMEOUT": "400"}
    first, second = (cluster.start(name, command, environ) for name in cluster.names)
    assert first.stdout is not None
    if not first.stdout.readline().startswith("epoch 1 batch 0/"):
        pytest.fail(f"it does not train: {first.communicate()}\n{second.communicate()}")
    yield Training(cluster, (first, second))


def test_a_rank_is_killed(training: Training) -> None:
    training.rank(3).kill()
    for code, said in training.ends(A_RANK_ENDED_SECONDS):
        assert code == 1
        assert "hvdkit: rank 3 on b was killed by SIGKILL" in said


def test_a_host_is_cut_off(training: Training) -> None:
    training.cluster.cut("b")
    (first, said_on_a), (second, said_on_b) = training.ends(A_HOST_LOST_SECONDS)
    assert (first, second) == (1, 1)
    assert "hvdkit: no message from node 1 (b, ranks 2 to 3) for 20 s" in said_on_a
    assert "hvdkit: no message from node 0 (a, ranks 0 to 1) for 20 s" in said_on_b


@pytest.mark.parametrize(
    ("place", "told"), [(0, "node 0 (a, ranks 0 to 1)"), (1, "node 1 (b, ranks 2 to 3)")]
)
def test_ctrl_c_on_either_host_ends_both(training: Training, place: int, told: str) -> None:
    training.cluster.signal(training.started[place], signal.SIGINT)
    results = training.ends(A_RANK_ENDED_SECONDS)
    assert (results[place][0], results[1 - place][0]) == (130, 1)
    assert f"hvdkit: {told} was ended by SIGINT" in results[1 - place][1]


def test_the_process_that_started_the_ranks_is_killed(training: Training) -> None:
    starter = psutil.Process(training.rank(2).pid).parent()
    assert starter is not None
    starter.kill()
    (first, said), (second, _) = training.ends(A_HOST_LOST_SECONDS)
    assert (first, second) == (1, -signal.SIGKILL)
    assert "hvdkit: no message from node 1 (b, ranks 2 to 3) for 20 s" in said
