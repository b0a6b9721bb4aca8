"""Writes to the files of the current folder in ten ways, and to what its links lead to; makes a few beside.

Run by the tests of work folders, as a script and in a forked process; `lay_out` makes the files it needs.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import sqlite3
import subprocess
from pathlib import Path

LARGE = 100_000  # bytes: as data is, not as source


def lay_out(here: Path, outside: Path) -> None:
    """A project in `here`, with links into `outside`."""
    (here / ".ckpt").mkdir(parents=True)
    (here / "pack").mkdir()
    (here / "empty").mkdir()
    (outside / "set").mkdir(parents=True)
    for place in (here / ".ckpt/last.pt", here / "first.bin", here / "log.txt", here / "pack/m.py"):
        place.write_bytes(b"three days" * 10)
    for name in ("map.bin", "moved.bin", "sub.bin", "c.bin", "mode.bin", "gone.bin"):
        (here / name).write_bytes(b"0" * LARGE)
    (outside / "set/a.bin").write_bytes(b"1" * LARGE)
    (outside / "one.bin").write_bytes(b"2" * LARGE)
    base = sqlite3.connect(here / "runs.db")
    base.execute("create table run (number)")
    base.commit()
    base.close()
    (here / "link.bin").symlink_to(outside / "one.bin")
    (here / "data").symlink_to(outside / "set")
    (here / "inside.bin").symlink_to(here / "first.bin")
    (here / "missing.bin").symlink_to(outside / "not yet.bin")
    os.link(here / "first.bin", here / "second.bin")


def main() -> None:
    """Raises where something cannot be written."""
    Path(".ckpt/last.pt").write_bytes(b"a hidden folder")
    base = sqlite3.connect("runs.db")
    base.execute("insert into run values (1)")
    base.commit()
    base.close()
    with Path("map.bin").open("r+b") as file, mmap.mmap(file.fileno(), LARGE) as mapped:
        mapped[:9] = b"by memmap"
    with Path("log.txt").open("a") as file:
        file.write("appended")
    Path("new.bin").write_bytes(b"renamed over")
    Path("new.bin").replace("moved.bin")
    subprocess.run(["sh", "-c", "echo more >> sub.bin; rm gone.bin; rmdir empty; mkdir empty"], check=True)
    libc = ctypes.CDLL(None)  # no audit event of Python's
    assert libc.close(libc.open(b"c.bin", os.O_WRONLY | os.O_TRUNC)) == 0
    for link in ("link.bin", "data/a.bin", "inside.bin", "missing.bin"):
        Path(link).write_bytes(b"through a link")
    Path("data/b.bin").touch()
    Path("second.bin").write_bytes(b"under a second name")
    Path("mode.bin").chmod(0o600)
    os.utime("mode.bin", (1, 1))
    Path("pack").chmod(0o700)
    assert Path("data/a.bin").read_bytes() == b"through a link"  # each sees what it wrote


if __name__ == "__main__":
    main()
