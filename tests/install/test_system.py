from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from hvdkit.install import system
from hvdkit.install.errors import MissingToolsError

TOOLS = ("g++", "as", "make", "cmake", "mpicxx", "mpirun")


def path_without(folder: Path, *missing: str) -> dict[str, str]:
    """An environment whose PATH holds the build's tools but for `missing`."""
    for tool in TOOLS:
        if tool not in missing:
            found = shutil.which(tool)
            assert found is not None
            (folder / tool).symlink_to(found)
    return {**os.environ, "PATH": str(folder)}


@pytest.mark.parametrize(
    ("tool", "package"),
    [
        ("g++", "g++"),
        ("make", "make"),
        ("cmake", "cmake"),
        ("mpicxx", "libopenmpi-dev"),
        ("mpirun", "openmpi-bin"),
    ],
)
def test_a_missing_tool_is_named_with_its_package(tmp_path: Path, tool: str, package: str) -> None:
    with pytest.raises(MissingToolsError) as caught:
        system.look(path_without(tmp_path, tool))
    assert caught.value.seen == f"not found: {tool}"
    assert caught.value.fix.split("  (")[0] == f"apt-get install {package}"


def test_all_that_is_missing_comes_in_one_message(tmp_path: Path) -> None:
    with pytest.raises(MissingToolsError) as caught:
        system.look(path_without(tmp_path, *TOOLS))
    assert caught.value.seen == "not found: g++, make, cmake, mpicxx, mpirun"
    assert "apt-get install g++ make cmake libopenmpi-dev openmpi-bin" in caught.value.fix
    assert "HOROVOD_WITHOUT_MPI=1" in caught.value.fix


def test_without_mpi_when_asked(tmp_path: Path) -> None:
    environment = path_without(tmp_path, "mpicxx", "mpirun")
    assert system.look({**environment, "HOROVOD_WITHOUT_MPI": "1"}).mpi is None


def test_a_cmake_that_horovod_would_not_take(tmp_path: Path) -> None:
    environment = path_without(tmp_path, "cmake")
    old = tmp_path / "cmake"
    old.write_text("#!/bin/sh\necho cmake version 3.10.2\n")
    old.chmod(0o755)
    with pytest.raises(MissingToolsError, match=r"CMake 3\.15 or later \(here: cmake version 3\.10\.2\)"):
        system.look({**environment, "PATH": f"{tmp_path}:/bin"})


def test_missing_python_headers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sysconfig.get_path", lambda name: str(tmp_path / name))
    with pytest.raises(MissingToolsError, match=r"Python\.h") as caught:
        system.look(os.environ)
    assert caught.value.fix == "apt-get install python3-dev"


def test_what_is_here() -> None:
    here = system.look(os.environ)
    assert here.mpi is not None and "-I" in here.mpi.show
    assert here.libstdcxx is not None and here.libstdcxx >= 9
    assert here.compiler_version and here.platform.startswith("linux")


@pytest.mark.parametrize(
    ("said", "version"),
    [
        ("mpirun (Open MPI) 5.0.7\n\nReport bugs to https://www.open-mpi.org/\n", "mpirun (Open MPI) 5.0.7"),
        (
            "HYDRA build details:\n    Version:                                 4.0.2\n    CC: gcc\n",
            "mpirun (MPICH) 4.0.2",
        ),
    ],
)
def test_an_mpi_has_its_name_and_number(said: str, version: str) -> None:
    """They are in the wheel's key: another MPICH is another build."""
    assert system.mpi_version(said) == version
