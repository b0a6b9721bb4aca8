"""What an overlay on a folder alone would leave open is found."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hvdkit.verify.survey import survey


@pytest.fixture
def here(tmp_path: Path) -> Path:
    (tmp_path / "here" / ".deep" / "er").mkdir(parents=True)
    (tmp_path / "far" / "set").mkdir(parents=True)
    (tmp_path / "scratch").mkdir()
    return tmp_path / "here"


def test_links_that_lead_out(here, tmp_path):
    far = tmp_path / "far"
    (far / "a.bin").touch()
    (tmp_path / "next").mkdir()
    (here / ".deep" / "er" / "data").symlink_to(far / "set")
    (here / "file").symlink_to(far / "a.bin")  # in the folder above the other
    (here / "inside").symlink_to(".deep")
    (here / "null").symlink_to("/dev/null")
    (here / "kernel").symlink_to("/proc/self")
    (far / "set" / "on").symlink_to(tmp_path / "next")  # a link that is behind a link
    found = survey(here, tmp_path / "scratch")
    assert set(found.outside) == {far, tmp_path / "next"}
    assert (found.owned, found.unowned, found.foreign) == ((), None, None)


def test_links_to_where_what_is_written_is_kept(here, tmp_path):
    (tmp_path / "beside.bin").touch()
    (here / "file").symlink_to(tmp_path / "beside.bin")
    assert survey(here, tmp_path / "scratch").owned == (here / "file",)
    (here / "up").symlink_to("..")
    assert survey(here, tmp_path / "scratch").unowned == here / "up"


def test_a_link_that_leads_nowhere_yet(here, tmp_path):
    (here / "last.pt").symlink_to(tmp_path / "far" / "last.pt")
    (here / "never.pt").symlink_to(tmp_path / "no folder" / "last.pt")
    assert survey(here, tmp_path / "scratch").outside == (tmp_path / "far",)


def test_files_of_others(here, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "getegid", lambda: (here / ".deep").stat().st_gid + 1)
    assert survey(here, tmp_path / "scratch").foreign == here / ".deep"


def test_an_environment_is_not_read(here, tmp_path):
    (here / "pyvenv.cfg").touch()
    (here / "env").mkdir()
    (here / "env" / "pyvenv.cfg").touch()
    (here / "env" / "python").symlink_to(tmp_path / "far")
    assert survey(here, tmp_path / "scratch").outside == ()
