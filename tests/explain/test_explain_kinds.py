"""Which line is the root where a log has several, and marks and ends in the forms of every launcher."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from hvdkit.explain.ended import Ended, first
from hvdkit.explain.log import parse
from hvdkit.explain.report import data, next_steps, text
from hvdkit.explain.verdict import judge

SHUT_DOWN = "horovod.common.exceptions.HorovodInternalError: Horovod has been shut down."
TRACEBACK = 'Traceback (most recent call last):\n  File "/job/train.py", line 4, in <module>\n'


def tagged(rank: int, lines: str) -> str:
    return "".join(f"[{rank}]<stderr>:{line}\n" for line in lines.splitlines())


def cause(log: str) -> str:
    found = judge(parse(log)).found
    return found[0].cause.id if found else "unknown"


GONE = tagged(0, TRACEBACK + SHUT_DOWN)
UNKNOWN_WORDS = tagged(0, TRACEBACK + "RuntimeError: the communicator was aborted")
ROOTS = {
    "what a survivor says of a killed rank in its own words": (
        UNKNOWN_WORDS + "Process 1 exit with status code 137.\nProcess 0 exit with status code 1.\n",
        "killed",
    ),
    "a survivor that ends before the one that failed": (
        GONE
        + tagged(1, TRACEBACK + "IndexError: 7")
        + "Process 0 exit with status code 1.\nProcess 1 exit with status code 1.\n",
        "own_error",
    ),
    "a rank that is killed because another one failed": (
        tagged(0, TRACEBACK + "IndexError: 7")
        + "Process 0 exit with status code 1.\nProcess 1 exit with status code 137.\n",
        "own_error",
    ),
    "an error before a crash at the end of the same rank": (
        tagged(0, TRACEBACK + "IndexError: 7") + "Process 0 exit with status code 139.\n",
        "own_error",
    ),
    "Gloo aborts the rank that is left": (
        tagged(0, "terminate called after throwing an instance of 'gloo::IoException'")
        + tagged(0, "  what():  [gloo/transport/tcp/pair.cc:5] Connection reset by peer")
        + "Process 0 exit with status code 134.\nProcess 1 exit with status code 139.\n",
        "crashed",
    ),
    "a task fails, and srun ends the others": (
        "0: Traceback (most recent call last):\n"
        '0:   File "/job/train.py", line 4, in <module>\n0: RuntimeError: shape\n1: step 1\n'
        "srun: error: n1: task 0: Exited with exit code 1\n"
        "slurmstepd: error: *** STEP 5.0 ON n1 CANCELLED AT 2026-01-01T00:00:00 ***\n"
        "srun: error: n1: task 1: Killed\n",
        "own_error",
    ),
    "a stall that lasts until the time limit": (
        "[1,0]<stderr>:Missing ranks:\n[1,0]<stderr>:1: [allreduce.loss]\n"
        "slurmstepd: error: *** STEP 5.0 ON n1 CANCELLED AT 2026-01-01T00:00:00 DUE TO TIME LIMIT ***\n"
        "srun: error: n1: tasks 0-1: Killed\n",
        "stalled",
    ),
    "a pod without memory, and the daemon that is lost with it": (
        "train-worker-1   0/1   OOMKilled   0\nORTE has lost communication with a remote daemon.\n\n"
        "  HNP daemon   : [[43,0],0] on node train-launcher\n"
        "  Remote daemon: [[43,0],2] on node train-worker-1\n",
        "out_of_memory",
    ),
    "no ssh, and so no daemon": (
        "ssh: connect to host b port 22: Connection refused\n"
        "ORTE was unable to reliably start one or more daemons.\n",
        "ssh_unreachable",
    ),
    "a rank that was not there because it had failed": (
        tagged(1, TRACEBACK + "OSError: no data")
        + tagged(0, "  what():  [gloo/http_store.cc:54] Wait timeout after 30 seconds for key(s): 1."),
        "own_error",
    ),
    "an interface that is not there, and so no way": (
        "WARNING: An invalid value was given for btl_tcp_if_include.  This\nvalue will be ignored.\n"
        "  Local host: b\n  Value:      em1\n"
        "At least one pair of MPI processes are unable to reach each other for\nMPI communications.\n"
        "  Process 1 ([[3,1],2]) is on host: a\n  Process 2 ([[3,1],0]) is on host: b\n",
        "mpi_interface",
    ),
    "a line that names the library, under a failing import": (
        tagged(0, TRACEBACK + "ImportError: libGL.so.1: cannot open shared object file: No such file"),
        "library_missing",
    ),
}


@pytest.mark.parametrize(("log", "expected"), ROOTS.values(), ids=ROOTS)
def test_the_root_is_told_from_what_follows(log: str, expected: str) -> None:
    assert cause(log) == expected


NOTHING_FAILED = {
    "TensorFlow does without a library": (
        "[1,0]<stderr>:W dso_loader.cc:64] Could not load dynamic library 'libnvinfer.so.7'; dlerror: "
        "libnvinfer.so.7: cannot open shared object file: No such file or directory\n[1,0]<stdout>:done\n"
    ),
    "CMake does without MPI": (
        "-- Could NOT find MPI_CXX (missing: MPI_CXX_LIB_NAMES)\nSuccessfully built horovod\n"
    ),
    "NCCL does without InfiniBand": (
        "[1,0]<stdout>:n1:7:7 [0] misc/ibvwrap.cu:63 NCCL WARN Failed to open libibverbs.so[.1]\n"
    ),
    "Slurm queues": "srun: job 12 queued and waiting for resources\nsrun: job 12 has been allocated\n",
    "Docker says that memory was enough": 'horovod {"OOMKilled": false, "ExitCode": 0}\n',
    "somebody else's pod": "nginx-5d\n  Last State: Terminated\n    Reason: OOMKilled\n",
}


@pytest.mark.parametrize("log", NOTHING_FAILED.values(), ids=NOTHING_FAILED)
def test_what_looks_like_a_cause_and_is_none(log: str) -> None:
    assert cause(log) == "unknown"


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        ("[prterun-n1-9@1,3]<stderr>:   File\n", [(3, "  File")]),
        (
            "0: one\n1:   two\nsrun: x\n 12: three\n",
            [(0, "one"), (1, "  two"), (None, "srun: x"), (12, "three")],
        ),
        ("[pod/a-worker-0/w] [1]<stdout>:x\n[pod/b/w] y\n", [(1, "x"), (None, "y")]),
        ("worker-1  | x\nlauncher  | y\n", [(None, "x"), (None, "y")]),
        ("[1]<stdout>:x\n0: [allreduce.loss]\n", [(1, "x"), (None, "0: [allreduce.loss]")]),
    ],
)
def test_the_marks_of_every_launcher(log: str, expected: list[tuple[int | None, str]]) -> None:
    assert [(line.rank, line.text) for line in parse(log).lines] == expected


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        ("Process 2 exit with status code -9.", (2, -9, 9)),
        ("prterun noticed that process rank 5 with PID 7 on node n exited on signal 11 (Segv)", (5, 139, 11)),
        ("Process name: [prterun-n1-9@1,4]\n   Exit code:    3", (4, 3, 0)),
        ("Process name: [[28089,1],1]\n  Exit code:    1", (1, 1, 0)),
        ("srun: error: n1: task 3: Bus error (core dumped)", (3, 135, 7)),
        ("srun: error: n1: tasks 4-7: Exited with exit code 2", (4, 2, 0)),
        ("=   RANK 3 PID 22 RUNNING AT n5\n=   KILLED BY SIGNAL: 9 (Killed)", (3, 137, 9)),
    ],
)
def test_how_a_rank_ended_in_the_words_of_every_launcher(log: str, expected: tuple[int, int, int]) -> None:
    found = first(parse(log))
    assert found == Ended(1, *expected)


@pytest.mark.parametrize(
    ("module", "install"),
    [("distutils", "setuptools"), ("pkg_resources", "'setuptools<81'"), ("sklearn.svm", "scikit-learn")],
)
def test_a_module_that_is_no_package_s_name(module: str, install: str) -> None:
    log = tagged(0, TRACEBACK + f"ModuleNotFoundError: No module named '{module}'")
    assert install in judge(parse(log)).found[0].fix


def test_a_call_that_one_rank_makes_is_told_from_the_call_that_it_keeps_the_others_from() -> None:
    """Both miss a tensor: `loss`, which rank 1 never had, and `w`, which rank 0 had in each step before."""
    calls = [(0, "w"), (1, "w"), (0, "w"), (1, "w"), (0, "loss"), (1, "w")]
    log = "".join(f"[{rank}]<stdout>:T operations.cc: [{rank}]: Enqueued {name}; \n" for rank, name in calls)
    (found,) = judge(parse(log)).found
    assert found.title == "rank 1 never reaches loss, and the others wait for it"


def test_unknown_says_which_two_steps_would_tell_more() -> None:
    hangs, failed = (
        parse("[0]<stdout>:step 1\n[1]<stdout>:step 1\n"),
        parse("Process 0 exit with status code 1.\n"),
    )
    assert [step.split(":")[0] for step in next_steps(hangs)] == ["who waits for whom", "where each rank is"]
    assert "one rank alone" in text(judge(failed), "job.log") and len(next_steps(failed)) == 2


def mutated(log: str, by: random.Random) -> str:
    lines = log.splitlines(keepends=True)
    for _ in range(by.randint(1, 8)):
        place = by.randrange(len(lines))
        cut = by.randrange(len(lines[place]) + 1)
        strange = by.choice(["", "{x}", "-99999999999", "[1]<stderr>:", "\0", "%s", "\n", "'", '"'])
        lines[place] = lines[place][:cut] + strange + by.choice([lines[place][cut:], by.choice(lines)])
    return "".join(lines)


def test_no_damaged_log_ends_in_an_error() -> None:
    """A log is cut, mixed and full of what a program prints."""
    by = random.Random(0)
    logs = [path.read_text()[:4000] for path in sorted((Path(__file__).parent / "logs").rglob("*.log"))]
    for log in logs:
        verdict = judge(parse(mutated(log, by)))
        assert text(verdict, "job.log").startswith(("cause: ", "unknown: ")) and data(verdict)


def test_no_password_of_a_log_is_told() -> None:
    verdict = judge(parse(tagged(0, TRACEBACK + "OSError: https://me:s3cret@host/data.tar is gone")))
    assert "s3cret" not in text(verdict, "job.log") + str(data(verdict))
    assert "https://****@host/data.tar" in text(verdict, "job.log")
