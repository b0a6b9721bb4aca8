"""The engine below hvdkit.torch: which is chosen, what it has, how it starts, and what it does not offer."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import horovod.torch
import pytest
import torch
from ports import free_port
from torch import nn

import hvdkit.torch as hvd
from hvdkit.bootstrap.errors import LaunchEnvironmentError
from hvdkit.errors import UsageError
from hvdkit.torch import engine
from hvdkit.torch.engine import distributed
from hvdkit.torch.engine.distributed.buckets import plan
from hvdkit.torch.engine.distributed.launch import launch_of, place_of
from hvdkit.torch.engine.distributed.not_offered import NotOfferedError

ROOT = Path(__file__).parents[2]
TORCHRUN = ("-m", "torch.distributed.run", "--nproc_per_node", "2")
HOROVODRUN = ("-m", "horovod.runner.launch", "-np", "2", "-H", "localhost:2", "--gloo", sys.executable)
# Before anything is imported: this process has no Horovod.
NO_HOROVOD = "import sys; sys.modules['horovod'] = None\n"


def python(
    *arguments: str, cwd: Path, environ: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    path = f"{cwd}{os.pathsep}{ROOT}"
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", **(environ or {})},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def without_horovod(folder: Path) -> None:
    """Every Python that has this folder on its path starts without Horovod."""
    (folder / "sitecustomize.py").write_text(NO_HOROVOD)


# What it has.


def functions(module: ModuleType) -> dict[str, Any]:
    public = {name: value for name, value in vars(module).items() if name[0] != "_"}
    return {name: value for name, value in public.items() if inspect.isfunction(value)}


def test_functions_have_horovods_arguments() -> None:
    """But for those that hvdkit.torch has itself, and one that is no part of the interface."""
    theirs, ours = functions(horovod.torch), functions(distributed)
    refused = {"add_process_set", "remove_process_set", "start_timeline", "stop_timeline"}
    elsewhere = {"DistributedOptimizer", "check_extension", "init", "shutdown", *refused}
    missing = [name for name in theirs if name not in ours and name not in elsewhere]
    assert missing == []
    compared = 0
    for name in theirs.keys() & ours.keys() - elsewhere:
        one, other = (inspect.signature(each).parameters for each in (theirs[name], ours[name]))
        assert [*one] == [*other], name
        for argument in one:
            plain = isinstance(one[argument].default, (int, float, type(None)))
            assert not plain or one[argument].default == other[argument].default, (name, argument)
        compared += 1
    assert compared > 25


def test_every_name_of_horovod_is_there() -> None:
    names = {name for name in vars(horovod.torch) if name[0] != "_"}
    modules = {name for name in names if isinstance(getattr(horovod.torch, name), ModuleType)}
    assert names - modules - {*dir(distributed)} == {"DistributedOptimizer", "check_extension"}
    for name in ("Average", "Sum", "Adasum", "Min", "Max", "Product"):
        assert getattr(distributed, name) == getattr(horovod.torch, name)


@pytest.mark.parametrize(
    ("use", "name"),
    [
        (lambda: distributed.elastic.TorchState(), "elastic.TorchState"),
        (lambda: distributed.ProcessSet([0]), "ProcessSet"),
        (lambda: distributed.add_process_set([0]), "add_process_set"),
        (lambda: distributed.start_timeline("file"), "start_timeline"),
        (lambda: distributed.allreduce(torch.ones(1), op=distributed.Adasum), "Adasum"),
        (lambda: distributed.barrier(process_set=object()), "a process set"),
        (lambda: distributed.init(comm=[0, 1]), "init(comm=...)"),
    ],
)
def test_what_only_horovod_has_is_refused_by_name(use: Any, name: str) -> None:
    with pytest.raises(NotOfferedError) as caught:
        use()
    assert caught.value.seen == f"{name} is not offered on torch.distributed"
    assert "HVDKIT_ENGINE" in caught.value.fix


# Which one, and where this process is.


def test_horovod_where_it_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HVDKIT_ENGINE", raising=False)
    assert engine.chosen() == "horovod"
    monkeypatch.setitem(sys.modules, "horovod", None)
    assert engine.chosen() == "torch"
    monkeypatch.setenv("HVDKIT_ENGINE", "horovod")
    assert engine.chosen() == "horovod"
    monkeypatch.setenv("HVDKIT_ENGINE", "mpi")
    with pytest.raises(UsageError, match="HVDKIT_ENGINE=mpi is not an engine"):
        engine.chosen()


MPIRUN = {"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_LOCAL_SIZE": "2"}
PMI = {"PMI_RANK": "1", "PMI_SIZE": "4"}
SRUN = {"SLURM_PROCID": "1", "SLURM_STEP_NUM_TASKS": "4", "SLURM_STEP_ID": "0", "SLURM_JOB_ID": "7"}
ADDRESS = {"MASTER_ADDR": "a", "MASTER_PORT": "29500"}


@pytest.mark.parametrize(
    ("environ", "found"),
    [
        ({}, None),
        ({"RANK": "0", "WORLD_SIZE": "1", **ADDRESS}, None),
        ({"RANK": "1", "WORLD_SIZE": "2", **ADDRESS}, "torchrun or PyTorchJob"),
        (SRUN, "srun"),
        ({**PMI, **SRUN}, "srun"),
        ({**MPIRUN, **ADDRESS}, "mpirun"),
    ],
)
def test_launchers_that_say_how_ranks_connect(environ: dict[str, str], found: str | None) -> None:
    launch = launch_of(environ)
    assert (launch and launch.launcher) == found


@pytest.mark.parametrize(
    ("environ", "seen"),
    [
        (MPIRUN, "mpirun started 2 processes"),
        ({"HVDKIT_NODES": "nodes.toml"}, "HVDKIT_NODES=nodes.toml starts ranks of Horovod"),
    ],
)
def test_several_processes_that_cannot_connect_are_refused(environ: dict[str, str], seen: str) -> None:
    with pytest.raises(LaunchEnvironmentError, match=seen) as caught:
        launch_of(environ)
    assert "hvdkit run --torch -np " in caught.value.fix


def test_numbers_on_hosts_of_different_sizes() -> None:
    places = [place_of(rank, ["a", "a", "b", "b", "b"], None) for rank in range(5)]
    assert [(each.local_rank, each.local_size) for each in places] == [(0, 2), (1, 2), (0, 3), (1, 3), (2, 3)]
    assert [(each.cross_rank, each.cross_size) for each in places] == [(0, 2), (0, 2), (1, 2), (1, 2), (0, 1)]
    assert not places[0].homogeneous


def test_buckets_are_filled_from_the_last_parameter() -> None:
    megabyte = 1 << 18  # elements of float32
    sizes = [30 * megabyte, 10 * megabyte, 20 * megabyte, megabyte]
    parameters: list[torch.Tensor] = [nn.Parameter(torch.empty(size, device="meta")) for size in sizes]
    whole = nn.Parameter(torch.empty(1, dtype=torch.float64, device="meta"))
    found = plan([whole, *parameters])
    assert [[each.numel() for each in bucket] for bucket in found] == [
        [megabyte],
        [20 * megabyte, 10 * megabyte],
        [30 * megabyte],
        [1],
    ]


# Ranks.


@pytest.mark.ranks
def test_models_in_two_optimizers_and_a_branch_by_rank() -> None:
    """Gradients become ready in a different order on each rank, next to collectives of the script's own."""
    torch.manual_seed(0)
    body, heads = nn.Linear(4, 4), nn.ModuleList([nn.Linear(4, 1), nn.Linear(4, 1)])
    optimizers = [
        hvd.DistributedOptimizer(torch.optim.SGD(each.parameters(), lr=0.1), {name: each})
        for name, each in (("body", body), ("heads", heads))
    ]
    for step in range(3):
        for optimizer in optimizers:
            optimizer.zero_grad()
        heads[hvd.rank()](body(torch.ones(2, 4) * (step + hvd.rank()))).sum().backward()
        hvd.allreduce(torch.ones(1), name=f"engine.step.{step}")
        for optimizer in optimizers:
            optimizer.step()
    hvd.check_sync([body, heads])


