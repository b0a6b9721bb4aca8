"""The watch of `hvdkit run`: what it says of what the ranks record, when, and what it leaves alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from hvdkit.launch.standing import STOPPED_S, WAIT_S
from hvdkit.launch.watch import Watch
from hvdkit.sync.evidence import Evidence
from hvdkit.sync.folder import Reader, Writer, prepare

EVIDENCE = Evidence(
    framework="torch",
    watched=True,
    wrapped=True,
    uncovered=[],
    unsent=[],
    rates=["0.1"],
    decays=False,
    agreed=False,
    seed=1,
    skipped=0,
    counts={"broadcast": 2},
    last={},
)


class Job:
    """A watch with a clock of its own, and what it said."""

    def __init__(self, ranks: int = 2) -> None:
        self.now = 0.0
        self.said: list[str] = []
        self.watch = Watch(ranks, self.said.append, lambda: self.now)

    def at(self, rank: int, steps: int, waits: bool = False, stopped: bool = False) -> None:
        self.hear(rank, {"at": [40 + rank, steps, int(waits), int(stopped)]})

    def state(
        self,
        rank: int,
        weight: str,
        step: int = 1,
        device: str = "",
        ranks: Sequence[int] = (0, 1),
        **evidence: Any,
    ) -> None:
        self.hear(
            rank,
            {
                "state": {
                    "key": "SGD 0123 0",
                    "step": step,
                    "ranks": list(ranks),
                    "table": {"weight": weight, "bias": "00"},
                    "evidence": {**asdict(EVIDENCE), **evidence},
                    "device": device,
                }
            },
        )

    def hear(self, rank: int, event: dict[str, Any]) -> None:
        self.watch.hear(rank, "abcd"[rank], event)
        self.watch.look()


def test_ranks_that_part_end_the_job_with_rank_and_cause() -> None:
    job = Job()
    job.state(0, "aa")
    assert job.watch.parted is None, "rank 1 has not come to this step"
    job.state(1, "bb", rates=["0.2"])
    error = job.watch.parted
    assert error is not None and job.said == []
    assert error.seen == "after step 1 of SGD: weight on rank 1 differs from rank 0"
    assert error.why.startswith("the learning rates differ (rank 0: 0.1; rank 1: 0.2)")
    equal = Job()
    for step in (1, 10, 100):
        equal.state(0, "aa", step)
        equal.state(1, "aa", step)
    assert equal.watch.parted is None and equal.said == []


def test_weights_that_agreed_before_were_no_phantom_step() -> None:
    job = Job()
    for rank, weight in enumerate(("aa", "aa")):
        job.state(rank, weight)
    for rank, weight in enumerate(("aa", "bb")):
        job.state(rank, weight, 10, decays=True, counts={"broadcast": 2, "phantom step": rank})
    assert job.watch.parted is not None and "took an extra step" not in job.watch.parted.why


def test_models_that_are_each_ranks_own_are_left_alone() -> None:
    """No average and no broadcast: said once, and the job goes on. So it does where one rank alone trains."""
    job = Job()
    for step in (1, 10):
        for rank, weight in enumerate(("aa", "bb")):
            job.state(rank, weight, step, wrapped=False, counts={})
    assert job.watch.parted is None
    assert len(job.said) == 1 and "each rank trains a different model" in job.said[0]
    alone = Job()
    alone.state(0, "aa")
    assert alone.watch.parted is None and alone.said == []


def test_the_rank_that_others_wait_for_is_named_once() -> None:
    job = Job()
    job.at(0, 3, waits=True)
    job.at(1, 3)
    job.now = WAIT_S - 1
    job.watch.look()
    assert job.said == []
    job.now = WAIT_S
    job.watch.look()
    job.watch.look()
    (said,) = job.said
    assert said.startswith("rank 0 waited 20 s in step 4 for rank 1, which took 3 and did not start it\n")
    assert "drop_last=True" in said
    assert job.watch.uneven() == "rank 0 was in step 4; rank 1 went on after 3 steps"
    job.hear(1, {"ended": 3})
    assert job.watch.uneven() == "rank 0 was in step 4; rank 1 ended after 3 steps"
    early = Job()
    for rank in (0, 1):
        early.at(rank, 3)  # rank 0 failed in backward(), before it waited
    assert early.watch.uneven() == ""
    assert early.watch.uneven([1]) == "rank 0 went on after 3 steps; rank 1 ended after 3 steps"
    both = Job()
    for rank in (0, 1):
        both.at(rank, 3, waits=True)  # a slow network is none of a rank's
    both.now = 2 * WAIT_S
    both.watch.look()
    assert both.said == [] and both.watch.uneven() == ""


def test_a_stopped_rank_is_named_with_what_lets_it_go_on() -> None:
    job = Job()
    job.at(0, 3, waits=True)
    job.at(1, 3, stopped=True)
    job.now = STOPPED_S
    job.watch.look()
    (said,) = job.said
    assert said.startswith("rank 1 on b is stopped, and the others wait for it\n")
    assert said.endswith("fix: on b, kill -CONT 41")
    job.now = WAIT_S
    job.watch.look()
    assert len(job.said) == 1, "why rank 0 waits has been said"


def test_two_ranks_on_one_gpu_and_averages_without_overlap() -> None:
    job = Job()
    job.state(0, "aa", device="GPU-1")
    job.watch.hear(
        1, "a", {"state": {"key": "k", "step": 1, "ranks": [0, 1], "table": {}, "device": "GPU-1"}}
    )
    job.watch.look()
    job.hear(0, {"no_overlap": "SGD"})
    job.hear(1, {"no_overlap": "SGD"})
    gpu, overlap = job.said
    assert gpu.startswith("ranks 0, 1 on a compute on one GPU, GPU-1\n") and "local_rank()" in gpu
    assert overlap.startswith("no reduction is under way when backward() ends (SGD)")


def test_what_a_process_writes_is_read_whole(tmp_path: Path) -> None:
    prepare(tmp_path)
    reader, writer = Reader(tmp_path), Writer(tmp_path)
    assert reader.at() == (0, 0, 0, 0) and reader.events() == []
    writer.event({"a": 1})
    with (tmp_path / "events").open("a") as file:
        file.write('{"half')
    writer.at(7, True)
    assert reader.events() == [{"a": 1}] and reader.events() == []
    with (tmp_path / "events").open("a") as file:
        file.write('": 2}\n')
    assert reader.events() == [{"half": 2}]
    writer.called()
    writer.called()
    assert reader.at()[1:] == (7, 1, 2)


def test_a_rank_that_stands_still_is_named_with_its_place_in_the_code() -> None:
    """Outside of a step of Horovod's optimizer, too: stacks tell who waits for whom."""
    inside = [["/venv/lib/python3.11/site-packages/torch/distributed/c10d.py", 9, "all_reduce"]]
    script = ["/home/me/train.py", 30, "main"]
    job = Job()
    for rank in (0, 1):
        job.at(rank, 3)
    job.hear(0, {"stack": [*inside, script]})
    job.hear(1, {"stack": [["/home/me/data.py", 7, "load"], script]})
    job.now = WAIT_S
    job.watch.look()
    (said,) = job.said
    assert said.startswith("rank 0 waited 20 s in step 4 for rank 1, which took 3 and did not start it\n")
    assert "\n  rank 1 on b: /home/me/data.py:7, in load, for 20 s, process 41\n" in said
    both = Job()
    for rank in (0, 1):
        both.at(rank, 3)
        both.hear(rank, {"stack": [*inside, script]})
    both.now = WAIT_S
    both.watch.look()
    assert both.said == []
    moved = Job()
    for rank in (0, 1):
        moved.at(rank, 3)
        moved.hear(rank, {"stack": [script]})
    moved.hear(0, {"stack": [*inside, script]})
    moved.now = WAIT_S - 1
    moved.at(0, 4)  # what it was in before says nothing of now
    moved.now += WAIT_S
    moved.watch.look()
    assert moved.said == []


