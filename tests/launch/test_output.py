"""Lines of ranks: shown with the rank, kept by rank; the first failure is the one that nobody told of."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from hvdkit.launch.job import first_failure
from hvdkit.launch.lifeline import RankEnd
from hvdkit.launch.output import Output
from hvdkit.launch.screen import Screen
from hvdkit.launch.streams import ERR, OUT

LOST = "[../gloo/transport/tcp/pair.cc:550] Connection closed by peer [10.0.0.2]:4711"
TOLD = "horovod.common.exceptions.HorovodInternalError: Horovod has been shut down."


class Shown:
    """A screen on two streams in memory."""

    def __init__(self) -> None:
        self.streams = io.BytesIO(), io.BytesIO()
        self.screen = Screen(*self.streams)

    @property
    def out(self) -> str:
        return self.streams[0].getvalue().decode()

    @property
    def err(self) -> str:
        return self.streams[1].getvalue().decode()


def test_each_stream_of_each_rank_is_where_it_belongs(tmp_path: Path) -> None:
    shown = Shown()
    with Output(tmp_path / "logs", lambda: False, shown.screen) as output:
        output.take(0, OUT, b"  two  spaces\n\n")
        output.take(3, ERR, b"warning\n")
        output.line("the launcher's")
        output.line("[1,3]<stderr>:of its end of the lifeline")
        output.take(0, ERR, b"\r 1%")
        output.take(0, OUT, b"loss\xff\n")
        output.take(0, ERR, b"\r 2%\r\n")
    assert shown.streams[0].getvalue() == b"[0]   two  spaces\n[0] \n[0] loss\xff\n"
    assert shown.err == (
        "[3] warning\nthe launcher's\n[3] of its end of the lifeline\n\r[0]  1%\r[0]  2%\r\n"
    )
    logs = tmp_path / "logs"
    assert (logs / "rank.0.log").read_bytes() == b"  two  spaces\n\n\r 1%loss\xff\n\r 2%\r\n"
    assert (logs / "rank.3.log").read_bytes() == b"warning\nof its end of the lifeline\n"


def test_a_line_that_is_open_is_ended_for_something_else() -> None:
    """Two bars, and a line of hvdkit's own: each begins a line, and none gets an empty one behind it."""
    shown = Shown()
    shown.screen.show(0, ERR, b"\r 1%")
    shown.screen.show(1, ERR, b"\r 5%")
    shown.screen.say("rank 1 waits")
    shown.screen.show(1, ERR, b"\r 6%\n")
    shown.screen.show(0, ERR, b"\nnext")
    shown.screen.end()
    assert shown.err == "\r[0]  1%\n\r[1]  5%\nhvdkit: rank 1 waits\n[1]  6%\n[0] next\n"


def test_streams_that_are_one_file_share_its_lines(tmp_path: Path) -> None:
    """`hvdkit run ... > job.log 2>&1`."""
    with (tmp_path / "job.log").open("ab") as out, (tmp_path / "job.log").open("ab") as err:
        screen = Screen(out, err)
        screen.show(0, ERR, b"\r 1%")
        screen.show(0, OUT, b"loss\n")
        screen.show(0, OUT, b"\xc3")
        screen.say("half a character is none")
        screen.show(0, OUT, b"\xa9\n")
        screen.show(1, OUT, b"\xc3")
        screen.end()
    assert (tmp_path / "job.log").read_bytes() == (
        b"\r[0]  1%\n[0] loss\nhvdkit: half a character is none\n[0] \xc3\xa9\n[1] \xc3\n"
    )


def test_a_screen_that_is_full_ends_nothing(tmp_path: Path) -> None:
    """A disk that is full, a pipe whose reader has left: reported once, and the log goes on."""
    err = io.BytesIO()
    with Path("/dev/full").open("wb") as full, Output(tmp_path, lambda: False, Screen(full, err)) as output:
        output.take(0, OUT, b"one\n")
        output.take(0, OUT, b"two\n")
    said = b"hvdkit: standard output cannot be written: No space left on device; the job goes on without it\n"
    assert err.getvalue() == said
    assert (tmp_path / "rank.0.log").read_bytes() == b"one\ntwo\n"


def test_a_log_that_is_full_ends_nothing(tmp_path: Path) -> None:
    (tmp_path / "rank.0.log").symlink_to("/dev/full")
    shown = Shown()
    with Output(tmp_path, lambda: False, shown.screen) as output:
        output.take(0, OUT, b"one\n")
        output.take(0, OUT, b"two\n")
    assert shown.out == "[0] one\n[0] two\n"
    assert (
        shown.err == f"hvdkit: {tmp_path}: No space left on device; the job goes on, and its logs end here\n"
    )


def test_the_launcher_repeats_nothing_after_a_failure() -> None:
    shown = Shown()
    with Output(None, lambda: True, shown.screen) as output:
        output.line("Process 1 exit with status code 7.")
        output.take(1, ERR, b"the rank's own\n")
    assert shown.err == "[1] the rank's own\n"


def fill(output: Output, rank: int, *lines: str) -> None:
    for line in lines:
        output.take(rank, ERR, f"{line}\n".encode())


