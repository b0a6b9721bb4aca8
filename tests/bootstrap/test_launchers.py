"""What the environment of each launcher is read as, and which environments are refused."""

from __future__ import annotations

import pytest

from hvdkit.bootstrap.errors import LaunchEnvironmentError, UnsynchronisedCopiesError
from hvdkit.bootstrap.launch import Launch
from hvdkit.bootstrap.launchers import read_launches, refuse_copies

HOROVODRUN = {
    "HOROVOD_RANK": "1",
    "HOROVOD_SIZE": "2",
    "HOROVOD_LOCAL_RANK": "1",
    "HOROVOD_LOCAL_SIZE": "2",
    "HOROVOD_CROSS_RANK": "0",
    "HOROVOD_CROSS_SIZE": "1",
    "HOROVOD_CONTROLLER": "gloo",
    "HOROVOD_CPU_OPERATIONS": "gloo",
    "HOROVOD_GLOO_RENDEZVOUS_ADDR": "127.0.0.1",
    "HOROVOD_GLOO_RENDEZVOUS_PORT": "4711",
}
TORCHRUN = {"RANK": "1", "WORLD_SIZE": "2", "LOCAL_RANK": "1", "LOCAL_WORLD_SIZE": "2"}
MPIRUN = {"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_LOCAL_SIZE": "2"}
# What sbatch sets for the batch script, and what srun adds for each task of a step.
SBATCH = {"SLURM_JOB_ID": "7", "SLURM_NTASKS": "4", "SLURM_PROCID": "0"}
SRUN = {**SBATCH, "SLURM_STEP_ID": "0", "SLURM_PROCID": "1", "SLURM_STEP_NUM_TASKS": "2"}


@pytest.mark.parametrize(
    ("environ", "launches"),
    [
        ({}, []),
        (HOROVODRUN, [Launch("horovodrun", 1, 2, "HOROVOD_SIZE", 2)]),
        (TORCHRUN, [Launch("torchrun or PyTorchJob", 1, 2, "WORLD_SIZE", 2)]),
        (MPIRUN, [Launch("mpirun", 1, 2, "OMPI_COMM_WORLD_SIZE", 2)]),
        ({"PMI_RANK": "0", "PMI_SIZE": "3"}, [Launch("the MPI launcher", 0, 3, "PMI_SIZE")]),
        (SBATCH, []),
        (SRUN, [Launch("srun", 1, 2, "SLURM_STEP_NUM_TASKS")]),
        ({**SRUN, "SLURM_STEP_NUM_TASKS": ""}, [Launch("srun", 1, 4, "SLURM_NTASKS")]),
        ({**HOROVODRUN, **TORCHRUN, "RANK": ""}, [Launch("horovodrun", 1, 2, "HOROVOD_SIZE", 2)]),
    ],
)
def test_launches_are_read(environ: dict[str, str], launches: list[Launch]) -> None:
    assert list(read_launches(environ, mpi_built=True)) == launches


@pytest.mark.parametrize(
    ("environ", "present", "missing"),
    [
        ({"RANK": "0"}, "RANK=0", "WORLD_SIZE"),
        ({"WORLD_SIZE": "2"}, "WORLD_SIZE=2", "RANK"),
        ({"WORLD_SIZE": "2", "RANK": ""}, "WORLD_SIZE=2", "RANK"),
        ({"OMPI_COMM_WORLD_SIZE": "2"}, "OMPI_COMM_WORLD_SIZE=2", "OMPI_COMM_WORLD_RANK"),
        ({"HOROVOD_RANK": "0"}, "HOROVOD_RANK=0", "HOROVOD_SIZE"),
        ({"HOROVOD_SIZE": "2"}, "HOROVOD_SIZE=2", "HOROVOD_RANK"),
        ({**TORCHRUN, "HOROVOD_RANK": "0"}, "HOROVOD_RANK=0", "HOROVOD_SIZE"),
        ({"HOROVOD_RANK": "0", "HOROVOD_SIZE": "2"}, "HOROVOD_SIZE=2", "HOROVOD_CONTROLLER"),
        ({"HOROVOD_CONTROLLER": "gloo"}, "HOROVOD_CONTROLLER=gloo", "HOROVOD_CPU_OPERATIONS"),
        *(
            ({**HOROVODRUN, name: ""}, "HOROVOD_SIZE=2", name)
            for name in HOROVODRUN
            if name not in ("HOROVOD_RANK", "HOROVOD_SIZE")
        ),
    ],
)
def test_half_set_environment_names_what_is_missing(
    environ: dict[str, str], present: str, missing: str
) -> None:
    with pytest.raises(LaunchEnvironmentError) as caught:
        read_launches(environ, mpi_built=True)
    assert caught.value.seen == f"{present} is set but {missing} is not"
    assert missing in caught.value.fix


