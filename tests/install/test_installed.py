"""`--check`, against a Horovod whose metadata tells another story than the frameworks that are here."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from hvdkit.install import frameworks, installed
from tests.install import plans


@pytest.fixture
def pretend(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folder of a Horovod 0.28.1 that was built against torch 2.12.1, first on the path."""
    info = tmp_path / "horovod-0.28.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: horovod\nVersion: 0.28.1\n")
    archive = {"archive_info": {"hashes": {"sha256": "abc"}}, "url": "file:///wheels/horovod.whl"}
    (info / "direct_url.json").write_text(json.dumps(archive))
    (tmp_path / "horovod").mkdir()
    (tmp_path / "horovod" / "metadata.json").write_text('{\n"pytorch": "2.12.1",\n"dummy": "none"\n}')
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def test_a_framework_that_changed(pretend: Path) -> None:
    assert installed.misfits((plans.TORCH,)) == (
        "Horovod was built against torch 2.12.1, and 2.13.0+cpu is installed",
    )


def test_a_framework_that_came_later(pretend: Path) -> None:
    old = replace(plans.TORCH, version="2.12.1")
    assert installed.misfits((old, plans.TENSORFLOW)) == (
        "Horovod was built without tensorflow, and 2.15.1 is installed",
    )


def test_another_horovod(pretend: Path) -> None:
    metadata = pretend / "horovod-0.28.1.dist-info" / "METADATA"
    metadata.write_text(metadata.read_text().replace("0.28.1", "0.27.0"))
    assert "Horovod 0.27.0 is installed, not 0.28.1" in installed.misfits((plans.TORCH,))


def test_a_build_that_compiled_nothing(pretend: Path) -> None:
    (pretend / "horovod" / "metadata.json").write_text('{\n"dummy": "none"\n}')
    assert installed.misfits((plans.TORCH,)) == (
        "Horovod was built without torch, and 2.13.0+cpu is installed",
    )


def test_no_horovod(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.path", [])
    assert installed.misfits((plans.TORCH,)) == ("Horovod is not installed",)
    assert installed.wheel_digest() == ""


def test_the_wheel_it_came_from(pretend: Path) -> None:
    assert installed.wheel_digest() == "abc"


def test_an_extension_that_does_not_load(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # In the child that tries the import, a broken horovod comes first.
    (tmp_path / "horovod").mkdir()
    (tmp_path / "horovod" / "__init__.py").write_text("raise ImportError('undefined symbol: _ZN3c10')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    (reason,) = installed.misfits(frameworks.installed())
    assert reason == "`import horovod.torch.mpi_ops` fails: ImportError: undefined symbol: _ZN3c10"


def test_the_horovod_of_this_environment_fits() -> None:
    assert installed.misfits(frameworks.installed()) == ()
