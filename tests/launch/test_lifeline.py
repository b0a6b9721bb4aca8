"""Both ends of the lifeline, without a launcher between them."""

from __future__ import annotations

import contextlib
import gc
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from hvdkit.launch import lifeline
from hvdkit.launch.lifeline import Lifeline, RankEnd
from hvdkit.launch.streams import ERR, OUT


class Printed:
    """What the ranks' commands have printed."""

    def __init__(self) -> None:
        self.data: dict[int, bytes] = {OUT: b"", ERR: b""}

    def take(self, _: int, stream: int, data: bytes) -> None:
        self.data[stream] += data

    def first_line(self) -> str:
        wait_for(lambda: b"\n" in self.data[OUT])
        return self.data[OUT].split(b"\n")[0].decode()


@pytest.fixture
def printed() -> Printed:
    return Printed()


@pytest.fixture
def line(printed: Printed) -> Iterator[Lifeline]:
    made = Lifeline("127.0.0.1", 0, "the job", 2, take=printed.take)
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
    wait_for(lambda: bool(line.ended))
    assert line.ended == (RankEnd(1, socket.gethostname(), code),)
    line.close()
    assert process.wait(60) == code


def test_a_program_that_is_not_on_this_host_is_named(line: Lifeline) -> None:
    process = rank(line, "no-such-program")
    _, err = process.communicate(timeout=60)
    assert "cannot start no-such-program: No such file" in err and "Traceback" not in err
    wait_for(lambda: bool(line.ended))
    assert line.ended == (RankEnd(1, socket.gethostname(), 127),) and process.returncode == 127
    assert line.wait(60)


def test_a_rank_that_failed_stays_until_the_job_ends(line: Lifeline) -> None:
    """horovodrun and mpirun end all ranks when one has ended badly: one may be about to say its own error."""
    process = rank(line, "sh", "-c", "exit 7")
    wait_for(lambda: bool(line.ended))
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(1)
    process.terminate()
    assert process.wait(60) == 7, "whoever asks it to end is heard"


PRINTS = """\
import subprocess, sys
from pathlib import Path
out, err = sys.stdout.buffer, sys.stderr.buffer
out.write(b"x" * 2_000_000 + b"\\n\\xc3")
out.flush()
err.write(b"\\r 1%\\r 2%")
err.flush()
out.write(b"\\xa9\\xff end")
out.flush()
left = subprocess.Popen(["sleep", "600"], start_new_session=True)
Path(sys.argv[1]).write_text(str(left.pid))
"""


def test_all_that_a_rank_printed_arrives_before_it_is_gone(
    line: Lifeline, printed: Printed, tmp_path: Path
) -> None:
    """A line of 2 MB, half a character, a bar, no text; and a process left behind keeps the pipe open."""
    pid = tmp_path / "pid"
    process = rank(line, sys.executable, "-c", PRINTS, str(pid))
    wait_for(lambda: bool(line.ended))
    assert line.wait(60)
    os.kill(int(pid.read_text()), signal.SIGKILL)
    assert printed.data[OUT] == b"x" * 2_000_000 + b"\n\xc3\xa9\xff end"
    assert printed.data[ERR] == b"\r 1%\r 2%"
    assert process.communicate(timeout=60) == ("", "") and process.returncode == 0


def test_closing_ends_the_command_and_its_workers(line: Lifeline, printed: Printed) -> None:
    process = rank(line, "sh", "-c", "sleep 600 & echo $!; wait")
    worker = int(printed.first_line())
    line.close()
    assert process.wait(60) != 0
    wait_for(lambda: not psutil.pid_exists(worker))
    assert line.wait(60)


@pytest.mark.parametrize(("trap", "code"), [("", 143), ("trap '' TERM; ", 137)])
def test_a_rank_that_is_asked_to_end_says_that_it_was(
    line: Lifeline, printed: Printed, trap: str, code: int
) -> None:
    """As horovodrun does, five seconds before it kills: the word is out by then, whatever the script does."""
    process = rank(line, "sh", "-c", f"{trap}echo up; while :; do sleep 0.1; done")
    assert printed.first_line() == "up"
    process.terminate()
    wait_for(lambda: bool(line.ended))
    assert line.ended == (RankEnd(1, socket.gethostname(), code, stopped=True),)


def test_a_rank_that_is_killed_while_it_ends_was_asked_to(line: Lifeline, printed: Printed) -> None:
    process = rank(line, "sh", "-c", "trap '' TERM; echo up; while :; do sleep 0.1; done")
    assert printed.first_line() == "up"
    assert line.silent == (RankEnd(1, socket.gethostname(), None),)
    process.terminate()
    wait_for(lambda: not line.silent)
    process.kill()
    wait_for(lambda: bool(line.ended))
    assert line.ended == (RankEnd(1, socket.gethostname(), None, stopped=True),)


def test_a_killed_rank_is_gone_without_a_word_and_takes_its_command_with_it(
    line: Lifeline, printed: Printed
) -> None:
    process = rank(line, "sh", "-c", "echo $$; exec sleep 600")
    command = int(printed.first_line())
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
    "hello",
    [
        b'{"job": "other", "rank": 1, "host": "x"}\n',
        b'{"job": "the job", "rank": Infinity, "host": "x"}\n',
        b'{"job": "the job", "rank": 2, "host": "x"}\n',
        b'{"job": "the job", "rank": true, "host": "x"}\n',
        b'["the job"]\n',
        b'{"job": "the job", "rank": 1, "streams": true}\n',  # of a rank that has not come
        b"[" * 4000 + b"\n",
        b"x" * 5000,
        b"GET / HTTP/1.1\n",
        b"\x80\x04.\n",
    ],
)
def test_who_does_not_name_the_job_is_not_listened_to(line: Lifeline, hello: bytes) -> None:
    with socket.create_connection(line.address) as stranger:
        stranger.sendall(hello + json.dumps({"exit": 3}).encode() + b"\n")
        assert_closed(stranger)
    assert line.ended == () and line.alive == 0


