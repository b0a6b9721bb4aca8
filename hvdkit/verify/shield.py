"""Starts a command that may not write to some folders, whoever writes and by whatever name.

    python -I shield.py PLAN COMMAND ARGUMENTS...

Linux's Landlock lets every process give up rights, also in containers that may not mount anything. It knows
what is allowed, not what is forbidden: so all is allowed that is next to the folders or to those around them.

It is run by its path, with nothing of hvdkit imported: on other hosts, too, before each rank.
"""

from __future__ import annotations

import ctypes
import json
import os
import struct
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

# Of <linux/landlock.h> and <linux/prctl.h>; the calls have these numbers on every architecture.
CREATE, ADD, RESTRICT = 444, 445, 446
VERSION = 1
BENEATH = 1
NO_NEW_PRIVILEGES = 38
# The first version that forbids truncate(2), and so all that changes the contents of files.
LEAST = 3
WRITE, TRUNCATE = 1 << 1, 1 << 14
REMOVE, MAKE, MOVE = 0b11 << 4, 0b1111111 << 6, 1 << 13
CHANGES = WRITE | TRUNCATE | REMOVE | MAKE | MOVE
# Names the plan to processes that the command has forked for it by others.
VARIABLE = "HVDKIT_VERIFY_SHIELD"
# The exit code of a command that was never started, as of env(1) and timeout(1).
NOT_STARTED = 125


@dataclass(frozen=True)
class Plan:
    """protected: folders that may not be written. writable: folders that may, also inside of those."""

    protected: tuple[str, ...]
    writable: tuple[str, ...] = ()

    def write(self, file: Path) -> None:
        """As JSON."""
        file.write_text(json.dumps(asdict(self)), encoding="utf-8")

    @classmethod
    def read(cls, file: Path) -> Plan:
        """The inverse of `write`."""
        raw = json.loads(file.read_text(encoding="utf-8"))
        return cls(tuple(raw["protected"]), tuple(raw["writable"]))


def is_available() -> bool:
    """Whether this kernel has a Landlock that suffices."""
    version: int = ctypes.CDLL(None).syscall(CREATE, None, 0, VERSION)
    return version >= LEAST


def enter(plan: Plan) -> None:
    """Carry out a plan, for this thread and its children. Raises OSError."""
    protected = {Path(os.path.realpath(folder)) for folder in plan.protected}
    rules = _call(CREATE, struct.pack("Q", CHANGES), 8, 0)
    for path in (*_beside(Path("/"), protected), *map(Path, plan.writable)):
        if path.is_symlink() or not path.exists():
            continue  # gone since it was listed
        rights = CHANGES if path.is_dir() else WRITE | TRUNCATE
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
        _call(ADD, rules, BENEATH, struct.pack("=Qi", rights, handle), 0)
        os.close(handle)
    ctypes.CDLL(None).prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    _call(RESTRICT, rules, 0)
    os.close(rules)


def _beside(folder: Path, protected: set[Path]) -> Iterator[Path]:
    """What is in a folder and holds none of the protected ones; of what holds one, what is in it."""
    if folder in protected:
        return
    if not any(folder in each.parents for each in protected):
        yield folder
    elif os.access(folder, os.R_OK | os.X_OK):
        for entry in os.scandir(folder):
            yield from _beside(Path(entry.path), protected)


def _call(number: int, *arguments: object) -> int:
    """A system call. Raises OSError."""
    given: int = ctypes.CDLL(None, use_errno=True).syscall(number, *arguments)
    if given < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"Landlock: {os.strerror(error)}")
    return given


def main() -> None:
    """Become the command."""
    file, *command = sys.argv[1:]
    try:
        enter(Plan.read(Path(file)))
        os.environ[VARIABLE] = file
        os.execvp(command[0], command)
    except OSError as error:
        print(error.strerror, file=sys.stderr)
        sys.exit(NOT_STARTED)


if __name__ == "__main__":
    main()
