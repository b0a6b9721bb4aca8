"""A copy of a folder holds everything itself, and a view of one shows what a rewrite changes."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from hvdkit.verify import workcopy
from hvdkit.verify.workcopy import CopyError, copy_folder, make_surroundings, make_view, put_file


def copied(tmp_path: Path) -> Path:
    copy = tmp_path / "copy"
    assert not copy_folder(tmp_path / "source", copy, tmp_path, "a test", shielded=False)
    return copy


@pytest.fixture
def source(tmp_path: Path) -> Path:
    (tmp_path / "source").mkdir()
    return tmp_path / "source"


def test_hidden_folders_and_large_files_are_copied(source, tmp_path):
    (source / ".git").mkdir()
    (source / ".git" / "HEAD").write_text("main")
    (source / "weights.bin").write_bytes(b"0" * 200_000)
    copy = copied(tmp_path)
    assert not any(path.is_symlink() for path in (copy, *copy.rglob("*")))
    assert (copy / ".git" / "HEAD").read_text() == "main"
    assert (copy / "weights.bin").stat().st_size == 200_000


def test_a_link_inside_the_folder_is_one_inside_the_copy(source, tmp_path):
    (source / "a.txt").write_text("a")
    (source / "near").symlink_to("a.txt")
    (source / "whole").symlink_to(source / "a.txt")
    copy = copied(tmp_path)
    assert os.fspath((copy / "near").readlink()) == "a.txt"
    assert (copy / "whole").readlink() == copy / "a.txt"


def test_what_a_link_out_of_the_folder_leads_to_is_copied(source, tmp_path):
    (tmp_path / "far" / "deep").mkdir(parents=True)
    (tmp_path / "far" / "deep" / "a.txt").write_text("far")
    (source / "file").symlink_to(tmp_path / "far" / "deep" / "a.txt")
    (source / "folder").symlink_to(tmp_path / "far")
    (source / "gone").symlink_to(tmp_path / "nowhere")
    (source / "up").symlink_to("..")
    (source / "null").symlink_to("/dev/null")
    copy = copied(tmp_path)
    assert (copy / "file").read_text() == (copy / "folder" / "deep" / "a.txt").read_text() == "far"
    assert not (copy / "file").is_symlink() and not (copy / "folder").is_symlink()
    assert {entry.name for entry in copy.iterdir()} == {"file", "folder", "null"}


def test_files_with_two_names_modes_and_kinds(source, tmp_path):
    (source / "a.txt").write_text("a")
    os.link(source / "a.txt", source / "b.txt")
    (source / "locked").mkdir()
    (source / "locked" / "run.sh").touch(mode=0o755)
    (source / "locked").chmod(0o555)
    os.mkfifo(source / "pipe")
    copy = copied(tmp_path)
    assert (copy / "a.txt").samefile(copy / "b.txt")
    assert stat.S_IMODE((copy / "locked").stat().st_mode) == 0o555
    assert os.access(copy / "locked" / "run.sh", os.X_OK)
    assert (copy / "pipe").is_fifo()


@pytest.mark.parametrize("mark", ["pyvenv.cfg", "conda-meta/"])
def test_environments_are_left_out(source, tmp_path, mark):
    (source / "env").mkdir()
    place = source / "env" / mark
    place.mkdir() if mark.endswith("/") else place.touch()
    (source / "a.py").touch()
    assert [path.name for path in copied(tmp_path).iterdir()] == ["a.py"]


def test_data_in_many_small_files_is_too_large_too(source, tmp_path, monkeypatch):
    monkeypatch.setattr(workcopy, "LARGEST", 40 * workcopy.BLOCK)
    monkeypatch.setattr(workcopy, "_reflink", lambda path, place: False)
    (source / "data").mkdir()
    for name in range(50):
        (source / "data" / str(name)).touch()
    with pytest.raises(CopyError, match=str(source / "data")):
        copied(tmp_path)


def test_under_a_shield_what_has_no_room_is_linked(source, tmp_path, monkeypatch):
    monkeypatch.setattr(workcopy, "LARGEST", 64 * workcopy.BLOCK)
    monkeypatch.setattr(workcopy, "_reflink", lambda path, place: False)
    (source / "train.py").write_text("code")
    (source / "large.bin").write_bytes(b"0" * 5 * workcopy.BLOCK)
    (source / "data").mkdir()
    for name in range(200):
        (source / "data" / str(name)).touch()
    copy = tmp_path / "copy"
    linked = copy_folder(source, copy, tmp_path, "a test", shielded=True)
    assert source / "large.bin" in linked and (copy / "large.bin").readlink() == source / "large.bin"
    assert not (copy / "train.py").is_symlink() and not (copy / "data").is_symlink()
    assert {path.name for path in (copy / "data").iterdir()} == {str(name) for name in range(200)}
    assert all((copy / path.relative_to(source)).is_symlink() for path in linked)


def test_a_file_put_into_a_view_leaves_the_folder_alone(source, tmp_path):
    (source / ".hidden" / "deep").mkdir(parents=True)
    for name in ("train.py", "other.py"):
        (source / ".hidden" / "deep" / name).write_text("before\n")
    view = tmp_path / "view"
    make_view(source, view)
    put_file(view, Path(".hidden/deep/train.py"), b"after\n")
    assert (view / ".hidden" / "deep" / "train.py").read_text() == "after\n"
    assert (view / ".hidden" / "deep" / "other.py").read_text() == "before\n"
    assert (source / ".hidden" / "deep" / "train.py").read_text() == "before\n"


def test_what_lies_beside_the_folder_is_found_from_the_copy(tmp_path):
    here = tmp_path / "a" / "b" / "project"
    for folder in (here, tmp_path / "a" / "b" / "data", tmp_path / "a" / "sets", tmp_path / "far"):
        folder.mkdir(parents=True)
    (tmp_path / "run").mkdir()
    place = make_surroundings(here, tmp_path / "run")
    copy_folder(here, place, tmp_path / "run", "a test", shielded=False)
    assert place.name == "project" and place.is_dir() and not place.is_symlink()
    assert (place / ".." / "data").resolve() == tmp_path / "a" / "b" / "data"
    assert (place / ".." / ".." / "sets").resolve() == tmp_path / "a" / "sets"


@pytest.mark.parametrize("here", ["/", "/usr"])
def test_a_folder_with_little_around_it(tmp_path, here):
    place = make_surroundings(Path(here), tmp_path / "run")
    assert place.is_relative_to(tmp_path / "run") and not place.exists()
