"""A work copy looks like the folder, and writing into it leaves the folder alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from hvdkit.verify import workcopy
from hvdkit.verify.workcopy import inside_copy, make_surroundings, make_work_copy, put_file


def test_small_files_are_copied_large_ones_linked(tmp_path):
    source = tmp_path / "source"
    (source / "pack").mkdir(parents=True)
    (source / "pack" / "model.py").write_text("x = 1\n")
    (source / "weights.bin").write_bytes(b"0" * (workcopy.LARGEST_COPY + 1))
    (source / ".git").mkdir()
    copy = tmp_path / "copy"
    make_work_copy(source, copy)
    (copy / "pack" / "model.py").write_text("x = 2\n")
    (copy / "pack" / "new.txt").touch()
    assert (source / "pack" / "model.py").read_text() == "x = 1\n"
    assert not (source / "pack" / "new.txt").exists()
    assert (copy / "weights.bin").is_symlink() and (copy / ".git").is_symlink()


def test_a_data_set_of_many_files_is_linked(tmp_path, monkeypatch):
    monkeypatch.setattr(workcopy, "MOST_ENTRIES", 5)
    source = tmp_path / "source"
    (source / "code").mkdir(parents=True)
    (source / "code" / "a.py").touch()
    (source / "data" / "train").mkdir(parents=True)
    for name in range(9):
        (source / "data" / f"{name}.txt").touch()
    make_work_copy(source, tmp_path / "copy")
    assert not (tmp_path / "copy" / "code").is_symlink()
    assert (tmp_path / "copy" / "data" / "train").is_symlink()


def test_links_stay_links(tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    (tmp_path / "far.txt").write_text("far")
    (source / "near.txt").symlink_to(tmp_path / "far.txt")
    (source / "gone.txt").symlink_to(tmp_path / "nowhere")
    make_work_copy(source, tmp_path / "copy")
    assert (tmp_path / "copy" / "near.txt").read_text() == "far"
    assert (tmp_path / "copy" / "gone.txt").is_symlink()


def test_place_of_a_script(tmp_path):
    copy = tmp_path / "copy"
    assert inside_copy(tmp_path / "a" / "t.py", tmp_path / "a", copy) == copy / "t.py"
    assert inside_copy(tmp_path / "b" / "t.py", tmp_path / "a", copy) == tmp_path / "b" / "t.py"


def test_a_file_put_into_a_linked_folder_leaves_the_folder_alone(tmp_path):
    source, copy = tmp_path / "source", tmp_path / "copy"
    (source / ".hidden" / "deep").mkdir(parents=True)
    for name in ("train.py", "other.py"):
        (source / ".hidden" / "deep" / name).write_text("before\n")
    make_work_copy(source, copy)
    put_file(copy, Path(".hidden/deep/train.py"), b"after\n")
    assert (copy / ".hidden" / "deep" / "train.py").read_text() == "after\n"
    assert (copy / ".hidden" / "deep" / "other.py").read_text() == "before\n"
    assert (source / ".hidden" / "deep" / "train.py").read_text() == "before\n"


def test_what_lies_beside_the_folder_is_found_from_the_copy(tmp_path):
    here = tmp_path / "a" / "b" / "project"
    for folder in (here, tmp_path / "a" / "b" / "data", tmp_path / "a" / "sets", tmp_path / "far"):
        folder.mkdir(parents=True)
    place = make_surroundings(here, tmp_path / "run")
    make_work_copy(here, place)
    assert place.name == "project" and place.is_dir() and not place.is_symlink()
    assert (place / ".." / "data").resolve() == tmp_path / "a" / "b" / "data"
    assert (place / ".." / ".." / "sets").resolve() == tmp_path / "a" / "sets"


@pytest.mark.parametrize("here", ["/", "/usr"])
def test_a_folder_with_little_around_it(tmp_path, here):
    place = make_surroundings(Path(here), tmp_path / "run")
    assert place.is_relative_to(tmp_path / "run") and not place.exists()
