"""Where the tasks of srun meet."""

from __future__ import annotations

import pytest

from hvdkit.bootstrap.errors import LaunchEnvironmentError
from hvdkit.bootstrap.launch import Meeting
from hvdkit.bootstrap.launchers import meeting_of, read_launches
from hvdkit.bootstrap.slurm import first_host

SRUN = {
    "SLURM_JOB_ID": "7",
    "SLURM_STEP_ID": "2",
    "SLURM_PROCID": "3",
    "SLURM_STEP_NUM_TASKS": "4",
    "SLURM_STEP_NODELIST": "gpu[08-09]",
    "SLURM_JOB_NODELIST": "gpu[01-09]",
}


def meeting(environ: dict[str, str]) -> Meeting | None:
    return meeting_of(environ, read_launches(environ, mpi_built=True))


def test_tasks_meet_on_the_steps_first_host_on_a_port_of_their_own() -> None:
    assert meeting(SRUN) == Meeting(
        "gpu08", "SLURM_STEP_NODELIST=gpu[08-09]", 20000 + 7 * 16 + 2, "srun/7.2/0", "gpu[08-09]"
    )
    requeued = meeting({**SRUN, "SLURM_RESTART_COUNT": "1", "HVDKIT_CTRL_PORT": "700"})
    assert requeued is not None
    assert (requeued.port, requeued.job) == (700, "srun/7.2/1")


def test_ports_stay_below_those_that_linux_hands_out() -> None:
    ports = [meeting({**SRUN, "SLURM_JOB_ID": str(job)}) for job in range(1, 10**6, 777)]
    assert all(each is not None and 20000 <= each.port < 30000 for each in ports)


@pytest.mark.parametrize(
    ("short", "first"),
    [
        ("a", "a"),
        ("a,b", "a"),
        ("gpu[08-11,14],login", "gpu08"),
        ("gpu[3]", "gpu3"),
        ("rack[1-2]n[03,05]", "rack1n03"),
        ("n[1-2]-ib,x", "n1-ib"),
    ],
)
def test_first_host(short: str, first: str) -> None:
    assert first_host(short) == first


@pytest.mark.parametrize(
    ("missing", "seen"),
    [
        ({"SLURM_STEP_NODELIST": "", "SLURM_JOB_NODELIST": ""}, "SLURM_STEP_NODELIST is not"),
        ({"SLURM_JOB_ID": ""}, "SLURM_JOB_ID is not"),
        ({"SLURM_JOB_ID": "x"}, "SLURM_JOB_ID='x' is not an integer"),
    ],
)
def test_what_is_missing_is_named(missing: dict[str, str], seen: str) -> None:
    with pytest.raises(LaunchEnvironmentError) as caught:
        meeting({**SRUN, **missing})
    assert seen in caught.value.seen
