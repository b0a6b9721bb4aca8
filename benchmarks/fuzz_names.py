"""Folders for benchmarks/fuzz.py: names that a terminal or a shell obeys, odd files, links and modes.

Commands that read, and migrate, run on each. They must print nothing that a terminal obeys, write over no
file, and let nobody read what they could not read before.
"""

from __future__ import annotations

import contextlib
import io
import os
import random
import re
import shutil
import stat
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from hvdkit.cli import main
from hvdkit.earlier import is_report
from hvdkit.printable import make_printable

_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_PIECES = [
    *("a", "train", "-", "--force", " ", "'", '"', "$(touch x)", ";", "&", "#", "%", "\\", "=", "*", "~"),
    *("\x1b[2J", "\x1b]0;t\x07", "\x9b31m", "\u202e", "\u2066", "\r", "\n", "\t", "\x7f", "\udcff", "\xe9"),
    *("\n  fix: rm -rf ~", "\ud83d".encode("utf-8", "surrogatepass").decode("utf-8", "surrogateescape")),
]
_ENDS = [".py", ".py", ".py", ".ipynb", ".sh", ".md", ".json", ".toml", ""]
_PLAIN = ["README.md", "requirements.txt", "Makefile", "pyproject.toml", "run.sh", "train.py", "setup.py"]
_ODD = [
    *(
        f"# coding: {name}\nimport torch\nx.backward()\n"
        for name in ("undefined", "punycode", "utf-7", "idna")
    ),
    f"import torch\ntorch.manual_seed(0x{'f' * 6000})\n",
    f'{{"cells": [{{"cell_type": "code", "source": "import torch"}}], "x": {"9" * 6000}}}',
    "import torch\nx = " + "-" * 30_000 + "1\n",
    "import torch\nx.backward()\n# \x1b[2J \u202e\n",
    "[0]<stderr>:ValueError: \x1b[2J\x9b31m\n",
    "#!/usr/bin/env python\nimport torch\n",
    "",
]
_MODES = (0o600, 0o640, 0o644, 0o755, 0o444, 0o400)
_UMASKS = (0o022, 0o027, 0o077, 0o002)
_REPORTS = ("--json", "--sarif", "--html")
_MOST = 120  # bytes of a name


def one(folder: Path, outside: Path, chance: random.Random, text: Callable[[], str]) -> None:
    """Make one folder and run the commands in it. text: a program. Raises: AssertionError."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    here, umask = Path.cwd(), os.umask(chance.choice(_UMASKS))
    os.chdir(folder)
    try:
        for _ in range(chance.randint(1, 5)):
            _make(Path(_name(chance)), outside, chance, text)
        _run(folder, chance)
    finally:
        os.umask(umask)
        os.chdir(here)


def _name(chance: random.Random) -> str:
    if chance.random() < 0.3:
        return chance.choice(_PLAIN)
    name = "".join(chance.choice(_PIECES) for _ in range(chance.randint(1, 4)))
    return os.fsdecode(os.fsencode(name).replace(b"/", b"")[:_MOST]) + chance.choice(_ENDS)


def _make(path: Path, outside: Path, chance: random.Random, text: Callable[[], str]) -> None:
    if os.path.lexists(path):
        return
    kind = chance.random()
    if kind < 0.04:
        os.mkfifo(path)
    elif kind < 0.14:
        path.symlink_to(chance.choice(["/dev/zero", "nowhere", ".", str(outside), "train.py"]))
    elif kind < 0.17:
        path.mkdir()
    elif kind < 0.2:
        os.link(outside, path)
    else:
        data = chance.choice(_ODD) if kind < 0.5 else text()
        path.write_bytes(data.encode("utf-8", "replace"))
        path.chmod(chance.choice(_MODES))


def _run(folder: Path, chance: random.Random) -> None:
    before = dict(_state(folder))
    new = [_name(chance) for _ in range(2)]
    # No pipe, into which a report waits for a reader.
    names = [*before, *(name for name in new if not Path(name).is_fifo())] or ["new"]
    target, log = chance.choice(names), chance.choice(names)
    replaceable = not os.path.lexists(target) or (Path(target).is_file() and is_report(Path(target)))
    report = f"{chance.choice(_REPORTS)}={target}"
    for words in (
        ["init"],
        ["migrate", ".", "--no-diff", report],
        ["check", chance.choice(_REPORTS), "--", *names[: chance.randint(1, len(names))]],
        ["check", ".", report],
        ["explain", f"--log={log}"],
    ):
        if words[0] != "explain" or Path(log).is_file():  # a log may be a pipe, which is waited for
            _said(words)
    after = dict(_state(folder))
    kept = {name: state for name, state in before.items() if name != target or not replaceable}
    assert {name: after.get(name) for name in kept} == kept, "a file was changed by what only reads"
    _written_and_taken_back(folder)


def _written_and_taken_back(folder: Path) -> None:
    before = dict(_state(folder))
    wrote = _said(["migrate", ".", "--write", "--suggested", "--allow-no-vcs"]) != 2
    for record in folder.glob(".hvdkit/undo-*"):
        changed = [name for name, state in _state(folder) if before.get(name, state)[0] != state[0]]
        modes = [before[name][1] for name in changed]
        assert all(not record.stat().st_mode & 0o077 & ~mode for mode in modes), "a record is more open"
    if wrote and list(folder.glob(".hvdkit/undo-*")):
        assert _said(["migrate", "--undo"]) == 0
    after = dict(_state(folder))
    assert {name: after.get(name) for name in before} == before, "undo restores every byte and mode"


def _state(folder: Path) -> Iterator[tuple[str, tuple[bytes, int]]]:
    """The regular files of a folder, by name: what they hold, and their mode."""
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        if entry.is_file(follow_symlinks=False):
            yield entry.name, (Path(entry.path).read_bytes(), stat.S_IMODE(entry.stat().st_mode))


def _said(words: Sequence[str]) -> int:
    """Run a command; gives its exit code."""
    output = io.StringIO()
    stream = make_printable(output)
    with contextlib.redirect_stdout(stream), contextlib.redirect_stderr(stream):
        try:
            code = main(list(words))
        except SystemExit as end:  # by argparse
            code = int(end.code or 0)
    assert code in (0, 1, 2), f"{words} ended with {code}"
    assert not _OBEYED.search(output.getvalue()), f"{words} printed {output.getvalue()!r}"
    assert "Traceback (most" not in output.getvalue(), output.getvalue()[-2000:]
    return code
