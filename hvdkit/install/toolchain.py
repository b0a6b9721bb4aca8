"""The two small CMake files that let the released Horovod compile on today's headers.

Horovod sets its C++ standard itself, from versions it knew when it was released. CMake turns a standard into
a flag by a variable, which a project file included after `project()` may set: the standard that Horovod asks
for is then spelled as the one that is needed. Horovod's setup.py runs the CMake that `HOROVOD_CMAKE` names:
here a script that runs the real one with a toolchain file, and that file names the project file. (CMake reads
a toolchain file from the environment only since 3.21.)

The same project file corrects a header of the flatbuffers in Horovod's source, in pip's unpacked copy of it:
no flag makes that header compile under every standard.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path

TOOLCHAIN = "toolchain.cmake"
_PROJECT = "project.cmake"
# What Horovod 0.28.1 and the libraries in it set, depending on the framework.
_HOROVOD_STANDARDS = (11, 14, 17)
# libstdc++ 13 stopped including these on the way (GCC 13 porting guide, "Header dependency changes"), and
# Horovod uses them without an #include of its own.
_UNINCLUDED = ("cstdint", "stdexcept", "string")
_HEADERS_CLEANED_IN = 13
# The assignment of flatbuffers' span writes to members that are const. Older compilers notice where it is
# used, which is nowhere; GCC 14 and later refuse the template itself.
_SPAN = r"""set(header "${PROJECT_SOURCE_DIR}/third_party/flatbuffers/include/flatbuffers/stl_emulation.h")
if(EXISTS "${header}")
  file(READ "${header}" text)
  string(REPLACE "{\n    data_ = other.data_;\n    count_ = other.count_;\n  }" "= delete;" text "${text}")
  file(WRITE "${header}" "${text}")
endif()
"""


def files(standard: int, libstdcxx: int | None) -> dict[str, str]:
    """File name to text. libstdcxx: its major release, or None where another library is in use."""
    lines = [f'set(CMAKE_PROJECT_INCLUDE "${{CMAKE_CURRENT_LIST_DIR}}/{_PROJECT}")']
    if libstdcxx is not None and libstdcxx >= _HEADERS_CLEANED_IN:
        flags = " ".join(f"-include {header}" for header in _UNINCLUDED)
        lines.append(f'set(CMAKE_CXX_FLAGS_INIT "{flags}")')
    options = [
        f'set(CMAKE_CXX{asked}_{kind}_COMPILE_OPTION "-std=c++{standard}")'
        for asked in _HOROVOD_STANDARDS
        if asked < standard
        for kind in ("STANDARD", "EXTENSION")
    ]
    return {TOOLCHAIN: "\n".join(lines) + "\n", _PROJECT: "\n".join([*options, _SPAN])}


def write(folder: Path, texts: dict[str, str], cmake: str, more: Mapping[str, str] | None = None) -> Path:
    """Write the files of `files()` into `folder`; returns the script for HOROVOD_CMAKE.

    cmake: the program that the script runs. more: variables that it defines beside the toolchain file. Only a
    call that names a source folder configures a project; those that begin with an option (`--build`, `-E`)
    take none.
    """
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    variables = {"CMAKE_TOOLCHAIN_FILE": str(folder / TOOLCHAIN), **(more or {})}
    given = shlex.join(f"-D{name}={value}" for name, value in variables.items())
    script = folder / "cmake"
    lines = ["#!/bin/sh", f'case $1 in -*) ;; *) set -- {given} "$@" ;; esac']
    script.write_text("\n".join([*lines, f'exec {shlex.quote(cmake)} "$@"']) + "\n", encoding="utf-8")
    script.chmod(0o755)
    return script
