"""The two small CMake files that let the released Horovod compile on today's headers.

Horovod sets its C++ standard itself, from versions it knew when it was released. CMake turns a standard into
a flag by a variable, which a project file included after `project()` may set: the standard that Horovod asks
for is then spelled as the one that is needed. Horovod's setup.py runs the CMake that `HOROVOD_CMAKE` names:
here a script that runs the real one with a toolchain file, and that file names the project file. (CMake reads
a toolchain file from the environment only since 3.21.)

The same project file corrects a header of the flatbuffers in Horovod's source, in pip's unpacked copy of it:
no flag makes that header compile under every standard.

They also leave out work that changes no instruction of the result: the debug information of setup.py's
RelWithDebInfo (the library of PyTorch is 2 MB without it, and 68 MB with it), headers read once for each
source where eight sources can share one reading (CMake's unity build), and a second copy of Gloo that nothing
links.
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
# CMake's flags of RelWithDebInfo as Horovod changes them (-O3 for -O2), without -g.
_NO_DEBUG_INFORMATION = [
    f'set(CMAKE_{language}_FLAGS_RELWITHDEBINFO "-O3 -DNDEBUG" CACHE STRING "")' for language in ("C", "CXX")
]
# Horovod's sources can be read together, but for those of TensorFlow's part, which open namespaces that its
# headers cannot bear; the sources of Gloo, a project of its own, define names twice. The properties of a
# source hold in the folder of its target, which exists at the end (CMake 3.19).
_UNITY = """if(PROJECT_NAME STREQUAL horovod AND CMAKE_VERSION VERSION_GREATER_EQUAL 3.19)
  set(CMAKE_UNITY_BUILD ON)
  file(GLOB apart "${PROJECT_SOURCE_DIR}/horovod/tensorflow/*.cc")
  if(apart AND NOT "$ENV{HOROVOD_WITHOUT_TENSORFLOW}" STREQUAL "1")
    cmake_language(DEFER CALL set_source_files_properties ${apart}
      DIRECTORY "${PROJECT_SOURCE_DIR}/horovod/tensorflow" PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
else()
  set(CMAKE_UNITY_BUILD OFF)
endif()
"""
# Horovod compiles Gloo, and once more as compatible17_gloo where TensorFlow asks for C++17. What is linked is
# built.
_LINKED_GLOO = """if(PROJECT_NAME STREQUAL gloo)
  set_property(DIRECTORY PROPERTY EXCLUDE_FROM_ALL ON)
endif()
"""


def files(standard: int, libstdcxx: int | None, *, together: bool) -> dict[str, str]:
    """File name to text.

    libstdcxx: its major release, or None where another library is in use. together: whether Horovod's sources
    are compiled eight at a time.
    """
    lines = [f'set(CMAKE_PROJECT_INCLUDE "${{CMAKE_CURRENT_LIST_DIR}}/{_PROJECT}")', *_NO_DEBUG_INFORMATION]
    if libstdcxx is not None and libstdcxx >= _HEADERS_CLEANED_IN:
        flags = " ".join(f"-include {header}" for header in _UNINCLUDED)
        lines.append(f'set(CMAKE_CXX_FLAGS_INIT "{flags}")')
    options = [
        f'set(CMAKE_CXX{asked}_{kind}_COMPILE_OPTION "-std=c++{standard}")'
        for asked in _HOROVOD_STANDARDS
        if asked < standard
        for kind in ("STANDARD", "EXTENSION")
    ]
    parts = [*options, _SPAN, _LINKED_GLOO, *([_UNITY] if together else [])]
    return {TOOLCHAIN: "\n".join(lines) + "\n", _PROJECT: "\n".join(parts)}


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
