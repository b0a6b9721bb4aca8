"""Reading a log: tags, pieces, tracebacks."""

from __future__ import annotations

from hvdkit.explain.log import parse
from hvdkit.explain.verdict import judge


def texts(log: str) -> list[tuple[int | None, str]]:
    return [(line.rank, line.text) for line in parse(log).lines]


def test_gloo_and_mpi_tags_and_times_are_taken_off() -> None:
    assert texts("[3]<stderr>:a\n[1,2]<stdout>:b\nSat Nov  1 01:02:03 2025[0]<stderr>:c\nd") == [
        (3, "a"),
        (2, "b"),
        (0, "c"),
        (None, "d"),
    ]


OWN = "[0] one\n[1]   two\n[0] \n[1]\nhvdkit: rank 0 on a failed first: exit code 1\n"


def test_the_marks_of_hvdkit_run_are_taken_off() -> None:
    assert texts(OWN)[:4] == [(0, "one"), (1, "  two"), (0, ""), (1, "")]
    assert parse(OWN).is_job
    assert texts("[1] Horovod has been shut down\nx [0] y") == [
        (1, "Horovod has been shut down"),
        (None, "x [0] y"),
    ]


def test_any_other_program_may_write_such_marks() -> None:
    text = "[1] 4711\n[0] ModuleNotFoundError: No module named 'x'\n"
    assert not parse(text).is_job and parse(text).ranks == ()
    # What a rank prints is its own where a launcher has tagged it.
    assert texts("[0]<stdout>:[7] loss\nhvdkit: x")[0] == (0, "[7] loss")


def test_the_pieces_of_a_line_are_put_together_past_other_ranks() -> None:
    log = "[1,0]<stderr>:Key[1,0]<stderr>:Error[1,1]<stderr>:Value\n[1,0]<stderr>:: 'a'\n[1,1]<stderr>:tail\n"
    assert texts(log) == [(1, "Value"), (0, "KeyError: 'a'"), (1, "tail")]


def test_colours_and_progress_bars_do_not_hide_a_line() -> None:
    assert texts("\x1b[31mred\x1b[0m\r50%\rdone") == [(None, "red"), (None, "50%"), (None, "done")]


def test_a_progress_bar_and_pytorchs_mark_do_not_hide_a_traceback() -> None:
    error = 'Traceback (most recent call last):\n  File "/me/train.py", line 7, in <module>\nKeyError: 1\n'
    for mark in ("", "[rank0]: "):
        marked = "".join(f"{mark}{line}\n" for line in error.splitlines())
        bar = "\r 44%|####  | 44/100\r 45%|####  | 45/100"
        shown = (bar + marked).replace("\n", "\n[0] ").replace("\r", "\r[0] ")
        (traceback,) = parse(f"{shown}\nhvdkit: rank 0 on a failed first: exit code 1\n").tracebacks
        assert (traceback.rank, traceback.error, traceback.place) == (0, "KeyError: 1", "/me/train.py:7")


def test_a_traceback_ends_with_its_error_in_the_authors_file() -> None:
    log = """\
[1]<stderr>:Traceback (most recent call last):
[0]<stderr>:something else
[1]<stderr>:  File "/home/me/train.py", line 7, in <module>
[1]<stderr>:    load()
[1]<stderr>:  File "/opt/lib/python3.11/json/decoder.py", line 3, in load
[1]<stderr>:    raise ValueError
[1]<stderr>:ValueError: no
"""
    (traceback,) = parse(log).tracebacks
    assert (traceback.rank, traceback.error, traceback.place) == (1, "ValueError: no", "/home/me/train.py:7")


def test_of_a_chain_the_last_counts() -> None:
    log = """\
Traceback (most recent call last):
  File "a.py", line 1, in f
KeyError: 1

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "a.py", line 2, in g
RuntimeError: lost
"""
    assert [one.error for one in parse(log).tracebacks] == ["RuntimeError: lost"]


def test_tensorflow_says_what_went_wrong_below_where_the_graph_was_made() -> None:
    log = """\
Traceback (most recent call last):
  File "a.py", line 9, in <module>
errors_impl.UnknownError: Graph execution error:

Detected at node HorovodAllreduce_0 defined at (most recent call last):
  File "a.py", line 6, in <lambda>

Horovod has been shut down.
\t [[{{node HorovodAllreduce_0}}]]
"""
    (traceback,) = parse(log).tracebacks
    assert (traceback.error, traceback.number) == ("errors_impl.UnknownError: Horovod has been shut down.", 8)


def test_a_number_that_no_rank_has_is_text() -> None:
    """Python itself refuses to read more than 4300 digits."""
    number = "9" * 5000
    ended = f"hvdkit: rank {number} on a failed first: exit code {number}"
    log = parse(f"[{number}]<stderr>:x\n{ended}\nhorovod\n[{number}] y")
    assert log.ranks == ()
    judge(log)
