"""What node 0 makes of what the nodes say, and of what they do not say."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from hvdkit.bootstrap.board import SILENCE_SECONDS, Board, Failure
from hvdkit.bootstrap.messages import MalformedError, Message
from hvdkit.hosts.lists import Host

HOSTS = (Host("10.0.0.1", 2), Host("10.0.0.2", 2), Host("10.0.0.3", 1))
KILLED = Failure("rank 3 on b was killed by SIGKILL", by_signal=True)
ENDED = Failure("rank 0 on a ended with exit code 1", by_signal=False)


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


class Job:
    """A board, its clock, and nodes that speak."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.board = Board(HOSTS, 30, clock=self.clock)

    def say(self, node: int, done: bool = False, failure: Failure | None = None, who: str = "") -> Message:
        told = asdict(failure) if failure else None
        return self.board.answer(
            {"node": node, "who": who or f"process {node}", "done": done, "failure": told},
            f"10.0.0.{node + 1}",
        )

    def all_say(self, *nodes: int) -> list[str]:
        return [self.say(node)["stop"] for node in nodes or range(3)]


def test_a_node_that_never_comes_is_named() -> None:
    job = Job()
    job.say(0)
    job.say(2)
    assert job.board.missing() == ["node 1 (10.0.0.2, ranks 2 to 3)"]
    job.clock.now += 19
    job.all_say(0, 2)
    job.clock.now += 12
    assert job.say(0)["stop"] == "node 1 (10.0.0.2, ranks 2 to 3) did not connect within 30 s"


def test_a_silent_node_ends_the_job() -> None:
    job = Job()
    job.all_say()
    for _ in range(int(SILENCE_SECONDS)):
        job.clock.now += 1
        assert job.all_say(0, 1) == ["", ""]
    job.clock.now += 1
    stop = "no message from node 2 (10.0.0.3, rank 4) for 20 s"
    assert job.all_say(0, 1) == [stop, stop]
    assert job.board.all_told(), "the lost one need not be told"


def test_a_node_that_is_done_may_be_silent() -> None:
    job = Job()
    job.all_say()
    job.say(2, done=True)
    job.clock.now += SILENCE_SECONDS - 1
    job.all_say(0, 1)
    job.clock.now += 2
    assert job.all_say(0, 1) == ["", ""]


def test_the_cause_is_named_not_what_followed_from_it() -> None:
    job = Job()
    job.all_say()
    job.clock.now += 1
    assert job.say(0, failure=ENDED)["stop"] == "", "another rank may have failed first"
    job.clock.now += 0.1
    job.say(1, failure=KILLED)
    job.clock.now += 1
    job.say(2)
    assert job.say(0)["stop"] == KILLED.text


def test_a_failure_waits_for_a_node_that_may_be_lost() -> None:
    job = Job()
    job.all_say()
    job.clock.now += 5
    job.say(0, failure=ENDED)
    for _ in range(14):
        job.clock.now += 1
        assert job.all_say(0, 1) == ["", ""]
    job.clock.now += 2
    assert job.say(0)["stop"] == "no message from node 2 (10.0.0.3, rank 4) for 20 s"


def test_a_second_process_of_a_node_is_refused() -> None:
    job = Job()
    job.say(1)
    assert job.say(1, who="process 9 on b")["refused"] == (
        "node 1 (10.0.0.2, ranks 2 to 3) is already in this job: process 1"
    )


def test_without_a_secret_a_node_is_known_by_its_address() -> None:
    job = Job()
    job.board.listed = [host.name for host in HOSTS]
    message = {"node": 1, "who": "process 1", "done": False, "failure": asdict(KILLED)}
    refused = job.board.answer(message, "10.0.0.9")
    assert refused["refused"] == "node 1 (10.0.0.2, ranks 2 to 3) is 10.0.0.2 here, and asked from 10.0.0.9"
    assert not job.board.seen and not job.board.failures
    assert job.say(1) == {"go": False, "stop": ""}


GOOD = {"node": 1, "who": "process 1", "done": False, "failure": None}


@pytest.mark.parametrize(
    "wrong",
    [
        *({**GOOD, "node": node} for node in (-1, 3, 999, 1.0, True, "1", None, [1])),
        *({**GOOD, "who": who} for who in (None, 3, "a\nb", "\x1b[2J", "x" * 5000)),
        *({**GOOD, "done": done} for done in (None, 1, "yes")),
        *({**GOOD, "failure": failure} for failure in ("end", [], {"text": "end"}, 3)),
        {**GOOD, "failure": {"text": "a\nTraceback", "by_signal": True}},
        {**GOOD, "failure": {"text": "end", "by_signal": 1}},
        {**GOOD, "stop": "now"},
        *({key: value for key, value in GOOD.items() if key != left} for left in ("node", "who", "done")),
    ],
    ids=repr,
)
def test_what_no_node_says_is_refused_and_changes_nothing(wrong: Message) -> None:
    job = Job()
    with pytest.raises(MalformedError):
        job.board.answer(wrong, "10.0.0.2")
    assert not (job.board.seen or job.board.done or job.board.failures or job.board.who)
