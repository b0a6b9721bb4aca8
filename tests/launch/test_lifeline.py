"""Both ends of the lifeline, without a launcher between them."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import psutil
import pytest

from hvdkit.launch import lifeline
from hvdkit.launch.lifeline import Lifeline, RankEnd


@pytest.fixture
def line() -> Iterator[Lifeline]:
    made = Lifeline("127.0.0.1", 0, "the job")
    yield made
    made.close()


def wait_for(condition: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"not so after {seconds} s"
        time.sleep(0.05)


def rank(line: Lifeline, *command: str, number: int = 1, job: str = "the job") -> subprocess.Popen[str]:
    address = "{}:{}".format(*line.address)
    return subprocess.Popen(
        [sys.executable, "-m", "hvdkit.launch.rank", address, "--", *command],
        env={**os.environ, "HOROVOD_RANK": str(number), "HVDKIT_JOB": job},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize(("script", "code"), [("exit 0", 0), ("exit 7", 7), ("kill -9 $$", 137)])
def test_a_rank_says_how_it_ended(line: Lifeline, script: str, code: int) -> None:
    process = rank(line, "sh", "-c", script)
    assert process.wait(60) == code
    wait_for(lambda: bool(line.ended))
    assert line.ended == (RankEnd(1, socket.gethostname(), code),)


def test_closing_ends_the_command_and_its_workers(line: Lifeline) -> None:
    process = rank(line, "sh", "-c", "sleep 600 & echo $!; wait")
    assert process.stdout is not None
    worker = int(process.stdout.readline())
    line.close()
    assert process.wait(60) != 0
    wait_for(lambda: not psutil.pid_exists(worker))
    assert line.wait(60)


@pytest.mark.parametrize(("trap", "code"), [("", 143), ("trap '' TERM; ", 137)])
def test_a_rank_that_is_asked_to_end_says_that_it_was(line: Lifeline, trap: str, code: int) -> None:
    """As horovodrun does, five seconds before it kills: the word is out by then, whatever the script does."""
    process = rank(line, "sh", "-c", f"{trap}echo up; while :; do sleep 0.1; done")
    assert process.stdout is not None and process.stdout.readline() == "up\n"
    process.terminate()
    wait_for(lambda: bool(line.ended))
    assert line.ended == (RankEnd(1, socket.gethostname(), code, stopped=True),)


def test_a_rank_that_is_killed_while_it_ends_was_asked_to(line: Lifeline) -> None:
    process = rank(line, "sh", "-c", "trap '' TERM; echo up; while :; do sleep 0.1; done")
    assert process.stdout is not None and process.stdout.readline() == "up\n"
    assert line.silent == (RankEnd(1, socket.gethostname(), None),)
    process.terminate()
    wait_for(lambda: not line.silent)
    process.kill()
    wait_for(lambda: bool(line.ended))
    assert line.ended == (RankEnd(1, socket.gethostname(), None, stopped=True),)


def test_a_killed_rank_is_gone_without_a_word_and_takes_its_command_with_it(line: Lifeline) -> None:
    process = rank(line, "sh", "-c", "echo $$; exec sleep 600")
    assert process.stdout is not None
    command = int(process.stdout.readline())
    wait_for(lambda: line.alive == 1)
    process.kill()
    wait_for(lambda: bool(line.ended) and not psutil.pid_exists(command))
    assert line.ended[0].code is None and line.has_failure


def test_silence_ends_both_ends(line: Lifeline, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lifeline, "SILENCE_S", 1.0)
    process = rank(line, "sleep", "600")
    wait_for(lambda: line.alive == 1)
    process.send_signal(signal.SIGSTOP)
    wait_for(lambda: line.ended == (RankEnd(1, socket.gethostname(), None),))
    process.send_signal(signal.SIGCONT)
    assert process.wait(60) != 0


@pytest.mark.parametrize(
    "hello", [b'{"job": "other", "rank": 1, "host": "x"}\n', b"GET / HTTP/1.1\n", b"\x80\x04.\n"]
)
def test_who_does_not_name_the_job_is_not_listened_to(line: Lifeline, hello: bytes) -> None:
    with socket.create_connection(line.address) as stranger:
        stranger.sendall(hello + json.dumps({"exit": 3}).encode() + b"\n")
        stranger.settimeout(30)
        with contextlib.suppress(ConnectionResetError):
            assert stranger.recv(10) == b""
    assert line.ended == () and line.alive == 0


def test_without_a_launcher_nothing_is_started(line: Lifeline) -> None:
    line.close()
    process = rank(line, "sh", "-c", "echo started")
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (1, "")
    assert "cannot reach the launcher" in err
