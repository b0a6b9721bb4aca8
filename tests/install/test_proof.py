"""The proof, on the Horovod that is installed and on what it has to catch."""

from __future__ import annotations

import os
import sys
from dataclasses import replace

import pytest

from hvdkit.install import plan, processes, proof
from hvdkit.install.errors import ProofError
from tests.install import plans


@pytest.mark.launch
def test_the_installed_horovod_is_proven() -> None:
    environment = {**os.environ, "PATH": plan.search_path(os.environ), "HOROVOD_RANK": "7"}
    made = replace(plan.make(environment), cuda=None)
    steps = [step.what for step in proof.prove(made, environment)]
    names = [framework.name for framework in made.frameworks]
    assert steps == [
        *(f"import horovod.{name}" for name in names),
        "horovodrun --check-build",
        *(f"allreduce on 2 ranks, {name}, {kind}" for kind in ("gloo", "mpi") for name in names),
    ]


@pytest.mark.launch
def test_a_part_that_is_not_in_the_build() -> None:
    made = plans.make(cuda=plans.CUDA)
    with pytest.raises(ProofError, match="does not show NCCL"):
        list(proof.prove(made, os.environ))


@pytest.mark.launch
def test_a_rank_alone_proves_nothing() -> None:
    # What a launcher that Horovod ignores gives: each process a world of its own, and every sum "right".
    command = [sys.executable, "-m", "hvdkit.install.allreduce", "torch"]
    code, output = processes.run(command, proof.job_environment(os.environ), 120)
    assert (code, output.splitlines()[-1]) == (1, "rank 0 of 1: sum 1.0, expected 1.0")


def test_a_job_around_us_is_left_out() -> None:
    clean = proof.job_environment({"HOROVOD_RANK": "1", "OMPI_COMM_WORLD_RANK": "1", "PATH": "/bin"})
    assert not {"HOROVOD_RANK", "OMPI_COMM_WORLD_RANK"} & set(clean)
    assert clean["PATH"] == "/bin"


def test_mpi_arguments_are_open_mpis_own() -> None:
    made = plans.make()
    command = proof.job("mpi", "torch", made)
    assert any(option.startswith("--mpi-args=") for option in command)
    assert "--binding-args=--bind-to none --map-by slot" in command
    assert made.system.mpi is not None
    intel = replace(made.system.mpi, version="Intel(R) MPI Library for Linux* OS, Version 2021.9")
    command = proof.job("mpi", "torch", plans.make(system=replace(made.system, mpi=intel)))
    assert "--mpi" in command and not any(option.startswith("--mpi-args=") for option in command)


def test_an_mpich_is_started_by_its_own_launcher() -> None:
    """What its `mpirun --version` prints holds no "MPICH", by which horovodrun would know it."""
    made = plans.make()
    assert made.system.mpi is not None
    mpich = replace(made.system.mpi, version="mpirun (MPICH) 4.2.1")
    made = plans.make(system=replace(made.system, mpi=mpich))
    assert proof.job("mpi", "torch", made)[:3] == ["mpirun", "-np", "2"]
    assert "--gloo" in proof.job("gloo", "torch", made)
