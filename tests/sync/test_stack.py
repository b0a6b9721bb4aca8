"""The signal that asks a process where it is ends none, not even one whose Python has ended already."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hvdkit.sync import stack
from hvdkit.verify.hook import stacks

# What a library may do while the process exits, when Python has put back every handler of signals.
CLOSING = """\
import ctypes, pathlib, sys, types
from hvdkit.sync import stack
from hvdkit.verify.hook import stacks
libc = ctypes.CDLL(None)
libc.on_exit(libc.pause, None)
{}
print("ending", flush=True)
"""


def is_caught(process: int, number: int) -> bool:
    """Whether a process has a handler for a signal: proc(5)."""
    mask = re.search(r"^SigCgt:\s*(\w+)$", Path(f"/proc/{process}/status").read_text(), re.MULTILINE)
    assert mask is not None
    return bool(int(mask[1], 16) >> (number - 1) & 1)


@pytest.mark.parametrize(
    ("listen", "number"),
    [
        ("stack.listen(pathlib.Path(sys.argv[1]))", stack.SIGNAL),
        ("stacks.dump_on_request(types.SimpleNamespace(path=pathlib.Path(sys.argv[1])))", stacks.SIGNAL),
    ],
    ids=["watch", "verify"],
)
def test_a_process_that_is_still_closing_lives_on(tmp_path: Path, listen: str, number: int) -> None:
    command = [sys.executable, "-c", CLOSING.format(listen), str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ending\n"
        while is_caught(process.pid, number):
            time.sleep(0.01)
        process.send_signal(number)
        time.sleep(0.2)
        assert process.poll() is None
        process.send_signal(signal.SIGTERM)
    assert process.returncode == -signal.SIGTERM
