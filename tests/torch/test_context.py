"""`init()`: what it returns, what it refuses under each real launcher, and the device it picks."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from horovod.common.basics import HorovodBasics

import hvdkit.torch as hvd
from hvdkit.bootstrap.devices import NotEnoughDevicesError, device_index

SCRIPT = "import hvdkit.torch as hvd; hvd.init(); print('started')\n"
PYTHON = (sys.executable,)
TORCHRUN = (sys.executable, "-m", "torch.distributed.run", "--nproc_per_node", "2")
MPIRUN = ("mpirun", "-np", "2", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1")
GLOO_IN_MPI = ("-x", "HOROVOD_CONTROLLER=gloo", "-x", "HOROVOD_CPU_OPERATIONS=gloo")


@pytest.mark.ranks
def test_init_returns_this_ranks_place() -> None:
    context = hvd.init()
    assert context == hvd.Context(hvd.rank(), 2, hvd.local_rank(), 2, context.device)
    assert context == hvd.init(), "calling it again gives the same answer"
    contexts = hvd.allgather_object(context, name="context")
    assert [each.rank for each in contexts] == [0, 1]
    if not torch.cuda.is_available():
        assert context.device == torch.device("cpu")


def test_init_takes_what_horovods_takes() -> None:
    # horovod.torch.init hands *args and **kwargs on to this method.
    ours, theirs = (inspect.signature(each).parameters.values() for each in (hvd.init, HorovodBasics.init))
    assert [("self", inspect.Parameter.empty), *((p.name, p.default) for p in ours)] == [
        (p.name, p.default) for p in theirs
    ]


def test_one_device_each_or_one_visible() -> None:
    assert [device_index(rank, 4, 4) for rank in range(4)] == [0, 1, 2, 3]
    assert [device_index(rank, 2, 4) for rank in range(2)] == [0, 1]
    assert [device_index(rank, 4, 1) for rank in range(4)] == [0, 0, 0, 0]


def test_fewer_devices_than_ranks_are_refused_on_every_rank() -> None:
    for rank in range(4):
        with pytest.raises(NotEnoughDevicesError, match="4 ranks but 2 CUDA devices") as caught:
            device_index(rank, 4, 2)
        assert "-H HOST:2" in caught.value.fix


@pytest.mark.launch
@pytest.mark.parametrize(
    ("launcher", "environ", "error", "seen"),
    [
        ((*MPIRUN, *GLOO_IN_MPI), {}, "UnsynchronisedCopiesError", "processes (OMPI_COMM_WORLD_SIZE=2)"),
        (PYTHON, {"RANK": "0"}, "LaunchEnvironmentError", "RANK=0 is set but WORLD_SIZE is not"),
        (
            PYTHON,
            {"HOROVOD_RANK": "0", "HOROVOD_SIZE": "2"},
            "LaunchEnvironmentError",
            "HOROVOD_SIZE=2 is set but HOROVOD_CONTROLLER is not",
        ),
        (
            PYTHON,
            {"HOROVOD_CONTROLLER": "gloo"},
            "LaunchEnvironmentError",
            "HOROVOD_CONTROLLER=gloo is set but HOROVOD_CPU_OPERATIONS is not",
        ),
    ],
    ids=["mpirun with a gloo horovod", "half rank", "half horovod", "half gloo"],
)
def test_a_job_that_is_none_is_refused(
    launcher: tuple[str, ...], environ: dict[str, str], error: str, seen: str, tmp_path: Path
) -> None:
    result = start(launcher, environ, tmp_path)
    assert result.returncode != 0
    assert "started\n" not in result.stdout
    assert f"{error}: " in result.stderr
    assert seen in result.stderr
    if error == "UnsynchronisedCopiesError":
        assert f"start it with `horovodrun -np 2 -H localhost:2 python {tmp_path / 'train.py'}`" in (
            result.stderr
        )


@pytest.mark.launch
@pytest.mark.parametrize(
    ("launcher", "processes"),
    [(PYTHON, 1), (MPIRUN, 2), (("horovodrun", "-np", "2", "--gloo", *PYTHON), 2), (TORCHRUN, 2)],
    ids=["python", "mpirun", "horovodrun", "torchrun"],
)
def test_a_job_is_accepted(launcher: tuple[str, ...], processes: int, tmp_path: Path) -> None:
    # The variables of an outer job of four do not matter to a job that its own launcher explains.
    outer = {"RANK": "0", "WORLD_SIZE": "4"} if processes > 1 else {}
    result = start(launcher, outer, tmp_path)
    assert result.returncode == 0, result.stderr
    assert result.stdout.count("started") == processes


@pytest.mark.launch
def test_an_mpi4py_communicator_is_the_world(tmp_path: Path) -> None:
    code = (
        "from mpi4py import MPI; import hvdkit.torch as hvd; world = MPI.COMM_WORLD; "
        "context = hvd.init(world.Split(world.rank)); print(f' {context.rank} {context.size} ')\n"
    )
    result = start(MPIRUN, {}, tmp_path, code)
    assert result.returncode == 0, result.stderr
    # mpirun may put one process's line into the middle of the other's.
    assert sorted(result.stdout.split()) == ["0", "0", "1", "1"], "each process has a communicator of its own"


def start(
    launcher: tuple[str, ...], environ: dict[str, str], directory: Path, code: str = SCRIPT
) -> subprocess.CompletedProcess[str]:
    """Run a script under a launcher, one that calls init() unless another is given."""
    script = directory / "train.py"
    script.write_text(code)
    command = [*launcher, *(PYTHON if launcher[0] == "mpirun" else ()), str(script)]
    root = Path(__file__).parents[2]
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(root),
            "OMP_NUM_THREADS": "1",
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            **environ,
        },
    )
