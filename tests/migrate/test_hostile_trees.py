"""Trees that somebody else made: nothing outside is written, and --undo restores every byte."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import socket
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hvdkit.cli import main

DDP = b"""import torch
import torch.distributed as dist

dist.init_process_group("gloo")
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1 * dist.get_world_size())
for step in range(3):
    optimizer.zero_grad()
    model(torch.ones(1, 1)).sum().backward()
    optimizer.step()
"""
HVD = b"import horovod.torch as hvd\n\nhvd.init()\nprint(hvd.rank())\n"
NAMES = st.one_of(
    st.sampled_from(
        [b"train.py", b"x.ipynb", b"torch.py", b"requirements.txt", b"pyproject.toml", b"Dockerfile"]
    ),
    st.binary(min_size=1, max_size=30).map(lambda raw: raw.replace(b"/", b"_").replace(b"\0", b"_") + b".py"),
    st.sampled_from(
        [b"-rf.py", b"a\nb.py", b"\xff.py", b"caf\xe9", b" .py", b"\x1b[31m.py", b"x" * 240 + b".py"]
    ),
).filter(lambda name: name not in (b".", b".."))


@st.composite
def contents(draw: st.DrawFn) -> bytes:
    """A program, as it is or with some bytes replaced, or whatever else."""
    text = draw(
        st.sampled_from([DDP, HVD, b"import helper\n" + DDP, b"", b"{}", b'{"cells": []}', b"[project]\n"])
    )
    for _ in range(draw(st.integers(0, 3))):
        place = draw(st.integers(0, len(text)))
        text = text[:place] + draw(st.binary(max_size=4)) + text[place + draw(st.integers(0, 5)) :]
    return text


ENTRIES = st.one_of(
    st.tuples(st.just("file"), contents()),
    st.tuples(
        st.just("link"), st.sampled_from(["../outside/theirs.py", "../outside", "/dev/zero", ".", "x", ".."])
    ),
    st.tuples(st.sampled_from(["fifo", "socket", "unreadable", "folder"]), st.none()),
)
TREES = st.dictionaries(
    st.tuples(st.sampled_from([b".", b"sub", b"sub/deep", b".hvdkit"]), NAMES),
    ENTRIES,
    min_size=1,
    max_size=8,
)


def make(tree: Path, place: bytes, name: bytes, kind: str, what: object) -> None:
    path = Path(os.fsdecode(os.path.join(os.fsencode(tree), place, name)))  # noqa: PTH118
    path.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError, IsADirectoryError, NotADirectoryError):
        if kind == "file":
            assert isinstance(what, bytes)
            path.write_bytes(what)
        elif kind == "link":
            path.symlink_to(str(what))
        elif kind == "fifo":
            os.mkfifo(path)
        elif kind == "socket":
            here = Path.cwd()
            os.chdir(path.parent)
            with socket.socket(socket.AF_UNIX) as made, contextlib.suppress(OSError):
                made.bind(os.fsencode(path.name)[:100])
            os.chdir(here)
        elif kind == "unreadable":
            path.write_bytes(DDP)
            path.chmod(0)
        else:
            path.mkdir()


def snapshot(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Kind, mode and bytes of everything below a folder but hvdkit's own records."""
    found = {}
    for root, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if Path(root, name) != folder / "tree" / ".hvdkit"]
        for name in (*folders, *files):
            path = Path(root, name)
            status = path.lstat()
            data = path.read_bytes() if stat.S_ISREG(status.st_mode) else b""
            data = os.fsencode(path.readlink()) if stat.S_ISLNK(status.st_mode) else data
            found[str(path)] = status.st_mode, data
    return found


@contextlib.contextmanager
def place(tree: dict[tuple[bytes, bytes], tuple[str, object]]) -> Iterator[Path]:
    """The tree on disk, entered, beside a folder that is not part of it."""
    here, scratch = Path.cwd(), Path(tempfile.mkdtemp())
    try:
        (scratch / "outside").mkdir()
        (scratch / "outside" / "theirs.py").write_bytes(DDP)
        folder = scratch / "tree"
        folder.mkdir()
        for (where, name), (kind, what) in tree.items():
            make(folder, where, name, kind, what)
        os.chdir(folder)
        yield folder
    finally:
        os.chdir(here)
        shutil.rmtree(scratch)


def run(*arguments: str) -> int:
    """One command, its output thrown away. Raises: AssertionError where it says what only a crash says."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(list(arguments))
    assert code in (0, 1, 2)
    assert "Traceback" not in out.getvalue() + err.getvalue()
    if code == 2:
        assert err.getvalue().strip(), arguments
    return code


@pytest.mark.timeout(600)
@settings(
    max_examples=int(os.environ.get("HVDKIT_TREES", "25")),
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
@given(TREES)
def test_no_harm(tree: dict[tuple[bytes, bytes], tuple[str, object]]) -> None:
    with place(tree) as folder:
        before = snapshot(folder.parent)
        for command in (["migrate", "."], ["check", "."], ["docker", "train.py", "--json=/dev/null"]):
            run(*command, *([] if command[0] != "docker" else ["--output", "made"]))
            if command[0] == "docker" and (folder / "made").exists():
                run("docker", "--undo")
                shutil.rmtree(folder / "made")
        assert snapshot(folder.parent) == before, "nothing was asked to be written"
        for command in (["migrate", ".", "--write"], ["check", ".", "--fix"]):
            run(*command, "--allow-no-vcs")
            after = snapshot(folder.parent)
            assert after.keys() == before.keys(), "no file is added or lost, and none is temporary"
            changed = {path for path in before if before[path] != after[path]}
            assert all(
                Path(path).is_relative_to(folder) and path.endswith((".py", ".ipynb")) for path in changed
            )
            if changed:
                assert run(command[0], "--undo", ".") == 0
            assert snapshot(folder.parent) == before
        run("docker", "train.py", "--force")
        outside = {path for path in before if not Path(path).is_relative_to(folder)}
        after = snapshot(folder.parent)
        assert {path: before[path] for path in outside} == {path: after[path] for path in outside}
        run("docker", "--undo")
        assert snapshot(folder.parent) == before


def test_what_git_obeys_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A link of the tree leads to it: what git runs next is not what the user looked at."""
    hook = tmp_path / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(parents=True)
    hook.write_bytes(DDP)
    (tmp_path / "train.py").symlink_to(".git/hooks/pre-commit")
    (tmp_path / "job.py").write_bytes(HVD)
    (tmp_path / "Dockerfile").symlink_to(".git/hooks/post-checkout")
    monkeypatch.chdir(tmp_path)
    assert main(["migrate", ".", "--write", "--allow-dirty"]) == 1
    assert "a file of git's own" in capsys.readouterr().out
    assert main(["docker", "job.py", "--force"]) == 2
    assert "a file of git's own" in capsys.readouterr().err
    assert hook.read_bytes() == DDP and [*hook.parent.iterdir()] == [hook]


def test_a_tree_may_be_deep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Deeper than a path may be long: what can be reached is migrated, and nothing ends in a traceback."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_bytes(DDP)
    for _ in range(60):
        Path("d" * 200).mkdir()
        os.chdir("d" * 200)
    Path("train.py").write_bytes(DDP)
    os.chdir(tmp_path)
    assert run("migrate", ".", "--write", "--allow-no-vcs") in (0, 1, 2)
    assert b"horovod" in (tmp_path / "train.py").read_bytes()
    assert run("migrate", "--undo", ".") == 0
    assert (tmp_path / "train.py").read_bytes() == DDP
