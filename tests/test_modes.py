"""What is written has the mode of what it was made of, less umask, and the owner that it had."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from hvdkit.cli import main
from hvdkit.files import narrowest, replace_file

DDP = """\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
print(dist.get_rank())
"""


@pytest.fixture
def umask() -> Iterator[None]:
    before = os.umask(0o027)
    yield
    os.umask(before)


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, umask: None) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text(DDP)
    return tmp_path


def mode(path: str | Path) -> int:
    return stat.S_IMODE(Path(path).stat().st_mode)


def test_a_new_file_has_what_umask_leaves(tree: Path) -> None:
    replace_file(tree / "new", b"")
    assert mode("new") == 0o640
    replace_file(tree / "private", b"", 0o600)
    assert mode("private") == 0o600


@pytest.mark.parametrize("before", [0o600, 0o755, 0o444, 0o664, 0o4755])
def test_a_file_that_is_replaced_keeps_its_mode(tree: Path, before: int) -> None:
    """But no right to run as its owner, who did not write what is in it now."""
    Path("train.py").chmod(before)
    replace_file(tree / "train.py", b"")
    assert mode("train.py") == before & 0o777


def test_the_narrowest_of_several(tree: Path) -> None:
    for name, bits in (("a", 0o644), ("b", 0o640), ("c", 0o606), ("d", 0o400)):
        Path(name).touch()
        Path(name).chmod(bits)
    assert narrowest([Path("a"), Path("none")]) == 0o644
    assert narrowest(map(Path, "abc")) == 0o600
    assert narrowest([Path("d")]) == 0o600


@pytest.mark.parametrize(("source", "record"), [(0o600, 0o600), (0o644, 0o640), (0o755, 0o640)])
def test_a_record_is_no_more_open_than_its_source(tree: Path, source: int, record: int) -> None:
    Path("train.py").chmod(source)
    assert main(["migrate", ".", "--write", "--allow-no-vcs", "--no-diff"]) == 0
    assert mode(".hvdkit/undo-1.json") == record
    assert mode("train.py") == source
    assert main(["migrate", "--undo", "."]) == 0
    assert mode("train.py") == source and Path("train.py").read_text() == DDP


@pytest.mark.parametrize("option", ["--json", "--sarif", "--html"])
@pytest.mark.parametrize("command", ["migrate", "check"])
def test_a_report_is_no_more_open_than_its_source(tree: Path, command: str, option: str) -> None:
    main([command, "train.py", f"{option}=report"])
    assert mode("report") == 0o640
    Path("train.py").chmod(0o600)
    main([command, "train.py", f"{option}=report"])
    assert mode("report") == 0o600


def test_reports_of_other_commands(tree: Path) -> None:
    Path("job.log").write_text("ValueError: secret\n")
    Path("job.log").chmod(0o600)
    main(["explain", "--log", "job.log", "--json=report"])
    main(["rules", "--json=open"])
    assert (mode("report"), mode("open")) == (0o600, 0o640)


def test_what_is_written_elsewhere_has_the_mode_of_its_source(tree: Path) -> None:
    Path("train.py").chmod(0o700)
    assert main(["migrate", "train.py", "--output", "new", "--no-diff"]) == 0
    assert mode("new/train.py") == 0o700
    Path("train.py").chmod(0o755)
    assert main(["migrate", "train.py", "--output", "newer", "--no-diff"]) == 0
    assert mode("newer/train.py") == 0o750


def test_files_stay_their_owners(tree: Path) -> None:
    """Where root writes into somebody's project, also the record and a report are theirs."""
    owner = 65534 if os.geteuid() == 0 else os.getuid()
    for path in (tree, tree / "train.py"):
        os.chown(path, owner, -1)
    assert main(["migrate", ".", "--write", "--allow-no-vcs", "--no-diff", "--json=report"]) == 0
    made = [path for path in tree.rglob("*") if path.name != ".hvdkit"]
    assert {path.name for path in made} == {"train.py", "report", "lock", ".gitignore", "undo-1.json"}
    assert {path.stat().st_uid for path in (*made, tree / ".hvdkit")} == {owner}


def test_a_lock_that_came_with_a_project_is_not_given_away(tree: Path) -> None:
    """It may be a link to a file of root's."""
    Path("theirs").touch()
    Path(".hvdkit").mkdir()
    os.link("theirs", ".hvdkit/lock")
    if os.geteuid() == 0:
        os.chown(tree, 65534, -1)
    owner = Path("theirs").stat().st_uid
    assert main(["migrate", ".", "--write", "--allow-no-vcs", "--no-diff"]) == 0
    assert Path("theirs").stat().st_uid == owner


def test_a_group_that_is_not_kept_may_not_read(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one that the file gets instead is a different one."""
    Path("train.py").chmod(0o640)
    group = Path("train.py").stat().st_gid

    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "fchown", refuse)
    replace_file(tree / "train.py", b"")
    assert mode("train.py") == 0o640
    status = os.stat
    monkeypatch.setattr(
        os, "fstat", lambda handle: os.stat_result([*status(handle)[:5], group + 1, *status(handle)[6:]])
    )
    replace_file(tree / "train.py", b"")
    assert mode("train.py") == 0o600
