"""--undo and records that hvdkit did not write: refused in a sentence, and nothing is written."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest

from hvdkit.cli import main
from hvdkit.files import LARGEST

TEXT = b"written by a stranger\n"
GOOD = {
    "path": "new.py",
    "before": base64.b64encode(TEXT).decode(),
    "after_sha256": hashlib.sha256(b"mine\n").hexdigest(),
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A folder from somebody else, with a record in it, beside a folder of ours."""
    folder = tmp_path / "tree"
    (folder / ".hvdkit").mkdir(parents=True)
    (folder / "new.py").write_bytes(b"mine\n")
    (tmp_path / "victim").mkdir()
    (folder / "out").symlink_to("../victim")
    (folder / "file").symlink_to("../victim/keys")
    return folder


def everything(tree: Path) -> dict[str, bytes]:
    paths = sorted(path for path in tree.parent.rglob("*") if path.is_file() and ".hvdkit" not in path.parts)
    return {str(path): path.read_bytes() for path in paths}


def refused(tree: Path, capsys: pytest.CaptureFixture[str]) -> str:
    before = everything(tree)
    for command in ("migrate", "check"):
        assert main([command, "--undo", str(tree)]) == 2
    assert everything(tree) == before
    return capsys.readouterr().err


def test_a_whole_record_is_obeyed(tree: Path) -> None:
    (tree / ".hvdkit" / "undo-1.json").write_text(json.dumps([GOOD]))
    assert main(["migrate", "--undo", str(tree)]) == 0
    assert (tree / "new.py").read_bytes() == TEXT
    assert not (tree / ".hvdkit" / "undo-1.json").exists()


@pytest.mark.parametrize(
    "path",
    [
        "../victim/keys",
        "sub/../../victim/keys",
        "/tmp/hvdkit-keys",
        "out/keys",
        "file",
        "out/deep/keys",
        "..",
        "",
    ],
)
@pytest.mark.parametrize("with_good", [True, False])
def test_nothing_outside_is_written(
    tree: Path, path: str, with_good: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    entry = {**GOOD, "path": path, "after_sha256": hashlib.sha256(b"").hexdigest()}
    (tree / ".hvdkit" / "undo-1.json").write_text(json.dumps([GOOD, entry] if with_good else [entry]))
    said = refused(tree, capsys)
    assert "undo-1.json is not a record written by hvdkit" in said
    assert "why: " in said and "fix: rm " in said


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no JSON",
        "[" * 100_000,
        "{}",
        "[]",
        "null",
        "[3]",
        "[[]]",
        b"\xff\xfe\xff",
        json.dumps([{key: value for key, value in GOOD.items() if key != "before"}]),
        json.dumps([{**GOOD, "mode": 7}]),
        *(json.dumps([{**GOOD, key: value}]) for key in GOOD for value in (3, [], {}, True)),
        json.dumps([{**GOOD, "path": None}]),
        json.dumps([{**GOOD, "path": "a\0b"}]),
        json.dumps([{**GOOD, "path": "\ud800"}]),
        json.dumps([{**GOOD, "before": "no base64!"}]),
        json.dumps([{**GOOD, "before": "é"}]),
    ],
    ids=repr,
)
def test_a_broken_record(tree: Path, text: Any, capsys: pytest.CaptureFixture[str]) -> None:
    raw = text if isinstance(text, bytes) else text.encode()
    (tree / ".hvdkit" / "undo-1.json").write_bytes(raw)
    assert "undo-1.json is not a record written by hvdkit" in refused(tree, capsys)


@pytest.mark.timeout(60)
@pytest.mark.parametrize("kind", ["FIFO", "link", "folder", "huge"])
def test_a_record_that_is_no_file_of_records(
    tree: Path, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    record = tree / ".hvdkit" / "undo-1.json"
    if kind == "FIFO":
        os.mkfifo(record)
    elif kind == "link":
        (tree / "record.json").write_text(json.dumps([GOOD]))
        record.symlink_to("../record.json")
    elif kind == "folder":
        record.mkdir()
    else:
        with record.open("wb") as file:
            file.truncate(LARGEST + 1)
    said = refused(tree, capsys)
    assert (f"it is {LARGEST + 1} bytes" if kind == "huge" else f"it is a {kind}, not a regular file") in said


def test_a_folder_of_records_that_lies_elsewhere(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tree.parent / "victim" / "undo-1.json").write_text(json.dumps([GOOD]))
    (tree / ".hvdkit").rmdir()
    (tree / ".hvdkit").symlink_to("../victim")
    assert "is a link to a place outside" in refused(tree, capsys)
    (tree / "new.py").write_text("import torch.distributed as dist\n\ndist.init_process_group()\n")
    assert main(["migrate", str(tree), "--write", "--allow-no-vcs"]) == 2
    assert sorted(path.name for path in (tree.parent / "victim").iterdir()) == ["undo-1.json"]


@pytest.mark.timeout(60)
def test_a_file_that_is_none_any_more(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tree / ".hvdkit" / "undo-1.json").write_text(json.dumps([GOOD]))
    (tree / "new.py").unlink()
    os.mkfifo(tree / "new.py")
    assert "it is a FIFO" in refused(tree, capsys)
    (tree / "new.py").unlink()
    assert "was changed after hvdkit wrote it" in refused(tree, capsys)


def test_what_is_no_record_is_passed_over(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("undo-x.json", "undo-.json", "undo-1.json.bak", "undo-\u0663.json"):
        (tree / ".hvdkit" / name).write_text(json.dumps([GOOD]))
    assert "nothing to undo" in refused(tree, capsys)
    (tree / ".hvdkit" / "undo-007.json").write_text(json.dumps([GOOD]))
    assert main(["migrate", "--undo", str(tree)]) == 0
