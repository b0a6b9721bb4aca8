"""The folder for what runs write: gone with the command, and where that was killed, with the next one."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from hvdkit.hosts.lists import HostList
from hvdkit.verify import shapes

NAME = "hvdkit-verify-"
LOCK = "in use"  # held by the command, and released by however it ends


@contextmanager
def scratch_folder(hosts: HostList | None, here: Path) -> Iterator[Path]:
    """Where copies and records go: hosts that ssh reaches share the current folder with this one."""
    shared = hosts is not None and not shapes.is_here(hosts)
    parent, prefix = (here, f".{NAME}") if shared else (Path(tempfile.gettempdir()), NAME)
    sweep(parent, prefix)
    with tempfile.TemporaryDirectory(prefix=prefix, dir=parent) as folder:
        with Path(folder, LOCK).open("w") as lock:
            with suppress(OSError):  # a file system without locks: nothing is swept there
                fcntl.flock(lock, fcntl.LOCK_EX)
            yield Path(folder).resolve()


def sweep(parent: Path, prefix: str) -> None:
    """Remove what commands of this user that were killed have left in a folder."""
    for entry in os.scandir(parent):
        if not entry.name.startswith(prefix) or not entry.is_dir(follow_symlinks=False):
            continue
        with suppress(OSError):  # it is in use, another user's, or gone by now
            if entry.stat(follow_symlinks=False).st_uid == os.geteuid():
                with Path(entry.path, LOCK).open("rb+") as lock:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    _remove(Path(entry.path))


def _remove(folder: Path) -> None:
    """With the folders that cannot be read, as overlays leave one each."""
    for inside, names, _ in os.walk(folder):
        for name in names:
            if not Path(inside, name).is_symlink():
                Path(inside, name).chmod(0o700)
    shutil.rmtree(folder, ignore_errors=True)
