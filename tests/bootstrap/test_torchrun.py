"""Where the ranks of torchrun and PyTorchJob meet, and which of their environments are refused."""

from __future__ import annotations

import pytest

from hvdkit.bootstrap.errors import LaunchEnvironmentError
from hvdkit.bootstrap.launch import Meeting
from hvdkit.bootstrap.launchers import meeting_of, read_launches

POD = {"RANK": "1", "WORLD_SIZE": "2", "MASTER_ADDR": "job-master-0", "MASTER_PORT": "23456"}
TORCHRUN = {
    **POD,
    "LOCAL_RANK": "1",
    "LOCAL_WORLD_SIZE": "2",
    "TORCHELASTIC_RUN_ID": "run",
    "TORCHELASTIC_RESTART_COUNT": "3",
}


def meeting(environ: dict[str, str]) -> Meeting | None:
    return meeting_of(environ, read_launches(environ, mpi_built=True))


@pytest.mark.parametrize(
    ("environ", "port", "job"),
    [
        (POD, 23457, "torchrun///23456"),
        (TORCHRUN, 23457, "torchrun/run/3/23456"),
        ({**POD, "MASTER_PORT": "32766"}, 32767, "torchrun///32766"),
        # The kernel chose these, and lends their neighbours to connections of other programs.
        ({**POD, "MASTER_PORT": "32767"}, 22767, "torchrun///32767"),
        ({**POD, "MASTER_PORT": "65535"}, 25535, "torchrun///65535"),
        ({**POD, "HVDKIT_CTRL_PORT": "700"}, 700, "torchrun///23456"),
        ({**POD, "HVDKIT_CTRL_PORT": "700", "MASTER_PORT": ""}, 700, "torchrun///"),
    ],
)
def test_ranks_meet_beside_torchruns_own_port(environ: dict[str, str], port: int, job: str) -> None:
    assert meeting(environ) == Meeting("job-master-0", "MASTER_ADDR=job-master-0", port, job)


@pytest.mark.parametrize(
    "environ",
    [{}, {**POD, "RANK": "0", "WORLD_SIZE": "1"}, {**POD, "HOROVOD_RANK": "0", "HOROVOD_SIZE": "1"}],
    ids=["no launcher", "a world of one", "horovodrun inside"],
)
def test_nobody_meets_where_horovod_needs_no_help(environ: dict[str, str]) -> None:
    assert meeting(environ) is None


@pytest.mark.parametrize(
    ("environ", "seen"),
    [
        ({**POD, "MASTER_ADDR": ""}, "WORLD_SIZE=2 is set but MASTER_ADDR is not"),
        ({**POD, "MASTER_PORT": ""}, "WORLD_SIZE=2 is set but MASTER_PORT is not"),
        ({**POD, "MASTER_PORT": "http"}, "MASTER_PORT='http' is not an integer"),
        ({**POD, "MASTER_PORT": "70000"}, "MASTER_PORT=70000 is not a port"),
        ({**POD, "HVDKIT_CTRL_PORT": "0"}, "HVDKIT_CTRL_PORT=0 is not a port"),
        ({**POD, "LOCAL_WORLD_SIZE": "4"}, "LOCAL_WORLD_SIZE=4 contradicts WORLD_SIZE=2"),
        ({**POD, "LOCAL_RANK": "2"}, "LOCAL_RANK=2 is not a local rank of 2"),
        ({**TORCHRUN, "LOCAL_RANK": "one"}, "LOCAL_RANK='one' is not an integer"),
    ],
)
def test_what_is_missing_or_contradicts_is_named(environ: dict[str, str], seen: str) -> None:
    with pytest.raises(LaunchEnvironmentError) as caught:
        meeting(environ)
    assert caught.value.seen == seen
    assert caught.value.fix
