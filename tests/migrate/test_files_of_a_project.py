"""Files that are no ordinary part of a project: named and left, and the rest goes on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hvdkit.cli import main
from hvdkit.migrate.engine import make_plan
from hvdkit.migrate.facts import Options
from tests.test_files import KINDS, make

DDP = """\
import torch.distributed as dist

dist.init_process_group("gloo")
print(dist.get_rank())
"""
HVD = """\
import horovod.torch as hvd

hvd.init()
print(hvd.rank())
"""
FAULTY = HVD + "loss = hvd.allreduce(local_loss) / hvd.size()\n"
FIXED = HVD + "loss = hvd.allreduce(local_loss)\n"
WRITE = ["--allow-no-vcs", "--allow-dirty"]


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "train.py").write_text(DDP)
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        *((kind, "strange.py") for kind in KINDS),
        *(("FIFO", name) for name in ("strange.ipynb", "run.sh", "setup.py", "pyproject.toml")),
        ("folder", "pyproject.toml"),
    ],
)
@pytest.mark.timeout(60)
def test_what_is_no_regular_file_is_passed_by(
    tree: Path, kind: str, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tree / "parts").mkdir()
    (tree / "train.py").write_text("import parts.nowhere\n" + DDP)  # looked for in what installs parts
    make(kind, tree / name)
    assert main(["check", "."]) in (0, 1)
    capsys.readouterr()
    code = main(["migrate", ".", "--write", *WRITE])
    assert (tree / "train.py").read_text() == "import parts.nowhere\n" + HVD
    said = f"left alone {name}:1: cannot be read: it is a {kind}, not a regular file"
    source = kind != "folder" and name.endswith((".py", ".ipynb"))
    assert (said in capsys.readouterr().out) is source
    assert code == int(source)


@pytest.mark.parametrize("command", ["migrate", "check"])
def test_a_fifo_that_is_named_is_left(tree: Path, command: str, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(tree / "pipe.py")
    assert main([command, "pipe.py"]) == 1
    assert "left alone pipe.py:1: cannot be read: it is a FIFO" in capsys.readouterr().out


@pytest.mark.parametrize("folder", [b"caf\xe9", b"plain"])
def test_a_name_that_is_not_utf_8(tree: Path, folder: bytes) -> None:
    names = [tree / os.fsdecode(folder) / os.fsdecode(name) for name in (b"t\xe9l.py", b"plain.py")]
    names[0].parent.mkdir()
    for path in names:
        path.write_text(DDP)
    (names[0].parent / "main.py").write_text("import plain\n\nplain.main()\n")

    def hvdkit(*options: str) -> bytes:
        command = [sys.executable, "-m", "hvdkit", "migrate", *options]
        return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout

    shown = f"{folder.decode('utf-8', 'backslashreplace')}/t\\xe9l.py"
    assert f"--- a/{shown}\n".encode() in hvdkit(".", "--write", *WRITE)
    assert [path.read_text() for path in names] == [HVD, HVD]
    assert f"restored {shown}\n".encode() in hvdkit("--undo")
    assert [path.read_text() for path in names] == [DDP, DDP]
    paths = [file["path"] for file in json.loads(hvdkit(".", "--json", "-"))["files"]]
    assert str(tree / shown) in paths
    assert b"\\ud" not in hvdkit(".", "--json", "-"), "some readers of JSON end at half a character"


def test_half_a_character_in_a_notebook(tree: Path) -> None:
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "source": "import torch\nx = '\ud83d'"}
    notebook = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (tree / "half.ipynb").write_text(json.dumps(notebook))
    for options in ([], ["--json", "-"], ["--sarif", "-"]):
        command = [sys.executable, "-m", "hvdkit", "migrate", ".", *options]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode in (0, 1) and "Traceback" not in done.stderr, done.stderr


def git(folder: Path) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@t"]
    for command in (["init", "-q"], ["add", "-A"], [*identity, "commit", "-qm", "before"]):
        subprocess.run(["git", *command], cwd=folder, check=True)


@pytest.mark.parametrize("through", ["file", "folder", "named", "import"])
@pytest.mark.parametrize(("command", "before"), [("migrate", DDP), ("check", FAULTY)])
def test_what_a_link_leads_out_to_is_left(
    tree: Path, through: str, command: str, before: str, capsys: pytest.CaptureFixture[str]
) -> None:
    outside = tree.parent / "shared"
    outside.mkdir()
    (outside / "lib.py").write_text(before)
    (tree / "train.py").write_text("import lib\n" if through == "import" else "print(1)\n")
    if through == "folder":
        (tree / "shared").symlink_to("../shared")
        (tree / "train.py").write_text("import shared.lib\nimport torch\n")
    else:
        (tree / "lib.py").symlink_to("../shared/lib.py")
    git(tree)
    option = "--write" if command == "migrate" else "--fix"
    assert main([command, "lib.py" if through == "named" else ".", option]) == 1
    said = capsys.readouterr().out
    assert "left alone" in said and "lib.py: it" in said and f"outside {tree}" in said
    assert (outside / "lib.py").read_text() == before
    assert not (tree / ".hvdkit").exists() and not (outside / ".hvdkit").exists()


def test_a_program_whose_helper_lies_outside_is_left_whole(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tree.parent / "start.py").write_text(
        "import torch.distributed as dist\n\n\ndef start():\n    dist.init_process_group('gloo')\n"
    )
    script = "import sys\n\nsys.path.append('..')\nimport start\nimport torch.distributed as dist\n\n"
    (tree / "train.py").write_text(script + "start.start()\nprint(dist.get_rank())\n")
    assert main(["migrate", ".", "--write", *WRITE]) == 1
    assert "left alone ../start.py: it lies outside" in capsys.readouterr().out
    assert "dist.get_rank()" in (tree / "train.py").read_text()
    assert main(["migrate", "..", "--write", *WRITE]) == 0
    assert "hvd.rank()" in (tree / "train.py").read_text()


def test_a_link_inside_and_a_folder_named_by_a_link_are_followed(tree: Path) -> None:
    (tree.parent / "there").symlink_to("project")
    (tree / "link.py").symlink_to("train.py")
    assert {file.path.name for file in make_plan([tree.parent / "there"], Options()).changed} == {
        "link.py",
        "train.py",
    }


def test_output_replaces_nothing_unasked(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    git(tree)
    assert main(["migrate", "train.py", "--output", "."]) == 2
    assert f"these files exist: {tree}/train.py" in capsys.readouterr().err
    assert (tree / "train.py").read_text() == DDP
    assert main(["migrate", "train.py", "--output", ".", "--force"]) == 0
    assert (tree / "train.py").read_text() == HVD
    assert main(["migrate", "--undo", "."]) == 0
    assert (tree / "train.py").read_text() == DDP
    assert main(["migrate", "train.py", "--force"]) == 2


@pytest.mark.parametrize("versioned", [True, False])
def test_output_is_taken_back(tree: Path, versioned: bool, capsys: pytest.CaptureFixture[str]) -> None:
    if versioned:
        git(tree)
    for _ in range(2):  # the same again is no other content
        assert main(["migrate", "train.py", "--output", "new/place", "--no-diff"]) == 0
        assert "hvdkit migrate --undo new/place removes them" in capsys.readouterr().out
        assert (tree / "new" / "place" / "train.py").read_text() == HVD
    assert main(["migrate", "--undo", "new/place"]) == 0
    assert "removed new/place/train.py" in capsys.readouterr().out
    assert not (tree / "new" / "place" / "train.py").exists()
    assert (tree / "train.py").read_text() == DDP


@pytest.mark.parametrize("link", ["train.py", "parts"])
def test_output_follows_no_link_out_of_its_folder(
    tree: Path, link: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tree / "parts").mkdir()
    (tree / "parts" / "more.py").write_text(DDP)
    outside = tree.parent / "outside"
    outside.mkdir()
    (tree / "new").mkdir()
    (tree / "new" / link).symlink_to(outside / "target.py" if link == "train.py" else outside)
    assert main(["migrate", "train.py", "parts", "--output", "new", "--force"]) == 2
    assert f"outside {tree}/new" in capsys.readouterr().err
    assert list(outside.iterdir()) == []


def test_output_leaves_no_half_of_a_program(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tree / "deep").mkdir()
    (tree / "deep" / "main.py").write_text("import sys\n\nsys.path.append('..')\nimport train\n" + DDP)
    git(tree)
    assert main(["migrate", "deep", "--output", "new"]) == 2
    assert "pass the folder that contains both: ." in capsys.readouterr().err
    assert not (tree / "new").exists()


def test_a_device_is_written_to_and_never_replaced(tree: Path) -> None:
    device = Path("/dev/null").stat()
    assert main(["migrate", ".", "--json=/dev/null", "--no-diff"]) == 0
    assert Path("/dev/null").stat().st_rdev == device.st_rdev
    assert main(["migrate", ".", "--json=."]) == 2
    assert main(["check", ".", "--sarif=nowhere/x.sarif"]) == 2