def test_gloo_is_the_controller_of_a_build_without_mpi() -> None:
    environ = {name: value for name, value in HOROVODRUN.items() if "CPU" not in name and "CONTR" not in name}
    assert read_launches(environ, mpi_built=False)[0].size == 2
    with pytest.raises(LaunchEnvironmentError, match="HOROVOD_CROSS_SIZE is not"):
        read_launches({**environ, "HOROVOD_CROSS_SIZE": ""}, mpi_built=False)


def test_a_world_of_one_needs_no_rendezvous() -> None:
    assert read_launches({"HOROVOD_RANK": "0", "HOROVOD_SIZE": "1"}, mpi_built=True)


def test_values_must_be_a_rank_and_a_size() -> None:
    with pytest.raises(LaunchEnvironmentError, match="RANK='one' is not an integer"):
        read_launches({"RANK": "one", "WORLD_SIZE": "2"}, mpi_built=True)
    with pytest.raises(LaunchEnvironmentError, match="RANK=2 is not a rank of WORLD_SIZE=2"):
        read_launches({"RANK": "2", "WORLD_SIZE": "2"}, mpi_built=True)


@pytest.mark.parametrize(
    ("environ", "rank", "size"),
    [
        ({}, 0, 1),
        (TORCHRUN, 1, 2),
        # horovodrun in one pod of a job, and mpirun in a Slurm step of one task per host.
        ({**HOROVODRUN, "RANK": "0", "WORLD_SIZE": "4"}, 1, 2),
        ({**MPIRUN, **SRUN, "SLURM_STEP_NUM_TASKS": "1", "SLURM_PROCID": "0"}, 1, 2),
        # Another launcher, with a variable left over: fewer processes than Horovod has are no copies.
        ({"RANK": "0", "WORLD_SIZE": "1"}, 3, 8),
    ],
)
def test_one_job_is_accepted(environ: dict[str, str], rank: int, size: int) -> None:
    refuse_copies(read_launches(environ, mpi_built=True), rank, size)


@pytest.mark.parametrize(
    ("environ", "size", "hosts"),
    [
        (TORCHRUN, 1, "localhost:2"),
        (MPIRUN, 1, "localhost:2"),
        (HOROVODRUN, 1, "localhost:2"),
        (SRUN, 1, "HOST:SLOTS,..."),
        ({**TORCHRUN, "WORLD_SIZE": "4"}, 2, "HOST1:2,HOST2:2,..."),
        # A world of one agrees with itself in every copy.
        ({**TORCHRUN, "HOROVOD_RANK": "0", "HOROVOD_SIZE": "1"}, 1, "localhost:2"),
    ],
)
def test_copies_are_refused_with_the_command_to_type(environ: dict[str, str], size: int, hosts: str) -> None:
    launches = read_launches(environ, mpi_built=True)
    with pytest.raises(UnsynchronisedCopiesError) as caught:
        refuse_copies(launches, 0, size)
    started = max(launch.size for launch in launches)
    assert f"Horovod's world has size {size}" in caught.value.seen
    assert f"{started // size} unsynchronized copies" in caught.value.why
    assert f"horovodrun -np {started} -H {hosts} python " in caught.value.fix
