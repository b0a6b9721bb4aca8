"""Nothing of the user's is written by a run, whatever way the run's folder is made and whoever writes."""

from __future__ import annotations

import ctypes
import hashlib
import os
import stat
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import ten_ways

from hvdkit.verify import overlay, shield, workcopy
from hvdkit.verify.workcopy import CopyError
from hvdkit.verify.workfolder import WorkFolders

SCRIPT = Path(ten_ways.__file__)
NOBODY = 65534


def state_of(*folders: Path) -> dict[str, tuple[object, ...]]:
    """All that there is in some folders: kind, mode, time, and contents or where it leads."""
    found: dict[str, tuple[object, ...]] = {}
    for folder in folders:
        for path in (folder, *folder.rglob("*")):
            status = path.lstat()
            held = str(path.readlink()) if path.is_symlink() else ""
            if stat.S_ISREG(status.st_mode):
                held = hashlib.sha256(path.read_bytes()).hexdigest()
            found[str(path)] = (stat.filemode(status.st_mode), status.st_mtime_ns, status.st_nlink, held)
    return found


@pytest.fixture
def top() -> Iterator[Path]:
    """A folder that other users can pass to, as pytest's cannot be."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder).resolve()


@pytest.fixture
def project(top: Path) -> tuple[Path, Path]:
    """A project, and what its links lead to."""
    here, outside = top / "home, me: mine" / "project", top / "far"
    ten_ways.lay_out(here, outside)
    return here, outside


@pytest.fixture
def scratch(top: Path) -> Path:
    (top / "scratch").mkdir()
    return top / "scratch"


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def folders(project: tuple[Path, Path], scratch: Path, said: list[str]) -> WorkFolders:
    return WorkFolders(project[0], scratch, said.append)


@pytest.mark.parametrize("is_here", [True, False], ids=["overlay", "copies"])
def test_ten_ways(project, folders, scratch, said, is_here):
    before = state_of(*project)
    for number in range(2):  # the second run does not see what the first wrote
        with folders.made(scratch / str(number), is_here) as work:
            command = [*work.within, *work.of_rank, sys.executable, SCRIPT]
            assert bool(work.within) is is_here
            subprocess.run(command, cwd=work.path, check=True)
        assert state_of(*project) == before
    assert not said and not list(scratch.glob("[01]"))


def in_child(call: Callable[[], None]) -> int:
    """The exit status of a forked process that makes a call."""
    child = os.fork()
    if not child:
        try:
            call()
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    return os.waitpid(child, 0)[1]


def test_ten_ways_without_root(project, folders, top, scratch):
    plan = plan_of(folders, scratch)
    if os.geteuid() == 0:
        for path in (top, *top.rglob("*")):
            os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
    before = state_of(*project)

    def run() -> None:
        if os.geteuid() == 0:
            os.setgroups([])
            os.setresgid(NOBODY, NOBODY, NOBODY)
            os.setresuid(NOBODY, NOBODY, NOBODY)
            assert ctypes.CDLL(None).prctl(4, 1, 0, 0, 0) == 0  # PR_SET_DUMPABLE: /proc/self is its own
        overlay.enter(plan)
        ten_ways.main()

    assert in_child(run) == 0
    assert state_of(*project) == before


def plan_of(folders: WorkFolders, scratch: Path) -> overlay.Plan:
    """How a run's folder is made."""
    keeping = scratch / "plan"
    keeping.mkdir()
    return overlay.Plan.read(Path(folders._covered(keeping, ()).within[-1]))


def test_what_is_mounted_in_the_folder_is_covered_too(project, folders, scratch):
    here, _ = project
    for folder in ("disk", "disk/deep", "later"):
        (here / folder).mkdir()
    (here / "one.txt").touch()

    def run() -> None:
        overlay._own_mounts()
        overlay._call("mount", None, b"/", None, overlay.RECURSIVE | overlay.SLAVE, None)
        for folder in ("disk", "later"):
            overlay._call("mount", b"none", os.fsencode(here / folder), b"tmpfs", 0, None)
        overlay._call("mount", os.fsencode(here / "log.txt"), os.fsencode(here / "one.txt"), None, 4096, None)
        (here / "disk/data.bin").write_bytes(b"mounted")
        disk = os.open(here / "disk", os.O_PATH)
        overlay.enter(plan_of(folders, scratch))
        os.chdir(here)
        assert Path("disk/data.bin").read_bytes() == b"mounted"
        Path("disk/data.bin").write_bytes(b"written")
        Path("one.txt").write_bytes(b"written")
        assert Path(f"/proc/self/fd/{disk}/data.bin").read_bytes() == b"mounted"

    before = state_of(*project)
    assert in_child(run) == 0
    assert state_of(*project) == before


