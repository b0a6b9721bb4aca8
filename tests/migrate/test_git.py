"""Whether a checkout has changes: as `git status` says, and nothing that the checkout names is run."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from hvdkit.cli import main
from hvdkit.migrate.write.git import changes

DDP = "import torch.distributed as dist\n\ndist.init_process_group()\n"


def git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=t", "-c", "user.email=t@t", "-c", "protocol.file.allow=always")
    done = subprocess.run(
        ["git", "-C", str(folder), *identity, *arguments], capture_output=True, text=True, check=True
    )
    return done.stdout


def made(folder: Path, **options: str) -> Path:
    folder.mkdir()
    git(folder, "init", "-q", *(f"--{name}={value}" for name, value in options.items()))
    (folder / "train.py").write_text(DDP)
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "x")
    return folder


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return made(tmp_path / "tree")


def fired(tree: Path) -> str:
    return f"touch {tree.parent / 'fired'}; cat"


def monitor(tree: Path) -> None:
    git(tree, "config", "core.fsmonitor", fired(tree))


def monitor_that_is_included(tree: Path) -> None:
    (tree / ".git" / "more").write_text(f'[core]\n\tfsmonitor = "{fired(tree)}"\n')
    git(tree, "config", "include.path", "more")


def monitor_of_a_worktree(tree: Path) -> None:
    git(tree, "config", "extensions.worktreeConfig", "true")
    (tree / ".git" / "config.worktree").write_text(f'[core]\n\tfsmonitor = "{fired(tree)}"\n')


def filters(name: str, key: str) -> Callable[[Path], None]:
    def set_up(tree: Path) -> None:
        """The file has another time than the index says: git compares what the filter makes of it."""
        (tree / ".git" / "info" / "attributes").write_text(f"*.py filter={name}\n")
        git(tree, "config", f"filter.{name}.{key}", fired(tree))
        os.utime(tree / "train.py", (1, 1))

    return set_up


def hook(tree: Path) -> None:
    file = tree / ".git" / "hooks" / "post-index-change"
    file.parent.mkdir(exist_ok=True)
    file.write_text(f"#!/bin/sh\n{fired(tree)}\n")
    file.chmod(0o755)
    os.utime(tree / "train.py", (1, 1))


def hooks_of_the_tree(tree: Path) -> None:
    hook(tree)
    (tree / ".git" / "hooks").rename(tree / ".git" / "mine")
    git(tree, "config", "core.hooksPath", ".git/mine")


def transport(tree: Path) -> None:
    """An object is not there: git fetches it from where the configuration says, by any program."""
    objects = git(tree, "rev-parse", "HEAD", "HEAD^{tree}").split()
    for each in objects[1:]:
        (tree / ".git" / "objects" / each[:2] / each[2:]).unlink()
    for name, value in (
        ("core.repositoryformatversion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.url", f"ext::sh -c touch% {tree.parent / 'fired'}"),
        ("remote.origin.promisor", "true"),
        ("protocol.ext.allow", "always"),
    ):
        git(tree, "config", name, value)


def submodule(tree: Path) -> None:
    """git examines a submodule by a git of its own, which reads the submodule's configuration."""
    inner = made(tree.parent / "inner")
    git(tree, "submodule", "add", "-q", str(inner), "sub")
    git(tree, "commit", "-qm", "sub")
    git(tree / "sub", "config", "core.fsmonitor", fired(tree))


