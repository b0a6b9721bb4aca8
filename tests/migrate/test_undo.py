"""--undo and records that hvdkit did not write: refused in a sentence, and nothing is written."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from hvdkit.cli import main
from hvdkit.files import LARGEST
from hvdkit.migrate.write.seal import sealed

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
    (tree / ".hvdkit" / "undo-1.json").write_bytes(sealed([GOOD]))
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
    (tree / ".hvdkit" / "undo-1.json").write_bytes(sealed([GOOD, entry] if with_good else [entry]))
    said = refused(tree, capsys)
    assert ("which is not below" if path else "cannot be restored") in said
    assert "why: " in said and "and rm " in said


@pytest.mark.parametrize("path", [".git/config", ".git", "sub/.GIT/hooks/post-checkout", "hooks/pre-commit"])
def test_what_git_obeys_is_not_written(tree: Path, path: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Not by a sealed record either, by no link, and in no folder below."""
    for folder in (".git/hooks", "sub/.GIT/hooks"):
        (tree / folder).mkdir(parents=True)
    (tree / ".git" / "config").write_text("[core]\n")
    (tree / "hooks").symlink_to(".git/hooks")
    entry = {**GOOD, "path": path, "after_sha256": hashlib.sha256(b"[core]\n").hexdigest()}
    (tree / ".hvdkit" / "undo-1.json").write_bytes(sealed([entry]))
    assert "which git obeys" in refused(tree, capsys)


def resealed(tree: Path, change: str) -> bytes:
    """A record that was sealed, and then changed; by another user; by an earlier hvdkit."""
    record = json.loads(sealed([GOOD]))
    if change == "file":
        record["files"][0]["path"] = "other.py"
    elif change == "seal":
        record["seal"] = record["seal"][::-1]
    elif change == "unsealed":
        return json.dumps(record["files"]).encode()
    elif change == "user":
        with pytest.MonkeyPatch.context() as other:
            other.setenv("XDG_STATE_HOME", str(tree.parent / "theirs"))
            return sealed([GOOD])
    return json.dumps(record).encode()


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ("file", "its seal is not yours"),
        ("seal", "its seal is not yours"),
        ("user", "its seal is not yours"),
        ("unsealed", "it has no seal: an earlier hvdkit wrote it, or it came with the project"),
    ],
)
def test_only_a_record_that_was_written_here_is_obeyed(
    tree: Path, change: str, part: str, capsys: pytest.CaptureFixture[str]
) -> None:
    record = tree / ".hvdkit" / "undo-1.json"
    record.write_bytes(resealed(tree, change))
    said = refused(tree, capsys)
    assert part in said and f"restore the files with git, and rm {record}" in said


def test_a_record_of_the_project_does_not_hide_ones_own(tree: Path) -> None:
    """The next write has the next number, and is taken back."""
    (tree / ".hvdkit" / "undo-41.json").write_text(json.dumps([GOOD]))
    (tree / "new.py").write_text("import torch.distributed as dist\n\ndist.init_process_group()\n")
    assert main(["migrate", str(tree), "--write", "--allow-no-vcs"]) == 0
    assert main(["migrate", "--undo", str(tree)]) == 0
    assert "init_process_group" in (tree / "new.py").read_text()
    assert main(["migrate", "--undo", str(tree)]) == 2