def test_an_absolute_path_to_the_folder_is_the_runs_own(project, folders, scratch):
    here, _ = project
    with folders.made(scratch / "run", True, [(Path("pack/m.py"), SCRIPT)]) as work:
        write = f"from pathlib import Path; p = Path({str(here / 'first.bin')!r}); p.write_text('x'); "
        same = f"assert Path('pack/m.py').read_text() == Path({str(SCRIPT)!r}).read_text()"
        subprocess.run([*work.within, sys.executable, "-c", write + same], cwd=work.path, check=True)
    assert (here / "first.bin").read_bytes() == b"three days" * 10
    assert (here / "pack/m.py").read_bytes() == b"three days" * 10


def test_no_mount_is_left_and_no_process_after_a_kill(project, folders, scratch, top):
    with folders.made(scratch / "run", True) as work:
        command = [*work.within, "sh", "-c", f"echo $$ > {scratch}/pid; exec sleep 600"]
        start = f"import subprocess; subprocess.Popen({command!r}).wait()"
        parent = subprocess.Popen([sys.executable, "-c", start])
        assert soon(lambda: (scratch / "pid").is_file() and (scratch / "pid").read_text())
        child = Path("/proc", (scratch / "pid").read_text().strip())
        assert str(project[0]) in child.joinpath("mountinfo").read_text().replace("\\040", " ")
        parent.kill()
        parent.wait()
        assert soon(lambda: not child.exists() or b"\nState:\tZ" in child.joinpath("status").read_bytes())
    assert "project" not in Path("/proc/self/mountinfo").read_text()


def soon(true: Callable[[], object]) -> bool:
    """Whether it becomes true."""
    until = time.monotonic() + 60
    while not true() and time.monotonic() < until:
        time.sleep(0.02)
    return bool(true())


def test_where_no_overlay_can_be_mounted(project, folders, scratch, said, monkeypatch):
    monkeypatch.setattr(overlay, "__file__", str(scratch / "gone.py"))
    before = state_of(*project)
    with folders.made(scratch / "run", True) as work:
        subprocess.run([*work.within, sys.executable, SCRIPT], cwd=work.path, check=True)
        assert work.path != project[0] and not folders.protects(str(project[1] / "one.bin"))
    assert state_of(*project) == before
    assert len(said) == 1 and "each run has copies of all files" in said[0]


def test_temporary_files_inside_the_folder(project, said):
    here, _ = project
    before = state_of(*project)
    scratch = here / "tmp"
    scratch.mkdir()
    folders = WorkFolders(here, scratch, said.append)
    with folders.made(scratch / "run", True) as work:
        assert not (work.path / "tmp").exists()
        subprocess.run([*work.within, sys.executable, SCRIPT], cwd=work.path, check=True)
    scratch.rmdir()
    os.utime(here, ns=(before[str(here)][1],) * 2)
    assert state_of(*project) == before and "is inside the current folder" in said[0]


@pytest.fixture
def little_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workcopy, "LARGEST", 500_000)
    monkeypatch.setattr(workcopy, "_reflink", lambda path, place: False)


def test_what_is_too_large_to_be_copied_is_named(project, folders, scratch, little_room, monkeypatch):
    monkeypatch.setattr(shield, "is_available", lambda: False)
    (project[0] / "data2").mkdir()
    (project[0] / "data2/set.bin").write_bytes(b"0" * 700_000)
    with pytest.raises(CopyError) as raised, folders.made(scratch / "run", False):
        pass
    error = raised.value
    assert f"{project[0]}/data2 is 0.0 GB" in error.seen and "could write to yours" in str(error.why)


WRITE = """\
import ctypes, os
from pathlib import Path

def fails(call, *arguments):
    try:
        call(*arguments)
    except PermissionError:
        return
    raise AssertionError(call, arguments)

assert Path("map.bin").read_bytes() == b"0" * 100_000
for place in ("map.bin", "data/a.bin", "link.bin"):
    fails(Path(place).write_bytes, b"x")
    fails(os.truncate, place, 0)
    assert ctypes.CDLL(None).open(place.encode(), os.O_RDWR) == -1
assert os.system("(echo more >> map.bin) 2> errors.txt")
Path("log.txt").write_text("small, and the run's own")
Path("data/new.bin").touch()
Path("map.bin").unlink()  # the link is the run's own
Path("map.bin").touch()
fails(Path({here!r}, "first.bin").write_text, "x")
fails(Path({here!r}, "made.bin").touch)
Path({top!r}, "elsewhere.bin").touch()
"""


def test_what_is_linked_for_want_of_room_cannot_be_written(project, folders, scratch, said, little_room, top):
    (top / "elsewhere.bin").touch()  # next to the folders, and so to be written
    before = state_of(*project)
    for number, is_here in enumerate((True, False)):
        monkeypatch = pytest.MonkeyPatch()
        monkeypatch.setattr(overlay, "__file__", str(scratch / "gone.py"))
        with folders.made(scratch / str(number), is_here) as work:
            script = WRITE.format(here=str(project[0]), top=str(top))
            command = [*work.within, *work.of_rank, sys.executable, "-c", script]
            subprocess.run(command, cwd=work.path, check=True)
        monkeypatch.undo()
        assert state_of(*project) == before
    assert "too large to be copied, linked, and not to be written" in said[-1]
