"""What a command that was killed has left is removed, and what one still uses is not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from hvdkit.hosts.lists import parse_hosts
from hvdkit.verify.scratch import scratch_folder

KILLED = """\
import os, signal, sys
from pathlib import Path
from hvdkit.hosts.lists import parse_hosts
from hvdkit.verify.scratch import scratch_folder
with scratch_folder(parse_hosts("a:1,b:1"), Path(sys.argv[1])) as folder:
    (folder / "0" / "work" / "work").mkdir(parents=True, mode=0)
    (folder / "0" / "data").symlink_to(sys.argv[1])
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_command_has_left(tmp_path):
    (tmp_path / "mine.py").touch()
    (tmp_path / ".hvdkit-verify-of-the-user").mkdir()  # no command's, as it was never locked
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False)
    left = [path for path in tmp_path.glob(".hvdkit-verify-*") if (path / "in use").exists()]
    assert len(left) == 1
    hosts = parse_hosts("a:1,b:1")
    with scratch_folder(hosts, tmp_path) as used, scratch_folder(hosts, tmp_path) as other:
        assert used.is_dir() and other.is_dir() and not left[0].exists()
    assert {path.name for path in tmp_path.iterdir()} == {"mine.py", ".hvdkit-verify-of-the-user"}


def test_runs_of_this_machine_leave_the_folder_alone(tmp_path):
    with scratch_folder(None, tmp_path) as folder:
        assert not folder.is_relative_to(tmp_path) and not list(tmp_path.iterdir())
    assert not Path(folder).exists()