@pytest.mark.parametrize("kind", ["folder", "FIFO", "no home"])
def test_a_key_that_cannot_be_used(
    tree: Path, kind: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What could not be taken back is not written."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tree.parent / "state") if kind != "no home" else "state")
    key = tree.parent / "state" / "hvdkit" / "undo-key"
    key.parent.mkdir(parents=True)
    if kind == "no home":
        monkeypatch.setattr("os.path.expanduser", lambda path: path)
    else:
        os.mkfifo(key) if kind == "FIFO" else key.mkdir()
    text = "import torch.distributed as dist\n\ndist.init_process_group()\n"
    (tree / "new.py").write_text(text)
    assert main(["migrate", str(tree), "--write", "--allow-no-vcs"]) == 2
    said = capsys.readouterr().err
    assert "undo-key cannot be used" in said and "fix: XDG_STATE_HOME=FOLDER" in said
    assert (tree / "new.py").read_text() == text


def test_the_key_is_made_once(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that a killed run left unfinished is made again: it sealed nothing. Its user alone can read it."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tree.parent / "state"))
    key = tree.parent / "state" / "hvdkit" / "undo-key"
    key.parent.mkdir(parents=True)
    key.touch(0o600)
    assert sealed([GOOD]) == sealed([GOOD]) and len(key.read_bytes()) == 32
    key.unlink()
    sealed([GOOD])
    assert stat.S_IMODE(key.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "text", ["", "no JSON", "[" * 100_000, "{}", "[]", "null", b"\xff\xfe\xff", '{"files": [], "seal": 3}']
)
def test_a_broken_record(tree: Path, text: Any, capsys: pytest.CaptureFixture[str]) -> None:
    raw = text if isinstance(text, bytes) else text.encode()
    (tree / ".hvdkit" / "undo-1.json").write_bytes(raw)
    assert "undo-1.json is not a record written by hvdkit here" in refused(tree, capsys)


@pytest.mark.parametrize(
    "files",
    [
        {},
        [],
        None,
        [3],
        [[]],
        [{key: value for key, value in GOOD.items() if key != "before"}],
        [{**GOOD, "mode": 7}],
        *([{**GOOD, key: value}] for key in GOOD for value in (3, [], {}, True)),
        [{**GOOD, "path": None}],
        [{**GOOD, "path": "a\0b"}],
        [{**GOOD, "path": "\ud800"}],
        [{**GOOD, "before": "no base64!"}],
        [{**GOOD, "before": "é"}],
    ],
    ids=repr,
)
def test_a_sealed_record_of_something_else(
    tree: Path, files: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    (tree / ".hvdkit" / "undo-1.json").write_bytes(sealed(files))
    assert "undo-1.json is not a record written by hvdkit here" in refused(tree, capsys)


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


@pytest.mark.parametrize("target", ["../victim", ".git", "."])
def test_a_folder_of_records_that_lies_elsewhere(
    tree: Path, target: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nor is anything written to another place of the tree: what git obeys is one of them."""
    (tree / ".git").mkdir()
    place = tree / target
    (place / "undo-1.json").write_bytes(sealed([GOOD]))
    (tree / ".hvdkit").rmdir()
    (tree / ".hvdkit").symlink_to(target)
    assert "is a link to " in refused(tree, capsys)
    (tree / "new.py").write_text("import torch.distributed as dist\n\ndist.init_process_group()\n")
    before = sorted(place.iterdir())
    assert main(["migrate", str(tree), "--write", "--allow-dirty", "--allow-no-vcs"]) == 2
    assert sorted(place.iterdir()) == before


@pytest.mark.timeout(60)
def test_a_file_that_is_none_any_more(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tree / ".hvdkit" / "undo-1.json").write_bytes(sealed([GOOD]))
    (tree / "new.py").unlink()
    os.mkfifo(tree / "new.py")
    assert "it is a FIFO" in refused(tree, capsys)
    (tree / "new.py").unlink()
    assert "was changed after hvdkit wrote it" in refused(tree, capsys)


def test_what_is_no_record_is_passed_over(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("undo-x.json", "undo-.json", "undo-1.json.bak", "undo-\u0663.json"):
        (tree / ".hvdkit" / name).write_text(json.dumps([GOOD]))
    assert "nothing to undo" in refused(tree, capsys)
    (tree / ".hvdkit" / "undo-007.json").write_bytes(sealed([GOOD]))
    assert main(["migrate", "--undo", str(tree)]) == 0
