"""The first real error, in output that failing builds really printed (folders shortened)."""

from __future__ import annotations

import pytest

from hvdkit.install import failure

# torch 2.13 with Horovod's own C++14.
WRONG_STANDARD = """\
  [ 55%] Building CXX object horovod/torch/CMakeFiles/pytorch.dir/handle_manager.cc.o
  make[2]: Leaving directory '/tmp/build'
  In file included from /env/torch/include/torch/extension.h:5,
                   from /tmp/build/horovod/torch/handle_manager.h:21,
                   from /tmp/build/horovod/torch/handle_manager.cc:16:
  /env/torch/all.h:5:2: error: #error C++17 or later compatible compiler is required to use PyTorch.
      5 | #error C++17 or later compatible compiler is required to use PyTorch.
        |  ^~~~~
  In file included from /env/torch/include/ATen/core/TensorBody.h:17,
  /env/torch/ATen.h:5:2: error: #error C++17 or later compatible compiler is required to use ATen.
  make[2]: *** [horovod/torch/CMakeFiles/pytorch.dir/build.make:454: mpi_ops_v2.cc.o] Error 1
  make: *** [Makefile:136: all] Error 2
  subprocess.CalledProcessError: Command '['cmake', '--build', '.']' returned non-zero exit status 2.
  error: subprocess-exited-with-error
  ERROR: Failed building wheel for horovod
ERROR: Failed to build one or more wheels
"""
# LDFLAGS=-lnosuch.
LINKER_IN_CMAKE = """\
  CMake Error at /usr/share/cmake-3.25/Modules/CMakeTestCXXCompiler.cmake:63 (message):
    The C++ compiler

      "/usr/bin/g++"

    is not able to compile a simple test program.

    It fails with the following output:

      Linking CXX executable cmTC_fa861
      /usr/bin/ld: cannot find -lnosuch: No such file or directory
      collect2: error: ld returned 1 exit status

    CMake will not be able to correctly generate this project.
  Call Stack (most recent call first):
    CMakeLists.txt:17 (project)


  -- Configuring incomplete, errors occurred!
  subprocess.CalledProcessError: Command '['cmake', '/tmp/build']' returned non-zero exit status 1.
"""
# HOROVOD_WITH_PYTORCH=1 in an isolated build, which sees no torch.
NO_TORCH = """\
  Traceback (most recent call last):
    File "<string>", line 1, in <module>
  ModuleNotFoundError: No module named 'torch'
  CMake Error at /usr/share/cmake-3.25/Modules/FindPackageHandleStandardArgs.cmake:230 (message):
    Could NOT find Pytorch (missing: Pytorch_VERSION) (Required is at least
    version "1.5.0")
  Call Stack (most recent call first):
"""
NO_MEMORY = """\
  [ 61%] Building CXX object horovod/tensorflow/CMakeFiles/tensorflow.dir/mpi_ops.cc.o
  c++: fatal error: Killed signal terminated program cc1plus
  compilation terminated.
  make[2]: *** [horovod/tensorflow/CMakeFiles/tensorflow.dir/build.make:622: mpi_ops.cc.o] Error 1
"""
# TensorFlow 2.19.1.
NO_HEADER = """\
  In file included from /env/site-packages/tensorflow/include/xla/stream_executor/stream_executor.h:40,
                   from /tmp/build/horovod/tensorflow/xla_mpi_ops.cc:25:
  /env/site-packages/tensorflow/include/xla/stream_executor/gpu/tma_metadata.h:25:10: \
fatal error: llvm/ADT/ArrayRef.h: No such file or directory
     25 | #include "llvm/ADT/ArrayRef.h"
        |          ^~~~~~~~~~~~~~~~~~~~~
  compilation terminated.
"""
NO_PIP = "/env/bin/python: No module named pip\n"
NO_INDEX = """\
ERROR: Could not find a version that satisfies the requirement horovod==0.28.1 (from versions: none)
ERROR: No matching distribution found for horovod==0.28.1
"""


@pytest.mark.parametrize(
    ("output", "first", "fix"),
    [
        (WRONG_STANDARD, "all.h:5:2: error: #error C++17 or later compatible compiler is required", ""),
        (LINKER_IN_CMAKE, "CMake Error at", ""),
        (NO_TORCH, "ModuleNotFoundError: No module named 'torch'", ""),
        (NO_MEMORY, "Killed signal terminated program cc1plus", "MAKEFLAGS=-j1"),
        (NO_HEADER, "fatal error: llvm/ADT/ArrayRef.h: No such file", "install a different version"),
        (NO_PIP, "No module named pip", "ensurepip"),
        (NO_INDEX, "Could not find a version", "pip config list"),
    ],
)
def test_first_error(output: str, first: str, fix: str) -> None:
    found = failure.first_error(output.splitlines())
    assert first in found.lines[0]
    assert fix in found.fix
    assert bool(found.fix) == bool(fix)


def test_the_source_line_comes_with_it_and_the_next_error_does_not() -> None:
    found = failure.first_error(WRONG_STANDARD.splitlines())
    assert len(found.lines) == 3
    assert "^~~~~" in found.lines[-1]


def test_what_cmake_quotes_is_the_error() -> None:
    found = failure.first_error(LINKER_IN_CMAKE.splitlines())
    assert found.lines[1:] == ("/usr/bin/ld: cannot find -lnosuch: No such file or directory",)


def test_a_plain_cmake_error_is_its_paragraph() -> None:
    found = failure.first_error(NO_TORCH.splitlines()[3:])
    assert [line.strip() for line in found.lines[1:]] == [
        "Could NOT find Pytorch (missing: Pytorch_VERSION) (Required is at least",
        'version "1.5.0")',
    ]


def test_warnings_and_progress_are_no_errors() -> None:
    lines = ["[ 3%] Building error.cc.o", "a.cc:1:2: warning: no error: fine", "CMake Warning at x", "done"]
    assert failure.first_error(lines).lines == tuple(lines)