def test_ranks_of_each_process_set_are_compared_with_each_other() -> None:
    """Sets of one shape under one key, each of whose ranks comes when it likes; and sets that overlap."""
    teams = (0, 2), (1, 3)
    job = Job(4)
    for rank in (0, 1, 3, 2):
        job.state(rank, "abab"[rank], ranks=teams[rank % 2])
    assert job.watch.parted is None and job.said == []
    job.state(1, "aa", 10, ranks=(1, 3))
    job.state(3, "bb", 10, ranks=(1, 3))
    error = job.watch.parted
    assert error is not None and "weight on rank 3 differs from rank 1" in error.seen
    overlapping = Job(3)
    for rank, ranks, weight in ((0, (0, 1), "a"), (0, (0, 2), "b"), (2, (0, 2), "b"), (1, (0, 1), "a")):
        overlapping.state(rank, weight, ranks=ranks)
    assert overlapping.watch.parted is None and overlapping.said == []


def test_a_process_set_that_waits_does_not_blame_the_ranks_of_another() -> None:
    job = Job(4)
    for rank, ranks in enumerate(((0, 1), (0, 1), (2, 3), (2, 3))):
        job.state(rank, "aa", ranks=ranks)
    for rank, steps in enumerate((5, 5, 1, 1)):
        job.at(rank, steps, waits=rank == 0)
    job.now = WAIT_S
    job.watch.look()
    (said,) = job.said
    assert said.startswith("rank 0 waited 20 s in step 6 for rank 1, which took 5 and")


