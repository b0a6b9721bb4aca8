"""Lines of ranks: shown with the rank, kept by rank; the first failure is the one that nobody told of."""

from __future__ import annotations

from pathlib import Path

import pytest

from hvdkit.launch.job import first_failure
from hvdkit.launch.lifeline import RankEnd
from hvdkit.launch.output import Output

TOLD = "horovod.common.exceptions.HorovodInternalError: Horovod has been shut down."


def test_tags_of_both_launchers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Output(tmp_path / "logs", lambda: False) as output:
        for line in ("[0]<stdout>:  two  spaces", "[1,3]<stderr>:warning", "the launcher's", "[0]<stdout>:"):
            output.line(line)
    shown = capsys.readouterr()
    assert shown.out == "[0]   two  spaces\n[0] \n"
    assert shown.err == "[3] warning\nthe launcher's\n"
    assert (tmp_path / "logs" / "rank.0.log").read_text() == "  two  spaces\n\n"
    assert (tmp_path / "logs" / "rank.3.log").read_text() == "warning\n"


def test_the_launcher_repeats_nothing_after_a_failure(capsys: pytest.CaptureFixture[str]) -> None:
    with Output(None, lambda: True) as output:
        output.line("Process 1 exit with status code 7.")
        output.line("[1]<stderr>:the rank's own")
    assert capsys.readouterr().err == "[1] the rank's own\n"


def fill(output: Output, rank: int, *lines: str) -> None:
    for line in lines:
        output.line(f"[{rank}]<stderr>:{line}")


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
    assert output.traceback(0) == "Traceback (most recent call last):\n  x\nE: y"
    assert output.traceback(1) == ""


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
    assert output.was_shut_down(0) and not output.was_shut_down(1)


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
    assert first_failure(ended, output) == ended[1]


def test_an_error_that_was_handled_is_not_the_reason() -> None:
    output = Output(None, lambda: False)
    fill(output, 0, "Traceback (most recent call last):", TOLD)
    fill(output, 1, "Traceback (most recent call last):", "  x", "KeyError: 'cache'", "going on without")
    ended = [RankEnd(0, "a", 1), RankEnd(1, "b", 143, stopped=True)]
    assert first_failure(ended, output) == ended[0]


def test_a_mismatch_is_no_shut_down() -> None:
    output = Output(None, lambda: False)
    fill(output, 0, "Traceback (most recent call last):", "HorovodInternalError: Mismatched data types: ...")
    assert output.was_told(0) and not output.was_shut_down(0)
