"""A job that goes wrong without a word, on two hosts: `hvdkit run` ends it or speaks, with rank and cause."""

from __future__ import annotations

import signal
import threading
from pathlib import Path

import psutil
import pytest

from .hosts import Cluster
from .test_run import wait_for

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(1800)]

# Plain horovod.torch, which knows nothing of hvdkit; one argument says what is wrong with it.
SCRIPT = """\
import sys, time, torch
import horovod.torch as hvd
how = sys.argv[1]
hvd.init()
rank = hvd.rank()
torch.manual_seed(rank if how == "seeds" else 0)
model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 1))
model[0].requires_grad_(how != "frozen")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1 * (1 + rank * (how == "rate")), momentum=0.9)
if how != "unwrapped":
    optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
if how != "seeds":
    hvd.broadcast_parameters(model.state_dict(), root_rank=0)
if how == "moved":
    model.double()
model[0].requires_grad_(True)
torch.manual_seed(rank)
for step in range({"uneven": 4 - rank}.get(how, 1200)):
    optimizer.zero_grad()
    model(torch.randn(8, 4, dtype=model[0].weight.dtype)).square().mean().backward()
    optimizer.step()
    time.sleep(0.5)
hvd.shutdown()
time.sleep(600 if how == "uneven" else 0)
"""
RUN = ("python", "-m", "hvdkit", "run", "-np", "2", "-H", "a:1,b:1", "--gloo")
PARTED = {
    "seeds": "each rank seeds torch with a different number (0, 1)",
    "rate": "the learning rates differ (rank 0: 0.1; rank 1: 0.2)",
    "unwrapped": "the optimizer is not an hvd.DistributedOptimizer",
    "frozen": "0.weight, 0.bias: trained, but not reduced",
}


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "train.py"
    path.write_text(SCRIPT)
    return path


@pytest.mark.parametrize("how", PARTED)
def test_ranks_that_part_at_step_1(pair: Cluster, script: Path, how: str) -> None:
    """Each would train for ten minutes; docs/run.md says how soon it ends."""
    done = pair.run("a", [*RUN, "python", str(script), how], timeout=600, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "hvdkit: the ranks have diverged, and the job was stopped: after step 1 of SGD: " in done.stderr
    assert "on rank 1 differs from rank 0" in done.stderr and PARTED[how] in done.stderr


def test_the_rank_with_fewer_batches_is_named(pair: Cluster, script: Path) -> None:
    done = pair.run("a", [*RUN, "python", str(script), "uneven"], timeout=600, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    (last,) = [
        line for line in done.stderr.splitlines() if "a different rank ended its training first" in line
    ]
    # Rank 0 fails in the backward() of its fourth step, or where it waits for the averages.
    assert "first (rank 0 was in step 4; " in last or "first (rank 0 went on after 3 steps; " in last
    assert "; rank 1 ended after 3 steps)" in last


def test_lost_hooks_and_a_stopped_rank_are_reported_and_end_nothing(pair: Cluster, script: Path) -> None:
    job = pair.start("a", [*RUN, "python", str(script), "moved"])
    said: list[str] = []
    assert job.stderr is not None
    threading.Thread(target=lambda: said.extend(iter(job.stderr.readline, "")), daemon=True).start()

    def training() -> list[psutil.Process]:
        commands = [(process, process.cmdline()) for process in pair.processes("b")]
        return [process for process, words in commands if words[1:2] == [str(script)]]

    lost = "no reduction is under way when backward() ends (SGD)"
    wait_for(lambda: any(lost in line for line in said))
    (rank,) = training()
    rank.suspend()
    wait_for(lambda: any("fix: on b, kill -CONT " in line for line in said))
    rank.resume()
    assert job.poll() is None and any("rank 1 on b is stopped" in line for line in said)
    pair.signal(job, signal.SIGINT)
    assert job.wait(300) == 130
    assert sum(lost in line for line in said) == 1