def test_an_error_of_the_watch_is_a_line_and_the_watch_goes_on() -> None:
    job = Job()
    for _ in range(2):
        job.hear(0, {"state": {"key": "SGD", "step": "one", "ranks": [0, 1], "device": ""}})
    job.hear(1, {"fault": "recording step 1 of SGD: KeyError: 3"})
    (said,) = job.said
    assert said.startswith("the watch failed") and "the job is not affected (ValueError: " in said
    assert "\n" not in said and "watch.py:" in said and job.watch.parted is None
    job.state(0, "aa")
    job.state(1, "bb")
    assert job.watch.parted is not None
    recorded = Job()
    recorded.hear(1, {"fault": "recording step 1 of SGD: KeyError: 3"})
    assert "(rank 1, recording step 1 of SGD: KeyError: 3)" in recorded.said[0]


def test_what_some_ranks_never_record_is_not_kept() -> None:
    job = Job()
    for step in range(1, 1000):
        job.state(0, "aa", step)
    job.state(1, "bb", 1)
    assert job.watch.parted is None, "long forgotten"
    job.state(1, "bb", 999)
    assert job.watch.parted is not None


COLLECTIVE = ["/venv/lib/python3.11/site-packages/horovod/torch/mpi_ops.py", 9, "synchronize"]


def stacks(job: Job, *own: list[list[Any]]) -> None:
    for rank, frames in enumerate(own):
        job.hear(rank, {"stack": [COLLECTIVE, *frames]})


def test_ranks_that_wait_for_each_other_are_named_with_their_lines() -> None:
    """One in its step, one in an allreduce of a branch; or both in a helper that two lines call."""
    step, branch = ["/me/train.py", 17, "main"], ["/me/train.py", 20, "main"]
    start, helper = ["/me/train.py", 40, "<module>"], ["/me/metrics.py", 5, "average"]
    job = Job(3)
    for rank in range(3):
        job.at(rank, 3, waits=rank > 0)
    stacks(job, [branch, start], [step, start], [step, start])
    job.now = WAIT_S
    job.watch.look()
    job.watch.look()
    (said,) = job.said
    lines = said.splitlines()
    assert lines[0] == "ranks 0, 1, 2 waited 20 s for each other, in different calls"
    assert lines[1] == "  rank 0 on a: /me/train.py:20, in main, for 20 s, process 40"
    assert lines[2] == "  ranks 1, 2: /me/train.py:17, in main"
    helped = Job()
    for rank in range(2):
        helped.at(rank, 3)
    stacks(helped, [helper, branch, start], [helper, step, start])
    helped.now = WAIT_S
    helped.watch.look()
    assert "rank 1 on b: /me/train.py:17, in main" in helped.said[0]
    computing = Job()
    for rank in range(2):
        computing.at(rank, 3, waits=rank == 0)
    backward = ["/venv/lib/python3.11/site-packages/torch/autograd/graph.py", 9, "_engine_run_backward"]
    computing.hear(0, {"stack": [COLLECTIVE, step, start]})
    computing.hear(1, {"stack": [backward, branch, start]})
    computing.now = WAIT_S
    computing.watch.look()
    assert computing.said == [], "a long backward pass"
    one = Job()
    for rank in range(2):
        one.at(rank, 3, waits=True)
    stacks(one, [step, start], [step, start])
    one.now = 2 * WAIT_S
    one.watch.look()
    assert one.said == [], "a slow network"


def test_a_rank_that_waits_again_and_again_is_not_stuck() -> None:
    """In a validation that averages each batch, each rank is found now here, now there."""
    job = Job()
    for rank in range(2):
        job.at(rank, 3)
    while job.now < 3 * WAIT_S:
        job.now += 3
        line = 20 + int(job.now) % 2
        stacks(job, [["/me/train.py", line, "main"]], [["/me/train.py", 41 - line, "main"]])
    assert job.said == []
