"""Real child processes that start children of their own."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from hvdkit.install import processes

# A leader that starts a child which ignores SIGTERM, says the child's id, and waits.
FAMILY = [
    "sh",
    "-c",
    f"""{sys.executable} -c 'import signal, time; signal.signal(15, signal.SIG_IGN); """
    """print("up", flush=True); time.sleep(60)' & echo $!; wait""",
]


def alive(pid: int) -> bool:
    """A zombie that nobody has waited for yet is not alive."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def gone(pid: int) -> bool:
    for _ in range(100):
        if not alive(pid):
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_children_of_children_end_with_the_block(error: type[BaseException]) -> None:
    child = 0
    with pytest.raises(error):
        with processes.group(FAMILY, os.environ) as process:
            assert process.stdout is not None
            child = int(process.stdout.readline())
            assert process.stdout.readline() == "up\n"
            assert alive(child)
            raise error
    assert gone(child)


def test_output_and_exit_code() -> None:
    assert processes.run(["sh", "-c", "echo out; echo err >&2; exit 3"], os.environ, 10) == (3, "out\nerr\n")


def test_a_time_out_ends_everything() -> None:
    code, output = processes.run(FAMILY, os.environ, 1)
    assert code is None
    assert gone(int(output.splitlines()[0]))
