"""The two CMake files, as text and in a real CMake project that insists on C++14."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from hvdkit.install import HOROVOD_VERSION, toolchain

PROJECT = """\
cmake_minimum_required(VERSION 3.13)
project(sample CXX)
set(CMAKE_CXX_STANDARD 14)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
add_library(sample SHARED sample.cc)
"""
SOURCE = 'static_assert(__cplusplus >= 202002L, "older than C++20");\nint sample() { return 0; }\n'


def compile_sample(
    folder: Path, source: str, texts: dict[str, str] | None, more: str = ""
) -> subprocess.CompletedProcess[str]:
    (folder / "CMakeLists.txt").write_text(PROJECT + more)
    (folder / "sample.cc").write_text(source)
    cmake = shutil.which("cmake")
    assert cmake is not None
    script = str(toolchain.write(folder, texts, cmake)) if texts is not None else cmake
    out = folder / "out"
    out.mkdir()
    # As Horovod's setup.py calls it.
    subprocess.run([script, str(folder)], cwd=out, check=True, capture_output=True)
    return subprocess.run([script, "--build", "."], cwd=out, capture_output=True, text=True, check=False)


def test_a_project_that_asks_for_cpp14_gets_cpp20(tmp_path: Path) -> None:
    done = compile_sample(tmp_path, SOURCE, toolchain.files(20, None, together=True))
    assert done.returncode == 0, done.stderr


def test_without_the_files_it_does_not(tmp_path: Path) -> None:
    done = compile_sample(tmp_path, SOURCE, None)
    assert done.returncode != 0
    assert "older than C++20" in done.stderr


@pytest.mark.parametrize(("libstdcxx", "compiles"), [(13, True), (12, False)])
def test_headers_that_newer_libraries_no_longer_bring_are_included(
    tmp_path: Path, libstdcxx: int, compiles: bool
) -> None:
    # Nothing is included here, so the names exist only if the toolchain file brings them.
    source = "std::uint8_t a; std::string b; std::runtime_error c{b};\n"
    done = compile_sample(tmp_path, source, toolchain.files(20, libstdcxx, together=True))
    assert (done.returncode == 0) is compiles, done.stderr


@pytest.fixture(scope="module")
def flatbuffers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The headers of the flatbuffers in Horovod's source, by their path in it."""
    folder = tmp_path_factory.mktemp("source")
    download = ["download", "-q", "--no-deps", "--no-build-isolation", "--no-binary", "horovod"]
    command = [sys.executable, "-m", "pip", *download, "--dest", str(folder), f"horovod=={HOROVOD_VERSION}"]
    subprocess.run(command, check=True, capture_output=True)
    (archive,) = folder.glob("*.tar.gz")
    found = {}
    with tarfile.open(archive) as source:
        for member in source.getmembers():
            name = member.name.partition("/")[2]
            file = source.extractfile(member)
            if name.startswith("third_party/flatbuffers/include/") and file is not None:
                found[name] = file.read()
    return found


# To name the instance is what makes any compiler as strict as GCC 14 is with the template.
SPAN = """\
#include "third_party/flatbuffers/include/flatbuffers/base.h"
#include "third_party/flatbuffers/include/flatbuffers/stl_emulation.h"
template class flatbuffers::span<int>;
template class flatbuffers::span<const char, 3>;
"""


@pytest.mark.build
@pytest.mark.parametrize(("standard", "compiles"), [(None, False), (14, True), (17, True), (20, True)])
def test_the_span_of_flatbuffers_compiles(
    tmp_path: Path, flatbuffers: dict[str, bytes], standard: int | None, compiles: bool
) -> None:
    for name, content in flatbuffers.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    include = f"target_include_directories(sample PRIVATE {tmp_path}/third_party/flatbuffers/include)\n"
    texts = toolchain.files(standard, None, together=True) if standard else None
    done = compile_sample(tmp_path, SPAN, texts, include)
    assert (done.returncode == 0) is compiles, done.stderr
    assert compiles or "assignment of read-only member" in done.stderr


def test_standards_that_are_high_enough_stay_as_they_are() -> None:
    text = toolchain.files(17, None, together=True)["project.cmake"]
    assert 'set(CMAKE_CXX14_STANDARD_COMPILE_OPTION "-std=c++17")' in text
    assert "CXX17_" not in text


def test_only_a_call_that_configures_is_given_variables(tmp_path: Path) -> None:
    echo = tmp_path / "echo"
    echo.write_text('#!/bin/sh\nprintf "%s|" "$@"\n')
    echo.chmod(0o755)
    script = toolchain.write(tmp_path, {}, str(echo), {"MPI_CXX_COMPILER": "/a folder/mpicxx"})

    def given(*arguments: str) -> str:
        return subprocess.run([script, *arguments], capture_output=True, text=True, check=True).stdout

    variables = f"-DCMAKE_TOOLCHAIN_FILE={tmp_path}/toolchain.cmake|-DMPI_CXX_COMPILER=/a folder/mpicxx|"
    assert given("/source", "-DX=1 2") == f"{variables}/source|-DX=1 2|"
    assert given("--build", ".") == "--build|.|"


def test_the_text_names_no_folder() -> None:
    # The text is part of the wheel's key: it may not differ from one build to the next.
    assert all("/tmp" not in text for text in toolchain.files(20, 15, together=True).values())


def commands_of(tmp_path: Path, name: str, *, together: bool) -> str:
    """What make would run for a project of this name, in the build type of Horovod's setup.py."""
    project = (
        f"cmake_minimum_required(VERSION 3.13)\nproject({name} CXX)\nadd_library(sample one.cc two.cc)\n"
    )
    (tmp_path / "CMakeLists.txt").write_text(project)
    for source in ("one.cc", "two.cc"):
        (tmp_path / source).write_text("")
    cmake = shutil.which("cmake")
    assert cmake is not None
    script = str(toolchain.write(tmp_path / "files", toolchain.files(17, None, together=together), cmake))
    out = tmp_path / "out"
    out.mkdir()
    configure = [script, str(tmp_path), "-DCMAKE_BUILD_TYPE=RelWithDebInfo"]
    subprocess.run(configure, cwd=out, check=True, capture_output=True)
    listed = ["make", "--dry-run", "VERBOSE=1", *(["sample"] if name == "gloo" else [])]
    return subprocess.run(listed, cwd=out, check=True, capture_output=True, text=True).stdout


def test_nothing_is_compiled_with_debug_information(tmp_path: Path) -> None:
    commands = commands_of(tmp_path, "horovod", together=False)
    assert " -O3 -DNDEBUG " in commands
    assert " -g " not in commands


@pytest.mark.parametrize(
    ("name", "together", "alone"),
    [("horovod", True, False), ("horovod", False, True), ("gloo", True, True)],
)
def test_only_horovods_own_sources_are_compiled_together(
    tmp_path: Path, name: str, together: bool, alone: bool
) -> None:
    assert ("one.cc.o" in commands_of(tmp_path, name, together=together)) is alone


def test_gloo_is_only_built_where_it_is_linked(tmp_path: Path) -> None:
    gloo = tmp_path / "gloo"
    gloo.mkdir()
    (gloo / "CMakeLists.txt").write_text("project(gloo CXX)\nadd_library(gloo gloo.cc)\n")
    (gloo / "gloo.cc").write_text("#error nothing links it\n")
    texts = toolchain.files(17, None, together=False)
    done = compile_sample(tmp_path, "int sample() { return 0; }\n", texts, "add_subdirectory(gloo)\n")
    assert done.returncode == 0, done.stderr
