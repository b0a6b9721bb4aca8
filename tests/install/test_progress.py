from __future__ import annotations

import os
import pty
import sys

import pytest

from hvdkit.install import progress

# As pip -v passes make's output on.
LINES = """\
  Running CMake in build/temp.linux-x86_64-cpython-311/RelWithDebInfo:
  make[2]: Entering directory '/tmp/build'
  [  3%] Building CXX object third_party/gloo/gloo/CMakeFiles/gloo.dir/allgather.cc.o
  [ 12%] Building CXX object horovod/torch/CMakeFiles/pytorch.dir/common.cc.o
  [  9%] Building CXX object third_party/gloo/gloo/CMakeFiles/gloo.dir/allreduce.cc.o
  [ 14%] Linking CXX static library libgloo.a
  [100%] Built target pytorch
""".splitlines()


def test_percentages() -> None:
    assert [progress.percent(line) for line in LINES] == [None, None, 3, 12, 9, 14, 100]


def test_it_never_goes_back() -> None:
    # Several makes at once do not count in order.
    shown: list[int] = []
    take = progress._rising(shown.append)
    for line in LINES:
        take(line)
    assert shown == [3, 12, 14, 100]


def test_off_a_terminal_one_line_for_each_tenth(capsys: pytest.CaptureFixture[str]) -> None:
    with progress.shown("building") as show:
        for line in LINES:
            show(line)
    captured = capsys.readouterr()
    assert captured.err.splitlines() == ["building: 3 %", "building: 12 %", "building: 100 %"]
    assert captured.out == ""


def test_on_a_terminal_a_bar() -> None:
    script = (
        "from hvdkit.install import progress\n"
        f"with progress.shown('building') as show:\n    for line in {LINES!r}: show(line)"
    )
    output = b""

    def read(descriptor: int) -> bytes:
        nonlocal output
        data = os.read(descriptor, 1024)
        output += data
        return b" "  # pty.spawn copies this to our own output

    assert pty.spawn([sys.executable, "-c", script], read) == 0
    text = output.decode()
    assert "building" in text
    assert "100%" in text