def test_traceback_is_the_last_one() -> None:
    output = Output(None, lambda: False)
    fill(
        output,
        0,
        "Traceback (most recent call last):",
        "first",
        "Traceback (most recent call last):",
        "  x",
        "E: y",
    )
    assert output.words(0).traceback == "Traceback (most recent call last):\n  x\nE: y"
    assert output.words(1).traceback == ""


def test_first_failure_is_not_the_messenger() -> None:
    output = Output(None, lambda: False)
    fill(output, 0, "Traceback (most recent call last):", TOLD)
    fill(output, 1, "Traceback (most recent call last):", "ValueError: boom")
    ended = [RankEnd(0, "a", 1), RankEnd(2, "b", 0), RankEnd(1, "b", 7)]
    assert first_failure(ended, output) == ended[2]
    assert first_failure(ended[:1], output) == ended[0]
    assert first_failure(ended[1:2], output) is None


def test_who_was_asked_to_end_is_not_blamed() -> None:
    output = Output(None, lambda: False)
    fill(output, 0, "Traceback (most recent call last):", TOLD)
    fill(output, 1, "epoch 3 is done", "hvdkit: the launcher is gone or stopped the job; rank 1 on b exits")
    told, healthy = RankEnd(0, "a", 1), RankEnd(1, "b", 143, stopped=True)
    for end in (healthy, RankEnd(1, "b", None, stopped=True), RankEnd(1, "b", 137, stopped=True)):
        assert first_failure([told, end], output) == told
    assert first_failure([healthy, told], output) == healthy, "stopped by somebody before anything failed"
    assert output.words(0).was_shut_down and not output.words(1).was_shut_down


@pytest.mark.parametrize("last", [[], ["hvdkit: the launcher is gone or stopped the job; rank 1 on b exits"]])
def test_who_was_asked_to_end_while_it_failed_is_blamed(last: list[str]) -> None:
    """Rank 1 raised, its exit took a while, and rank 0, which Horovod told of it, had ended by then."""
    output = Output(None, lambda: False)
    fill(output, 0, "Traceback (most recent call last):", TOLD)
    fill(
        output,
        1,
        "Traceback (most recent call last):",
        '  File "train.py", line 3',
        "ValueError: boom",
        *last,
    )
    ended = [RankEnd(0, "a", 1), RankEnd(1, "b", 143, stopped=True)]
    assert first_failure(ended, output) == RankEnd(1, "b", 1, stopped=True), "with its own exit code"
    by_itself = RankEnd(1, "b", 7, stopped=True)
    assert first_failure([ended[0], by_itself], output) == by_itself


@pytest.mark.parametrize("mark", ["", "[rank1]: "])
@pytest.mark.parametrize(
    "last",
    [
        ["terminate called after throwing an instance of 'gloo::IoException'", "  what():  " + LOST],
        ["[rank1]:[W1128 01:02:03.4 Group.cpp:1] Warning: not destroyed", "", "Fatal Python error: x"],
        ["terminate called without an active exception"],
        [],
    ],
)
def test_a_library_that_aborts_as_python_closes_is_not_the_failure(mark: str, last: list[str]) -> None:
    """Rank 1 raised, and PyTorch's Gloo aborted it as it closed: its own error and exit code count."""
    output = Output(None, lambda: False)
    frame = '  File "train.py", line 3'
    fill(output, 0, "Traceback (most recent call last):", frame, f"RuntimeError: {LOST}")
    error = ["Traceback (most recent call last):", frame, "ValueError: boom"]
    output.take(1, ERR, b"\r 45%|####   |")
    fill(output, 1, *(mark + line for line in error), *last)
    ended = [RankEnd(0, "a", 1), RankEnd(1, "b", 134)]
    assert first_failure(ended, output) == RankEnd(1, "b", 1)
    shown = output.words(1).traceback.splitlines()
    assert f"{mark}ValueError: boom" in shown and not any("Fatal" in line for line in shown)
    killed = [RankEnd(1, "b", 137)]
    assert first_failure(killed, output) == killed[0], "somebody has killed it, whatever it printed before"
    output.take(1, OUT, b"epoch 3\n")
    assert first_failure([ended[1]], output) == ended[1], "the error was handled; the crash came later"


def test_an_error_that_was_handled_is_not_the_reason() -> None:
    output = Output(None, lambda: False)
    fill(output, 0, "Traceback (most recent call last):", TOLD)
    fill(output, 1, "Traceback (most recent call last):", "  x", "KeyError: 'cache'", "going on without")
    fill(output, 2, "Traceback (most recent call last):", "  x", "KeyError: 'cache'")
    output.take(2, OUT, b"epoch 2\n")
    for rank in (1, 2):
        ended = [RankEnd(0, "a", 1), RankEnd(rank, "b", 143, stopped=True)]
        assert first_failure(ended, output) == ended[0]


def test_a_mismatch_is_no_shut_down() -> None:
    output = Output(None, lambda: False)
    fill(output, 0, "Traceback (most recent call last):", "HorovodInternalError: Mismatched data types: ...")
    assert output.words(0).was_told and not output.words(0).was_shut_down