def assert_closed(connection: socket.socket) -> None:
    """By the other side, which may have read less than was sent."""
    connection.settimeout(30)
    with contextlib.suppress(ConnectionResetError):
        while received := connection.recv(10):
            assert received.strip() == b""


def said_hello(line: Lifeline, number: int = 1) -> socket.socket:
    """A connection of a rank that is expected."""
    connection = socket.create_connection(line.address)
    connection.sendall(json.dumps({"job": "the job", "rank": number, "host": "x"}).encode() + b"\n")
    assert connection.recv(1) == b"\n"
    return connection


@pytest.mark.parametrize(
    "message",
    [
        b"5",
        b"null",
        b'["exit"]',
        b"{",
        b"\xff",
        b'{"exit": "no number"}',
        b'{"exit": Infinity}',
        b'{"watch": 3}',
        b"[" * 100_000,
    ],
)
def test_what_is_no_message_ends_nothing(line: Lifeline, message: bytes) -> None:
    with said_hello(line) as connection:
        connection.sendall(message + b'\n{"exit": 7}\n')
        wait_for(lambda: bool(line.ended))
        assert line.ended == (RankEnd(1, "x", 7),)


def test_a_rank_has_one_lifeline(line: Lifeline) -> None:
    with said_hello(line), socket.create_connection(line.address) as second:
        second.sendall(b'{"job": "the job", "rank": 1, "host": "y"}\n{"exit": 3}\n')
        assert_closed(second)
        assert line.alive == 1 and line.ended == ()


def test_a_hello_that_does_not_end_is_waited_for_in_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Byte by byte it could otherwise last as long as it likes; and only so many are waited for at once."""
    monkeypatch.setattr(lifeline, "_HELLO_S", 2.0)
    monkeypatch.setattr(lifeline, "_STRANGERS", 0)
    line = Lifeline("127.0.0.1", 0, "the job", 1)
    began = time.monotonic()
    strangers = [socket.create_connection(line.address) for _ in range(6)]
    try:
        with contextlib.suppress(ConnectionError):
            while time.monotonic() < began + 20:
                strangers[0].sendall(b"x")
                time.sleep(0.1)
        assert time.monotonic() < began + 20
        with said_hello(line, 0):
            assert line.alive == 1
    finally:
        line.close()
        for stranger in strangers:
            stranger.close()


def test_it_goes_on_when_files_ran_out(line: Lifeline) -> None:
    """EMFILE ends no job: the rank that waits is taken once there is room."""
    gc.collect()  # files that earlier tests have left are not closed in the middle of this one
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    used = [os.open(os.devnull, os.O_RDONLY)]
    with socket.socket() as first, socket.socket() as second:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (64, limits[1]))
            with contextlib.suppress(OSError):
                while True:
                    used.append(os.open(os.devnull, os.O_RDONLY))
            for number, connection in enumerate((first, second)):  # Linux has kept a number for the first
                connection.connect(line.address)
                connection.sendall(b'{"job": "the job", "rank": %d, "host": "x"}\n' % number)
            time.sleep(0.5)
            assert line.alive == 1
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)
            for each in used:
                os.close(each)
        assert second.recv(1) == b"\n"
        wait_for(lambda: line.alive == 2)


def test_a_paused_terminal_holds_up_no_sign_of_life(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is printed waits, for longer than silence may last, and none of it is lost."""
    monkeypatch.setattr(lifeline, "SILENCE_S", 3.0)
    shown, paused = bytearray(), threading.Event()

    def take(_: int, __: int, data: bytes) -> None:
        paused.wait(60)
        shown.extend(data)

    line = Lifeline("127.0.0.1", 0, "the job", 2, take=take)
    try:
        process = rank(line, "sh", "-c", "yes | head -c 20000000")
        wait_for(lambda: line.alive == 1)
        time.sleep(5)
        assert line.alive == 1 and line.ended == ()
        paused.set()
        assert process.wait(60) == 0
        assert line.wait(60) and bytes(shown) == b"y\n" * 10_000_000
    finally:
        paused.set()
        line.close()


def test_what_was_ignored_stays_ignored(line: Lifeline, printed: Printed) -> None:
    """As under nohup."""
    script = "trap '' HUP; exec \"$@\""
    address = "{}:{}".format(*line.address)
    module = [sys.executable, "-m", "hvdkit.launch.rank", address, "--"]
    process = subprocess.Popen(
        ["sh", "-c", script, "sh", *module, "sh", "-c", "echo up; sleep 3"],
        env={**os.environ, "HOROVOD_RANK": "1", "HVDKIT_JOB": "the job"},
    )
    assert printed.first_line() == "up"
    process.send_signal(signal.SIGHUP)
    assert process.wait(60) == 0


def test_without_a_launcher_nothing_is_started(line: Lifeline) -> None:
    line.close()
    process = rank(line, "sh", "-c", "echo started")
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (1, "")
    assert "cannot reach the launcher" in err