HOSTILE = {
    "monitor": monitor,
    "monitor_that_is_included": monitor_that_is_included,
    "monitor_of_a_worktree": monitor_of_a_worktree,
    "clean": filters("evil", "clean"),
    "process": filters("evil", "process"),
    "name_with_an_equals_sign": filters("a=b", "clean"),
    "hook": hook,
    "hooks_of_the_tree": hooks_of_the_tree,
    "transport": transport,
    "submodule": submodule,
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_nothing_that_the_tree_names_is_run(
    kind: str, tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    HOSTILE[kind](tree)
    control = shutil.copytree(tree, tree.parent / "control", symlinks=True)
    monkeypatch.chdir(tree)
    code = main(["migrate", ".", "--write"])
    assert not (tree.parent / "fired").exists(), f"exit {code}"
    written = "horovod" in (tree / "train.py").read_text()
    assert (code, written) == ((2, False) if kind == "transport" else (0, True)), capsys.readouterr()
    subprocess.run(["git", "status"], cwd=control, capture_output=True, check=False)
    assert (tree.parent / "fired").exists(), "git would have run it"


def untracked(tree: Path) -> None:
    (tree / "a\nb").write_text("")


def staged(tree: Path) -> None:
    (tree / "train.py").write_text("x = 1\n")
    git(tree, "add", "-A")


def renamed(tree: Path) -> None:
    git(tree, "mv", "train.py", "other.py")


def mode(tree: Path) -> None:
    (tree / "train.py").chmod(0o755)


def in_a_submodule(tree: Path) -> None:
    submodule(tree)
    (tree / "sub" / "train.py").write_text("x = 1\n")


CHANGED = {
    "untracked": (untracked, 1),
    "staged": (staged, 1),
    "renamed": (renamed, 2),
    "mode": (mode, 1),
    "in_a_submodule": (in_a_submodule, 1),
}


@pytest.mark.parametrize("kind", CHANGED)
def test_a_change_is_seen(kind: str, tree: Path) -> None:
    assert changes(tree) == 0
    change, count = CHANGED[kind]
    change(tree)
    assert changes(tree) == count


def test_before_the_first_commit(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    assert changes(tmp_path) == 0
    (tmp_path / "train.py").write_text(DDP)
    assert changes(tmp_path) == 1
    git(tmp_path, "add", "-A")
    assert changes(tmp_path) == 1


def ignored(tree: Path) -> None:
    (tree / ".git" / "info" / "exclude").write_text("*.log\n")
    (tree / "a.log").write_text("")


def as_on_windows(tree: Path) -> None:
    """The commit has lines as on Linux; git reads the file again, as its time is another one."""
    (tree / "train.py").write_bytes(DDP.replace("\n", "\r\n").encode())
    git(tree, "add", "-A")
    os.utime(tree / "train.py", (1, 1))


def other_line_ends(tree: Path) -> None:
    git(tree, "config", "core.autocrlf", "true")
    as_on_windows(tree)


def other_modes(tree: Path) -> None:
    git(tree, "config", "core.fileMode", "false")
    (tree / "train.py").chmod(0o755)


def a_name_without_a_value(tree: Path) -> None:
    """It is true."""
    with (tree / ".git" / "config").open("a") as file:
        file.write("[core]\n\tautocrlf\n")
    as_on_windows(tree)


def split(tree: Path) -> None:
    git(tree, "update-index", "--split-index")


def sparse(tree: Path) -> None:
    (tree / "data").mkdir()
    (tree / "data" / "x").write_text("x")
    git(tree, "add", "-A")
    git(tree, "commit", "-qm", "data")
    git(tree, "sparse-checkout", "set", "--cone", "elsewhere")
    assert not (tree / "data").exists()


@pytest.mark.parametrize(
    "kind", [ignored, other_line_ends, other_modes, a_name_without_a_value, split, sparse]
)
def test_settings_of_the_tree_that_are_values_hold(kind: Callable[[Path], None], tree: Path) -> None:
    kind(tree)
    assert changes(tree) == 0
    (tree / "train.py").write_text("x = 1\n")
    assert changes(tree) == 1


def test_a_worktree_and_sha256(tree: Path, tmp_path: Path) -> None:
    git(tree, "worktree", "add", "-q", str(tmp_path / "second"))
    other = made(tmp_path / "other", **{"object-format": "sha256"})
    for place in (tmp_path / "second", other):
        assert changes(place) == 0
        (place / "train.py").write_text("x = 1\n")
        assert changes(place) == 1
    assert changes(tree) == 0


def test_the_filters_of_the_user_hold(tree: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As git-lfs installs its own for all checkouts."""
    (tmp_path / "config").write_text('[filter "mine"]\n\tclean = sed s/gloo/nccl/\n')
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "config"))
    (tree / ".gitattributes").write_text("data filter=mine\n")
    (tree / "data").write_text("nccl\n")
    git(tree, "add", "-A")
    git(tree, "commit", "-qm", "data")
    (tree / "data").write_text("gloo\n")
    assert changes(tree) == 0
    (tree / "data").write_text("mpi\n")
    assert changes(tree) == 1


def test_git_that_cannot_answer(
    tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tree)
    with monkeypatch.context() as patched:
        patched.setenv("PATH", str(tree))
        assert main(["migrate", ".", "--write"]) == 2
    assert "there is no git program on PATH" in capsys.readouterr().err
    (tree / ".git" / "config").unlink()
    os.mkfifo(tree / ".git" / "config")
    monkeypatch.setattr("hvdkit.migrate.write.git._PATIENCE_S", 0.5)
    assert main(["migrate", ".", "--write"]) == 2
    assert "git gives no answer within 0.5 s" in capsys.readouterr().err
    assert (tree / "train.py").read_text() == DDP
