"""No command prints what a terminal would obey in names, logs and programs of somebody else."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from hvdkit.printable import Printable, as_it_is, make_printable, one_line, printable
from hvdkit.shell import word

DDP = """\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
model = torch.nn.Linear(2, 1)
model(torch.ones(1, 2)).sum().backward()
"""
HVD = "import horovod.torch as hvd\nimport torch\nhvd.init()\nx = torch.ones(1)\nhvd.allreduce(x)\nprint(x)\n"
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
# A title and a bell, the 8-bit CSI, marks that override, isolate and set the direction, and other controls.
MARKS = "\x1b]0;title\x07\x9b31m\u202e\u2067\u200f\x0e\x7f\r"


def said(folder: Path, *words: str, codes: Sequence[int] = (0, 1, 2)) -> str:
    """What a command prints, on both streams."""
    command = [sys.executable, "-m", "hvdkit", *words]
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PYTHONUTF8": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=120,
        check=False,
    )
    assert done.returncode in codes, done.stdout
    return done.stdout.decode("utf-8", "surrogateescape")


def test_no_command_prints_what_a_terminal_obeys(tmp_path: Path) -> None:
    name, escaped = f"a{MARKS}.py", one_line(f"a{MARKS}.py")
    (tmp_path / name).write_text(f"{DDP}# {MARKS[:-1]}\n")
    (tmp_path / "hvd.py").write_text(HVD)
    frame = f'[0]<stderr>:  File "/home/{MARKS}/train.py", line 3, in <module>\n[0]<stderr>:    x\n'
    log = f"[0]<stderr>:Traceback (most recent call last):\n{frame}[0]<stderr>:ValueError: {MARKS} gone\n"
    (tmp_path / "job.log").write_text(log)
    for words in (
        ["init"],
        ["migrate", "."],
        ["migrate", ".", "--json"],
        ["migrate", ".", "--html"],
        ["check", name],
        ["migrate", f"none{MARKS}.py"],
        ["check", f"--none{MARKS}"],
        ["explain", "--log", "job.log"],
        ["explain", f"HVD{MARKS}"],
        ["docker", name],
        ["verify", name],
        ["doctor", "--only", f"shm{MARKS}"],
        ["timeline", name],
        ["migrate", ".", "--write", "--allow-no-vcs", "--no-diff"],
        ["migrate", "--undo"],
    ):
        shown = said(tmp_path, *words)
        assert not OBEYED.search(shown), (words, shown)
        if words in (["init"], ["migrate", "--undo"]):
            assert escaped in shown, shown
        if words[-1] == "--json":
            assert name in [Path(file["path"]).name for file in json.loads(shown)["files"]]


def test_a_name_is_one_line(tmp_path: Path) -> None:
    """Or it would add lines of its own to a report."""
    (tmp_path / "a.py\n0 left to you.py").write_text(DDP)
    for words in (["migrate", "."], ["init"], ["migrate", "x\n  fix: rm"], ["timeline", "x\n  fix: rm"]):
        shown = said(tmp_path, *words).splitlines()
        assert not [line for line in shown if line.startswith(("0 left to you.py", "  fix: rm"))], shown


@pytest.mark.parametrize("name", ["-rf.py", "a b.py", "$(touch x).py", "a\x1b[2J'.py"])
def test_a_command_that_is_printed_can_be_typed(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(DDP)
    shown = said(tmp_path, "init")
    (typed,) = re.findall(r"^  (hvdkit migrate .*?)\s+# see", shown, re.MULTILINE)
    asked = subprocess.run(
        ["bash", "-c", f"hvdkit() {{ printf '%s\\0' \"$@\"; }}; {typed}"],
        cwd=tmp_path,
        capture_output=True,
        check=True,
    )
    _, path, end = asked.stdout.decode().split("\0")
    assert (tmp_path / path).samefile(tmp_path / name) and end == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == [name]


def test_a_path_behind_two_dashes(tmp_path: Path) -> None:
    (tmp_path / "-rf.py").write_text(DDP)
    assert "-rf.py after migration" in said(tmp_path, "migrate", "--", "-rf.py", codes=[0, 1])


def test_words_of_a_shell() -> None:
    names = {"-rf.py": "./-rf.py", "a b": "'a b'", "a\x07": "$'a\\007'", "\n'": "$'\\012\\047'", "é": "'é'"}
    assert {name: word(name) for name in names} == names
    assert word(os.fsdecode(b"\xff")) == "$'\\377'"


def test_what_is_no_control_stays() -> None:
    text = "caf\u00e9 \u65e5\u672c\n\tline \U0001f600 \u200d"
    assert printable(text) == text
    assert one_line("a\n\tb\x1b") == "a\\n\\tb\\x1b"


def test_a_stream_passes_on_what_it_does_not_know() -> None:
    beneath = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    stream = make_printable(beneath)
    print("\x1b[2J \u65e5", file=stream)
    stream.writelines(["a\x07", "b\n"])
    print("\x1b[0m", file=as_it_is(stream))
    stream.flush()
    assert stream.encoding == "ascii" and not stream.isatty() and isinstance(stream, Printable)
    assert beneath.buffer.getvalue() == b"\\x1b[2J \\u65e5\na\\x07b\n\x1b[0m\n"
