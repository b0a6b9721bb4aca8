"""Reading a launcher's variables: a rank and a world size are a pair, and both are numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hvdkit.bootstrap.errors import LaunchEnvironmentError
from hvdkit.bootstrap.launch import Launch


@dataclass(frozen=True)
class Family:
    """The variables of one launcher. It counts only where `only_with`, if any, is set."""

    launcher: str
    rank: str
    sizes: tuple[str, ...]
    local_size: str
    only_with: str = ""


def read(family: Family, environ: Mapping[str, str]) -> Launch | None:
    """What a launcher says, None where it says nothing or only half.

    Raises:
        LaunchEnvironmentError: values that are no rank and no world size.
    """
    size_variable = _size_variable(family, environ)
    if not size_variable or not environ.get(family.rank) or not _counts(family, environ):
        return None
    rank, size = integer(family.rank, environ), integer(size_variable, environ)
    if not 0 <= rank < size:
        raise LaunchEnvironmentError(
            f"{family.rank}={rank} is not a rank of {size_variable}={size}",
            why="ranks count from 0 to the world size minus one",
            fix=f"set both as {family.launcher} would, or unset both",
        )
    local = environ.get(family.local_size, "")
    return Launch(family.launcher, rank, size, size_variable, int(local) if local.isdecimal() else None)


def half(family: Family, environ: Mapping[str, str]) -> tuple[str, str] | None:
    """(what is set, what is missing) where a rank is there without its world size, or the reverse."""
    if not _counts(family, environ):
        return None
    size_variable = _size_variable(family, environ)
    if environ.get(family.rank) and not size_variable:
        return family.rank, family.sizes[0]
    if size_variable and not environ.get(family.rank):
        return size_variable, family.rank
    return None


def integer(name: str, environ: Mapping[str, str]) -> int:
    """The value of a variable that is set. Raises: LaunchEnvironmentError, if it is not a number."""
    try:
        return int(environ[name])
    except ValueError:
        raise LaunchEnvironmentError(
            f"{name}={environ[name]!r} is not an integer",
            why="it defines this process's rank in the job",
            fix=f"set {name} to a number or unset it",
        ) from None


def port(name: str, environ: Mapping[str, str]) -> int:
    """The value of a variable that is set and holds a port. Raises: LaunchEnvironmentError."""
    number = integer(name, environ)
    if not 0 < number < 65536:
        raise LaunchEnvironmentError(
            f"{name}={number} is not a port",
            why="the ranks of the job connect there",
            fix=f"set {name} to a number from 1 to 65535",
        )
    return number


def incomplete(present: str, value: str, missing: str, launcher: str) -> LaunchEnvironmentError:
    """One variable is set without another that belongs to it."""
    return LaunchEnvironmentError(
        f"{present}={value} is set but {missing} is not",
        why="with an incomplete environment a process runs alone, or waits for the others until it aborts",
        fix=f"set {missing} as {launcher} does, or unset {present}",
    )


def _counts(family: Family, environ: Mapping[str, str]) -> bool:
    return not family.only_with or bool(environ.get(family.only_with))


def _size_variable(family: Family, environ: Mapping[str, str]) -> str:
    return next((name for name in family.sizes if environ.get(name)), "")
