"""The migrated MNIST example on two hosts, started in every way there is, trains the same weights.

With more than two ranks the last bit of a sum depends on the order of its terms. Gloo's order depends on how
gradients were fused, which is a matter of timing: fusion is off here, and all Gloo jobs agree bit for bit.
MPI adds in another order and agrees within rounding.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest
import torch

from .hosts import Cluster
from .slurm import Slurm

pytestmark = pytest.mark.cluster

EXAMPLES = Path(__file__).parents[2] / "examples" / "mnist"
HVDKIT = EXAMPLES / "train_ddp_hvdkit.py"
HOROVOD = EXAMPLES / "train_ddp_horovod.py"
ARGUMENTS = ("--epochs", "1", "--batch-size", "64", "--save")
MPI = ("--mpi", "--mpi-args=--oversubscribe --mca mpi_yield_when_idle 1")
# The other two: patience with a busy machine, on which one rank imports its framework long after another.
SETTINGS = {
    "HOROVOD_FUSION_THRESHOLD": "0",
    "HOROVOD_GLOO_TIMEOUT_SECONDS": "300",
    "HVDKIT_START_TIMEOUT": "400",
}
# Weights are up to 1 and change little in one epoch: some hundred times the 1e-7 of a float's last bit.
ROUNDING = 1e-5
SECONDS = 1500


@pytest.fixture(scope="module")
def reference(pair: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The weights that plain Horovod trains under horovodrun by Gloo: what all others are held to."""
    return horovodrun(pair, HOROVOD, ["--gloo"], tmp_path_factory.mktemp("reference"))


def test_horovodrun_gloo(pair: Cluster, reference: Path, tmp_path: Path) -> None:
    assert digest(horovodrun(pair, HVDKIT, ["--gloo"], tmp_path)) == digest(reference)


def test_horovodrun_mpi(pair: Cluster, reference: Path, tmp_path: Path) -> None:
    by_mpi, by_gloo = torch.load(horovodrun(pair, HVDKIT, MPI, tmp_path)), torch.load(reference)
    for name, weights in by_gloo.items():
        torch.testing.assert_close(by_mpi[name], weights, rtol=0, atol=ROUNDING)


def test_node_list(pair: Cluster, reference: Path, tmp_path: Path) -> None:
    nodes = tmp_path / "hvdkit.toml"
    nodes.write_text('gpus_per_node = 2\nnodes = [{addr = "10.77.0.1"}, {addr = "b"}]\n')
    command = [sys.executable, HVDKIT, *ARGUMENTS, tmp_path / "weights.pt"]
    first, second = on_each(pair, [command] * 2, [{"HVDKIT_NODES": str(nodes)}] * 2)
    assert "test accuracy" in first.stdout, "node 0 keeps standard output"
    assert second.stdout == ""
    told = "node 1 (b, ranks 2 to 3): the job's output is on node 0 (10.77.0.1, ranks 0 to 1)"
    assert second.stderr.count(told) == 1
    assert digest(tmp_path / "weights.pt") == digest(reference)


def test_torchrun(pair: Cluster, reference: Path, tmp_path: Path) -> None:
    def command(node: int) -> list[str | Path]:
        hosts = ["--nnodes", "2", "--node_rank", str(node), "--master_addr", "a", "--master_port", "29500"]
        torchrun = [sys.executable, "-m", "torch.distributed.run", "--nproc_per_node", "2", *hosts]
        return [*torchrun, HVDKIT, *ARGUMENTS, tmp_path / "weights.pt"]

    on_each(pair, [command(0), command(1)], [{}] * 2)
    assert digest(tmp_path / "weights.pt") == digest(reference)


def test_pytorchjob(reference: Path, tmp_path: Path) -> None:
    """One process a pod: four hosts, four variables, and no local rank."""
    command = [sys.executable, HVDKIT, *ARGUMENTS, tmp_path / "weights.pt"]
    names = ("job-master-0", "job-worker-0", "job-worker-1", "job-worker-2")
    master = {"MASTER_ADDR": names[0], "MASTER_PORT": "23456", "WORLD_SIZE": "4"}
    with Cluster(tmp_path / "pods", names) as pods:
        on_each(pods, [command] * 4, [{**master, "RANK": str(rank)} for rank in range(4)])
    assert digest(tmp_path / "weights.pt") == digest(reference)


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Slurm]:
    with Cluster(tmp_path_factory.mktemp("slurm")) as hosts:
        yield Slurm(hosts)


def test_srun(slurm: Slurm, reference: Path, tmp_path: Path) -> None:
    command = [sys.executable, HVDKIT, *ARGUMENTS, tmp_path / "weights.pt"]
    slurm.srun(["--nodes=2", "--ntasks-per-node=2"], command, SETTINGS, timeout=SECONDS)
    assert digest(tmp_path / "weights.pt") == digest(reference)


def test_srun_that_deals_ranks_out_in_turn_is_refused(slurm: Slurm, tmp_path: Path) -> None:
    command = [sys.executable, HVDKIT, *ARGUMENTS, tmp_path / "weights.pt"]
    options = ["--nodes=2", "--ntasks-per-node=2", "--distribution=cyclic"]
    result = slurm.srun(options, command, timeout=SECONDS, check=False)
    assert result.returncode != 0
    assert (
        result.stderr.count("fix: number the ranks host by host; with Slurm: srun --distribution=block") == 4
    )


def horovodrun(cluster: Cluster, script: Path, controller: Sequence[str], folder: Path) -> Path:
    """Train on 2 x 2 ranks from host a, and return the file with the weights."""
    patient = ["--start-timeout", "300", "--gloo-timeout-seconds", "300"]
    command = ["horovodrun", "-np", "4", "-H", "a:2,b:2", *patient, *controller, sys.executable, script]
    weights = folder / f"{script.stem}.pt"
    cluster.run("a", [*command, *ARGUMENTS, weights], SETTINGS, timeout=SECONDS)
    return weights


def on_each(
    cluster: Cluster, commands: Sequence[Sequence[str | Path]], environs: Sequence[Mapping[str, str]]
) -> list[subprocess.CompletedProcess[str]]:
    """Start a command on each host at once, and wait for all to end well."""
    parts = list(zip(cluster.names, commands, environs))
    jobs = [cluster.start(name, command, {**SETTINGS, **env}) for name, command, env in parts]
    results = []
    for job in jobs:
        stdout, stderr = job.communicate(timeout=SECONDS)
        results.append(subprocess.CompletedProcess(job.args, job.returncode, stdout, stderr))
    for result in results:
        assert result.returncode == 0, [(each.stdout, each.stderr) for each in results]
    return results


def digest(weights: Path) -> str:
    """Of all weights in a file."""
    state = torch.load(weights)
    return hashlib.sha256(b"".join(state[name].numpy().tobytes() for name in sorted(state))).hexdigest()
