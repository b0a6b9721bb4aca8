"""Finds in a build's output the line that explains it: the first real error, not make's last words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

# In the order of a build. The first line that matches any of them is where things went wrong; what follows
# (other compilers that were running, make, CMake, setuptools, pip) repeats it in fewer words.
_ERROR = re.compile(
    r"""
    ^\S+:\d+(:\d+)?:\ (fatal\ )?error:            # g++, clang: file:line:column
    | ^(\S*(g\+\+|c\+\+|cc1plus|clang\+*|nvcc))(\ fatal\ *)?:\ (internal\ compiler\ |fatal\ )?error\b
    | ^nvcc\ fatal\ *:
    | ^\S*ld(\.\w+)?:\ (?!warning)                # the linker, by its own name
    | undefined\ reference\ to\b
    | ^CMake\ Error
    | ^ERROR:\ (Could\ not|No\ matching|Cannot|HTTP)   # pip, before anything is built
    | ^(\w+\.)*\w+(Error|Exception):\ (?!\[?subprocess|Command)
    """,
    re.VERBOSE,
)
_CONTEXT_LINES = 6
_FIXES = (
    (r"[Kk]illed signal|cannot allocate memory", "out of memory: MAKEFLAGS=-j1 hvdkit install-horovod"),
    (
        r"/tensorflow/include/\S+: fatal error: \S+: No such file",
        "this TensorFlow package lacks a header that its own headers include: install a different version",
    ),
    (r"No module named pip$", "this environment has no pip: python -m ensurepip"),
    (r"No space left on device", "free space, or set HVDKIT_CACHE to a folder on a different disk"),
    (
        r"No matching distribution|Could not find a version|Could not fetch|HTTP error",
        "pip cannot reach an index that has it: see `pip config list`",
    ),
    (
        r"Unsupported gpu architecture",
        "HOROVOD_BUILD_CUDA_CC_LIST names the compute capabilities, as in 80,90",
    ),
)


@dataclass(frozen=True)
class Failure:
    """The first error of a build: its lines, and what fixes it where that is known (else empty)."""

    lines: tuple[str, ...]
    fix: str


def first_error(output: Sequence[str]) -> Failure:
    """The first real error in the lines of a build's output; its last lines where none is recognised."""
    lines = [line.strip("\n").removeprefix("  ") for line in output]
    at = next((index for index, line in enumerate(lines) if _ERROR.search(line)), None)
    found = tuple(_block(lines, at)) if at is not None else tuple(lines[-_CONTEXT_LINES:])
    text = "\n".join(found)
    return Failure(found, next((fix for pattern, fix in _FIXES if re.search(pattern, text)), ""))


def _block(lines: list[str], at: int) -> list[str]:
    """The error with what belongs to it: the indented lines that follow.

    CMake quotes what a compiler or linker told it: then that is the error, below CMake's headline.
    """
    cmake = lines[at].startswith("CMake Error")
    block = list(
        takewhile(lambda line: line.startswith((" ", "\t")) or (cmake and not line), lines[at + 1 :])
    )
    if cmake:
        quoted = next((line.strip() for line in block if _ERROR.search(line.strip())), None)
        block = [quoted] if quoted else [line for line in block if line]
    return [lines[at], *block[: _CONTEXT_LINES - 1]]