# Starts.

SAYS = """import hvdkit.torch as hvd
context = hvd.init()
print(context.rank, context.size, context.local_rank, context.local_size, hvd.allgather_object(hvd.rank()))
"""


@pytest.mark.launch
def test_alone_it_says_so(tmp_path: Path) -> None:
    without_horovod(tmp_path)
    done = python("-c", SAYS, cwd=tmp_path)
    assert done.stdout == "0 1 0 1 [0]\n", done.stderr
    assert (
        f"hvdkit: the engine is torch.distributed of PyTorch {torch.__version__} (alone), 1 rank\n"
        in done.stderr
    )


@pytest.mark.launch
def test_srun_without_mpi(tmp_path: Path) -> None:
    script = tmp_path / "says.py"
    script.write_text(SAYS)
    slurm = {
        "HVDKIT_ENGINE": "torch",
        "SLURM_STEP_NUM_TASKS": "2",
        "SLURM_STEP_ID": "0",
        "SLURM_JOB_ID": "7",
        "SLURM_STEP_NODELIST": "localhost",
        "HVDKIT_CTRL_PORT": str(free_port()),
    }
    ranks = [
        subprocess.Popen(
            [sys.executable, script],
            env={**os.environ, "PYTHONPATH": str(ROOT), **slurm, "SLURM_PROCID": str(rank)},
            stdout=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    assert [rank.communicate(timeout=120)[0] for rank in ranks] == ["0 2 0 2 [0, 1]\n", "1 2 1 2 [0, 1]\n"]


@pytest.mark.launch
def test_a_rank_that_does_not_come_is_named(tmp_path: Path) -> None:
    environ = {"RANK": "0", "WORLD_SIZE": "3", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
    done = python(
        "-c", SAYS, cwd=tmp_path, environ={**environ, "HVDKIT_ENGINE": "torch", "HVDKIT_START_TIMEOUT": "1"}
    )
    assert "MeetingError: ranks 1, 2 of 3 did not come within 1 s" in done.stderr
    assert "fix: start them, or give them more time: HVDKIT_START_TIMEOUT=SECONDS" in done.stderr


EXAMPLES = {
    "mnist/train_hvdkit.py": ["--epochs", "1", "--save", "weights.pt"],
    "swav/train_ddp_hvdkit.py": ["--epochs", "1", "--save", "."],
}


@pytest.mark.launch
@pytest.mark.parametrize("example", EXAMPLES)
def test_examples_train_to_the_same_bits_without_horovod(example: str, tmp_path: Path) -> None:
    script = ROOT / "examples" / example
    weights = []
    for name, launcher in (("with", HOROVODRUN), ("without", TORCHRUN)):
        folder = tmp_path / name
        folder.mkdir()
        if name == "without":
            without_horovod(folder)
        done = python(*launcher, str(script), *EXAMPLES[example], cwd=folder)
        assert done.returncode == 0, done.stderr
        assert ("torch.distributed of PyTorch" if name == "without" else "Horovod ") in done.stderr
        (saved,) = folder.glob("*.pt")
        weights.append(torch.load(saved, weights_only=False))
    assert same(*weights)


def same(one: Any, other: Any) -> bool:
    """Equal to the bit, in whatever a checkpoint holds."""
    if isinstance(one, torch.Tensor):
        return torch.equal(one, other)
    if isinstance(one, dict):
        return [*one] == [*other] and all(same(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)
