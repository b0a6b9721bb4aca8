"""Which files are read and replaced, and that nothing which is no regular file holds a command up."""

from __future__ import annotations

import ast
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import hvdkit
from hvdkit.files import LARGEST, is_inside, read_file, replace_file
from hvdkit.printable import printable


def make(kind: str, path: Path) -> None:
    if kind == "FIFO":
        os.mkfifo(path)
    elif kind == "socket":
        here = Path.cwd()
        os.chdir(path.parent)  # the name of a socket may be no longer than 107 bytes
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
        os.chdir(here)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to("/dev/zero")


KINDS = ("FIFO", "socket", "folder", "device")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.timeout(20)
def test_only_regular_files_are_read(tmp_path: Path, kind: str) -> None:
    make(kind, tmp_path / "x.py")
    with pytest.raises(OSError, match=f"it is a {kind}, not a regular file"):
        read_file(tmp_path / "x.py")


@pytest.mark.parametrize("kind", ["FIFO", "socket", "folder"])
@pytest.mark.timeout(20)
def test_only_regular_files_are_replaced(tmp_path: Path, kind: str) -> None:
    make(kind, tmp_path / "x.py")
    before = os.lstat(tmp_path / "x.py")
    with pytest.raises(OSError, match=f"it is a {kind}, not a regular file"):
        replace_file(tmp_path / "x.py", b"")
    assert os.lstat(tmp_path / "x.py").st_ino == before.st_ino
    assert [path.name for path in tmp_path.iterdir()] == ["x.py"]


def test_a_link_is_followed_only_where_that_is_asked(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")
    (tmp_path / "link").symlink_to("file")
    assert read_file(tmp_path / "link") == b"x"
    with pytest.raises(OSError, match="it is a link"):
        read_file(tmp_path / "link", follow=False)


def test_a_file_larger_than_any_source_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "huge.py").open("wb") as file:
        file.truncate(LARGEST + 1)  # a hole: it takes no disk
    with pytest.raises(OSError, match=f"it is {LARGEST + 1} bytes"):
        read_file(tmp_path / "huge.py")


def test_inside_is_where_links_lead(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "deep").mkdir(parents=True)
    (tmp_path / "rooted").mkdir()
    for name, target in (("out", ".."), ("in", "deep"), ("loop", "loop"), ("far", "nowhere/../../x")):
        (root / name).symlink_to(target)
    assert is_inside(root / "deep" / "new.py", root)
    assert is_inside(root / "in" / "new.py", root)
    assert is_inside(root / "loop", root)
    assert not is_inside(root / "out" / "x.py", root)
    assert not is_inside(root / "far", root)
    assert not is_inside(tmp_path / "rooted", root)


def test_names_are_printable() -> None:
    assert printable(os.fsdecode(b"caf\xe9/\xc3\xa9.py")) == "caf\\xe9/é.py"
    assert printable("half \ud83d") == "half \\ud83d"


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1"])
def test_no_name_ends_a_command(tmp_path: Path, encoding: str) -> None:
    """What is printed of it, by whatever encoding, is never a UnicodeEncodeError."""
    bad = tmp_path / os.fsdecode(b"caf\xe9.py")
    bad.write_text("import torch\ndef f(:\n")
    for options in ([], ["--json", "-"], ["--sarif", "-"]):
        for command in ("migrate", "check"):
            done = subprocess.run(
                [sys.executable, "-m", "hvdkit", command, tmp_path, *options],
                capture_output=True,
                env={**os.environ, "PYTHONIOENCODING": encoding},
                check=False,
            )
            assert done.returncode == 1, done.stderr
            assert b"Traceback" not in done.stderr
            assert (b"caf%E9.py" if "--sarif" in options else b"caf\\xe9.py") in done.stdout.replace(
                b"\\\\", b"\\"
            )


# What opens files by itself: hvdkit's own rules, a first line after a look at what the file is, a log, which
# may be a pipe, a lock, and the user's key.
BY_THEMSELVES = {
    "migrate/catalog/rule_files.py",
    "source/project/opening.py",
    "explain/command.py",
    "migrate/write/undo.py",
    "migrate/write/seal.py",
}


def opens(tree: ast.AST) -> bool:
    """Whether a module calls `open(path)`, `path.open()` and the like by itself."""
    functions = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    methods = {function.attr for function in functions if isinstance(function, ast.Attribute)}
    named = {function.id for function in functions if isinstance(function, ast.Name)}
    return bool(methods & {"open", "read_text", "read_bytes"}) or "open" in named


def test_projects_are_read_in_one_way() -> None:
    """What reads a project asks read_file, which waits for nothing and has a bound."""
    root = Path(hvdkit.__file__).parent
    found = set()
    for package in ("source", "migrate", "check", "start", "docker", "explain", "timeline"):
        for path in (root / package).rglob("*.py"):
            if opens(ast.parse(path.read_bytes())):
                found.add(path.relative_to(root).as_posix())
    assert found == BY_THEMSELVES
