"""A forked rank is what Python would have been: its output, its end, its variables, and what ends it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hvdkit.verify import overlay, processes
from hvdkit.verify.warm import pool
from hvdkit.verify.workfolder import WorkFolders

pytestmark = pytest.mark.launch

TOLD = """\
import json, os, sys, tempfile
found = {"argv": sys.argv, "folder": os.getcwd(), "path": sys.path[0], "name": __name__, "file": __file__}
found["temporary"] = tempfile.gettempdir()
found["mine"] = os.environ.get("MINE")
found["shown"] = "MINE=1" in open("/proc/self/environ").read().split("\\0")
found["imported"] = "torch" in sys.modules
"""


@pytest.fixture
def python() -> list[str]:
    return pool.warm_python(dict(os.environ), "torch")


def ended(python: list[str], *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, **variables}
    return subprocess.run([*python, *arguments], env=env, capture_output=True, text=True, timeout=120)


def told(python: list[str], script: Path, text: str = TOLD, **variables: str) -> dict[str, Any]:
    script.write_text(text + "print(json.dumps(found))\n")
    done = ended(python, str(script), "a", "--b", **variables)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_it_is_what_python_would_have_been(python, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    script = tmp_path / "train.py"
    warm, cold = (told(each, script, MINE="1", TMPDIR=str(tmp_path)) for each in (python, [sys.executable]))
    assert warm.pop("imported") and not cold.pop("imported")
    assert warm == cold and warm["shown"]


def test_a_module_of_the_program_is_its_own(python, tmp_path):
    (tmp_path / "sympy.py").write_text("mine = True\n")
    found = told(python, tmp_path / "train.py", TOLD + "import sympy; found['own'] = sympy.mine\n")
    assert found["own"] and not found["imported"]


def test_variables_without_room_are_there_all_the_same(python, tmp_path):
    found = told(python, tmp_path / "train.py", MINE="1", LARGE="x" * 110_000)
    assert found["shown"] and not found["imported"]


def wait_until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ("raise SystemExit(3)", 3, ""),
        ("raise ValueError('seen')", 1, "ValueError: seen"),
        ("raise SystemExit('why')", 1, "why"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", -signal.SIGKILL, ""),
    ],
)
def test_it_ends_as_its_program_does(python, tmp_path, line, code, said):
    script = tmp_path / "train.py"
    script.write_text(line + "\n")
    done = ended(python, str(script))
    assert (done.returncode, done.stderr.splitlines()[-1:]) == (code, [said] if said else [])
    assert "hvdkit" not in done.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_it_ends_with_what_the_launcher_started(python, tmp_path, number):
    script = tmp_path / "train.py"
    script.write_text("import os, time\nprint(os.getpid(), flush=True)\ntime.sleep(100)\n")
    client = subprocess.Popen([*python, str(script)], stdout=subprocess.PIPE, text=True)
    assert client.stdout is not None
    fork = int(client.stdout.readline())
    assert fork != client.pid
    client.send_signal(number)
    assert client.wait(30) == -number
    wait_until(lambda: not Path(f"/proc/{fork}").exists())


def test_runs_find_it_by_their_variable(python, tmp_path):
    script = tmp_path / "train.py"
    script.write_text("import os, time\nprint(os.getpid(), flush=True)\nos.fork()\ntime.sleep(100)\n")
    env = {**os.environ, processes.VARIABLE: tmp_path.name}
    with subprocess.Popen([*python, str(script)], stdout=subprocess.PIPE, text=True, env=env) as client:
        assert client.stdout is not None
        fork = int(client.stdout.readline())
        wait_until(lambda: len(processes.processes_of(tmp_path.name)) == 3)  # its own fork, too
        assert {client.pid, fork} < set(processes.processes_of(tmp_path.name))
        processes.stop(tmp_path.name, grace=3.0)
    assert processes.processes_of(tmp_path.name) == []


def test_without_what_forks_python_is_started(tmp_path):
    pool.stop_all()
    python = pool.warm_python({**os.environ, "PYTHONPATH": str(tmp_path)}, "torch")
    pool.stop_all()
    assert not told(python, tmp_path / "train.py")["imported"]
    assert not Path(python[-1].partition(":")[0]).parent.exists()


def test_ranks_of_one_host_are_forked_by_different_processes(python, tmp_path):
    found = TOLD + "found['parent'] = os.getppid()\n"
    parents = {told(python, tmp_path / "train.py", found, LOCAL_RANK=rank)["parent"] for rank in "01"}
    assert len(parents) == 2


@pytest.mark.parametrize("is_covered", [True, False], ids=["overlay", "copy under a shield"])
def test_it_writes_where_its_client_does(python, tmp_path, monkeypatch, is_covered):
    here, scratch = tmp_path / "project", tmp_path / "scratch"
    here.mkdir()
    scratch.mkdir()
    (here / "data.bin").write_bytes(b"before")
    script = tmp_path / "train.py"
    write = f"p = pathlib.Path({str(here / 'data.bin')!r})\np.write_bytes(b'after')\nprint(p.read_text())\n"
    script.write_text(f"import pathlib, sys\nassert 'torch' in sys.modules\n{write}")
    if not is_covered:
        monkeypatch.setattr(overlay, "__file__", "gone")
    with WorkFolders(here, scratch, print).made(scratch / "run", True) as work:
        done = subprocess.run([*work.within, *python, script], capture_output=True, text=True, cwd=work.path)
    assert (here / "data.bin").read_bytes() == b"before"
    assert done.stdout == "after\n" if is_covered else "PermissionError" in done.stderr


def test_in_a_user_namespace_it_has_no_capabilities(python, tmp_path):
    (tmp_path / "folder").mkdir()
    script = tmp_path / "train.py"
    seen = "'torch' in sys.modules, os.listdir('folder'), open('/proc/self/status').read()"
    script.write_text(f"import os, sys\nprint({seen}, sep='\\n')\n")
    inside = ["unshare", "--user", "--map-current-user", "--mount", "--keep-caps", "sh", "-c"]
    mount = 'mount -t tmpfs none folder && touch folder/a && exec "$@"'
    command = [*inside, mount, "sh", *python, script]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout.startswith("True\n['a']\n"), done.stderr
    assert "CapEff:\t0000000000000000\n" in done.stdout and not list((tmp_path / "folder").iterdir())
