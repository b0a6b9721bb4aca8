"""Starts a command that sees overlays in the place of folders: what it writes to them is kept elsewhere.

    python -I overlay.py PLAN COMMAND ARGUMENTS...

The folders are covered where they are, so it makes no difference who writes (Python, C, a subprocess) and by
which name. The overlays are mounted in a mount namespace that only the command and its children are in. It
ends with the last of them, however they end. Root makes it by itself, everyone else inside a user namespace.

It is run by its path, with nothing of hvdkit imported, so that it starts in milliseconds.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import shutil
import signal
import stat
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

# Of <sched.h>, <sys/mount.h> and <sys/prctl.h>.
NEW_MOUNTS, NEW_USER = 0x00020000, 0x10000000
RECURSIVE, SLAVE = 0x4000, 0x80000
DEATH_SIGNAL = 1
# The option of an overlay that is mounted in a user namespace.
UNPRIVILEGED = "userxattr"
# The exit code of a command that was never started, as of env(1) and timeout(1).
NOT_STARTED = 125
_OCTAL = re.compile(rb"\\([0-7]{3})")  # how /proc writes a blank in a path
ALL_USERS = ["0", "0", "4294967295"]  # /proc/self/uid_map, outside of all user namespaces


@dataclass(frozen=True)
class Plan:
    """What to do before the command starts. All paths are absolute.

    covered: (folder, where what is written to it is kept); owned: links, each replaced by a copy of the file
    that it leads to; files: (place, file that is copied there); work: the command's working folder.
    """

    covered: tuple[tuple[str, str], ...]
    owned: tuple[str, ...] = ()
    files: tuple[tuple[str, str], ...] = ()
    work: str = "/"

    def write(self, file: Path) -> None:
        """As JSON."""
        file.write_text(json.dumps(asdict(self)), encoding="utf-8")

    @classmethod
    def read(cls, file: Path) -> Plan:
        """The inverse of `write`."""
        raw = json.loads(file.read_text(encoding="utf-8"))
        pairs = {key: tuple((one, other) for one, other in raw[key]) for key in ("covered", "files")}
        return cls(pairs["covered"], tuple(raw["owned"]), pairs["files"], raw["work"])


def enter(plan: Plan) -> None:
    """Carry out a plan, for this process and its children. Raises OSError.

    A process with more than one thread cannot enter a user namespace.
    """
    kept_in = dict(plan.covered)
    for mounted in _mounts_below(plan.covered):
        kept_in[mounted] = f"{plan.covered[0][1]}-{len(kept_in)}"
    option = _own_mounts()
    _call("mount", None, b"/", None, RECURSIVE | SLAVE, None)  # what is mounted here is seen nowhere else
    # Opened in this namespace, and before the first is covered, which hides what is below it.
    below = {folder: os.open(folder, os.O_PATH | os.O_CLOEXEC) for folder in kept_in}
    for folder, handle in sorted(below.items(), key=lambda item: len(item[0])):
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            _cover(folder, handle, Path(kept_in[folder]), option)
        else:  # a file that is mounted
            _put(Path(folder), Path(f"/proc/self/fd/{handle}"))
        os.close(handle)
    for link in map(Path, plan.owned):
        _put(link, link.resolve())
    for place, file in plan.files:
        _put(Path(place), Path(file))
    os.chdir(plan.work)


def _cover(folder: str, handle: int, kept: Path, option: str) -> None:
    parts = [kept / "upper", kept / "work"]
    for part in parts:
        part.mkdir(parents=True)
    _make_alike(Path(f"/proc/self/fd/{handle}"), parts[0])
    # An attribute records that a folder was replaced: without them, the overlay could not do it.
    os.setxattr(parts[0], f"{'user' if option == UNPRIVILEGED else 'trusted'}.hvdkit", b"")
    handles = [handle, *(os.open(part, os.O_PATH | os.O_CLOEXEC) for part in parts)]
    # By number, since a path may contain the commas and colons that separate options.
    lower, upper, work = (f"/proc/self/fd/{each}" for each in handles)
    options = f"lowerdir={lower},upperdir={upper},workdir={work},{option}"
    try:
        _call("mount", b"overlay", os.fsencode(folder), b"overlay", 0, options.encode())
    except OSError as error:
        raise OSError(error.errno, error.strerror, folder) from None
    for each in handles[1:]:
        os.close(each)


def _make_alike(folder: Path, upper: Path) -> None:
    """The topmost folder of an overlay has the attributes of its upper layer."""
    status = folder.stat()
    if os.geteuid() == 0:
        os.chown(upper, status.st_uid, status.st_gid)
    shutil.copystat(folder, upper)


def _put(place: Path, file: Path) -> None:
    """Copy a file to a place; where there is none, there is nothing at the place either."""
    place.unlink(missing_ok=True)  # a link would be written through
    if file.exists():
        shutil.copy2(file, place)


def _own_mounts() -> str:
    """Enter a mount namespace; gives the option that overlays need there."""
    user, group = os.geteuid(), os.getegid()
    if user == 0:
        _call("unshare", NEW_MOUNTS)
        outside = Path("/proc/self/uid_map").read_text().split() == ALL_USERS
        # By default, a folder that is below cannot be renamed. Others than root have no choice.
        return "redirect_dir=on" if outside else UNPRIVILEGED
    _call("unshare", NEW_USER | NEW_MOUNTS)
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
    Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    return UNPRIVILEGED


def _mounts_below(covered: tuple[tuple[str, str], ...]) -> list[str]:
    """What is mounted inside these folders, each once."""
    found = set()
    for line in Path("/proc/self/mountinfo").read_bytes().splitlines():
        point = os.fsdecode(_OCTAL.sub(lambda code: bytes([int(code[1], 8)]), line.split()[4]))
        if any(Path(folder) in Path(point).parents for folder, _ in covered):
            found.add(point)
    return sorted(found - {folder for folder, _ in covered})


def _call(name: str, *arguments: object) -> None:
    """A system call by the C library. Raises OSError."""
    if getattr(ctypes.CDLL(None, use_errno=True), name)(*arguments):
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


def _try_out(plan: Plan) -> None:
    """Write to each covered folder that may be written, as a command would. Raises OSError."""
    for folder, _ in plan.covered:
        if os.access(folder, os.W_OK):
            Path(tempfile.mkdtemp(prefix=".hvdkit-", dir=folder)).rmdir()


def main() -> None:
    """Become the command; without one, try the plan out."""
    file, *command = sys.argv[1:]
    plan = Plan.read(Path(file))
    try:
        enter(plan)
        # Killed with whoever started it, who could not end it any more.
        _call("prctl", DEATH_SIGNAL, signal.SIGTERM, 0, 0, 0)
        if not command:
            return _try_out(plan)
        os.execvp(command[0], command)
    except OSError as error:
        place = f" ({error.filename})" if error.filename else ""
        print(f"{error.strerror}{place}", file=sys.stderr)
        sys.exit(NOT_STARTED)


if __name__ == "__main__":
    main()
