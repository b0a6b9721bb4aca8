"""A host is lost in mid-training: hvdkit run goes on with what is left, or says that nothing is."""

from __future__ import annotations

import re
import signal
import subprocess
import threading
from pathlib import Path

import pytest

from .hosts import Cluster
from .test_run import assert_no_process_left, running, wait_for

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(3600)]

# The share of a linear problem that is classified right; rank 0 writes a checkpoint every five steps.
TRAIN = """\
import sys, time, torch
import hvdkit.torch as hvd
hvd.init()
torch.manual_seed(0)
inputs = torch.randn(512, 8)
targets = (inputs.sum(1) > 0).long()
model = torch.nn.Linear(8, 2)
optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.5), model)
data = torch.utils.data.TensorDataset(inputs, targets)
progress = hvd.Progress(hvd.distribute(torch.utils.data.DataLoader(data, batch_size=16, shuffle=True)))
objects = dict(model=model, optimizer=optimizer, progress=progress)
hvd.resume("checkpoint.pt", missing_ok=True, **objects)
for epoch in progress.epochs(4):
    for batch, labels in progress.batches():
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(batch), labels).backward()
        optimizer.step()
        if progress.batch % 5 == 0:
            hvd.save("checkpoint.pt", **objects)
        if hvd.rank() == 0:
            print(f"epoch {epoch} batch {progress.batch} of {hvd.size()} ranks", flush=True)
        time.sleep(float(sys.argv[1]))
if hvd.rank() == 0:
    print(f"accuracy {(model(inputs).argmax(1) == targets).float().mean().item():.3f}", flush=True)
"""
RUN = ("python", "-m", "hvdkit", "run", "--gloo")


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "train.py"
    path.write_text(TRAIN)
    return path


def accuracy(out: str) -> float:
    (found,) = re.findall(r"accuracy ([\d.]+)", out)
    return float(found)


def until(job: subprocess.Popen[str], text: str) -> None:
    assert job.stdout is not None
    for line in job.stdout:
        if text in line:
            return
    assert job.stderr is not None
    raise AssertionError(job.stderr.read())


def test_training_goes_on_with_the_host_that_is_left(cluster: Cluster, script: Path, tmp_path: Path) -> None:
    hosts = ("-np", "4", "-H", "a:2,b:2")
    calm = tmp_path / "calm"
    calm.mkdir()
    undisturbed = cluster.run("a", [*RUN, *hosts, "python", script, "0"], cwd=calm, timeout=1500)

    options = ("--restarts", "2", "--min-np", "2", "--log-dir", "logs")
    job = cluster.start("a", [*RUN, *hosts, *options, "python", script, "0.3"], cwd=tmp_path)
    until(job, "epoch 1 batch 6 of 4 ranks")
    cluster.cut("b")
    out, err = job.communicate(timeout=1500)
    assert job.returncode == 0, out + err
    assert re.search(r"rank [23] on b failed first", err)
    said = [line for line in err.splitlines() if line.startswith("hvdkit: ")]
    assert "hvdkit: restart 1 of 2 in 5 s" in said and "hvdkit: no answer from b" in said
    assert "hvdkit: starting 2 ranks on a:2" in said and "hvdkit: restart 2 of 2 in 10 s" not in said
    # From the checkpoint inside the epoch: 5 or more batches of 4 ranks are 10 or more of 2.
    first, *_ = re.findall(r"epoch (\d) batch (\d+) of 2 ranks", out)
    assert first[0] == "1" and int(first[1]) >= 11
    assert (tmp_path / "logs" / "restart.1" / "rank.0.log").exists()
    assert abs(accuracy(out) - accuracy(undisturbed.stdout)) <= 0.02 and accuracy(out) > 0.95
    cluster.mend("b")  # b's ranks ended by themselves when they heard nothing more
    assert_no_process_left(cluster, but="sshd: ")


def test_with_no_host_left_it_says_so_and_ends(cluster: Cluster, script: Path, tmp_path: Path) -> None:
    job = cluster.start(
        "a", [*RUN, "-np", "2", "-H", "b:2", "--restarts", "1", "python", script, "0.5"], cwd=tmp_path
    )
    until(job, "epoch 0 batch 3 of 2 ranks")
    cluster.cut("b")
    _, err = job.communicate(timeout=1500)
    assert job.returncode == 1
    assert err.splitlines()[-2:] == [
        "hvdkit: no answer from b",
        "hvdkit: no start: 0 of 2 ranks have a host that answers, and --min-np is 2",
    ]
    assert not [line for line in running(cluster, "a") if line[:1] and not line[0].startswith("sshd: ")]


def test_a_killed_rank_is_started_again_and_ctrl_c_ends_it_for_good(
    pair: Cluster, script: Path, tmp_path: Path
) -> None:
    hosts = ("-np", "2", "-H", "a:1,b:1", "--restarts", "3")
    job = pair.start("a", [*RUN, *hosts, "python", script, "0.5"], cwd=tmp_path)
    until(job, "epoch 0 batch 6 of 2 ranks")
    assert job.stderr is not None
    said: list[str] = []
    threading.Thread(target=lambda: said.extend(iter(job.stderr.readline, "")), daemon=True).start()
    victims = [each for each in pair.processes("b") if each.cmdline()[1:2] == [str(script)]]
    assert len(victims) == 1
    victims[0].kill()
    until(job, "epoch 0 batch 6 of 2 ranks")  # once more: from the checkpoint of batch 5
    assert any("restart 1 of 3 in 5 s" in line for line in said)
    pair.signal(job, signal.SIGINT)
    assert job.wait(300) == 130
    wait_for(lambda: any("interrupted" in line for line in said), 60)
    assert_no_process_left(pair)
