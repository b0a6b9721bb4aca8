"""Hosts and slots of a Slurm allocation."""

from __future__ import annotations

import pytest

from hvdkit.errors import HvdkitError
from hvdkit.launch.allocation import expanded, hosts_of_allocation

JOB = {"SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "gpu[08-09],login"}


@pytest.mark.parametrize(
    ("nodes", "hosts"),
    [
        ("a", ["a"]),
        ("a,b", ["a", "b"]),
        ("gpu[08-10,14],login", ["gpu08", "gpu09", "gpu10", "gpu14", "login"]),
        ("rack[1-2]n[03,05]", ["rack1n03", "rack1n05", "rack2n03", "rack2n05"]),
    ],
)
def test_every_host_of_the_short_form(nodes: str, hosts: list[str]) -> None:
    assert list(expanded(nodes)) == hosts


@pytest.mark.parametrize(
    ("said", "argument"),
    [
        ({"SLURM_NTASKS": "5", "SLURM_TASKS_PER_NODE": "2(x2),1"}, "gpu08:2,gpu09:2,login:1"),
        ({"SLURM_NTASKS_PER_NODE": "4", "SLURM_TASKS_PER_NODE": "4(x3)"}, "gpu08:4,gpu09:4,login:4"),
        ({"SLURM_TASKS_PER_NODE": "1(x3)", "SLURM_GPUS_ON_NODE": "8"}, "gpu08:8,gpu09:8,login:8"),
        ({"SLURM_TASKS_PER_NODE": "1(x3)", "SLURM_GPUS_PER_NODE": "a100:2"}, "gpu08:2,gpu09:2,login:2"),
        (
            {"SLURM_NTASKS": "3", "SLURM_TASKS_PER_NODE": "1(x3)", "SLURM_GPUS_ON_NODE": "8"},
            "gpu08:1,gpu09:1,login:1",
        ),
        ({}, "gpu08:1,gpu09:1,login:1"),
    ],
)
def test_slots(said: dict[str, str], argument: str) -> None:
    found = hosts_of_allocation({**JOB, **said})
    assert found is not None and found.argument == argument


def test_outside_of_an_allocation_there_are_none() -> None:
    assert hosts_of_allocation({}) is None
    assert hosts_of_allocation({"SLURM_JOB_NODELIST": "a"}) is None


def test_a_step_of_several_tasks_is_refused() -> None:
    with pytest.raises(HvdkitError, match="srun started hvdkit run 4 times"):
        hosts_of_allocation({**JOB, "SLURM_STEP_NUM_TASKS": "4"})
    assert hosts_of_allocation({**JOB, "SLURM_STEP_NUM_TASKS": "1"}) is not None


def test_a_name_that_is_no_host_is_refused() -> None:
    with pytest.raises(HvdkitError, match="not a host name"):
        hosts_of_allocation({**JOB, "SLURM_JOB_NODELIST": "a;id"})
