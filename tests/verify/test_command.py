"""The command: bad input is named before anything runs; a whole verification from the shell."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hvdkit.cli import main
from hvdkit.verify.processes import VARIABLE
from hvdkit.verify.shapes import shapes_of

FIXTURES = Path(__file__).parent / "fixtures"


@pytest.fixture
def project(tmp_path, monkeypatch):
    shutil.copytree(FIXTURES / "plain", tmp_path / "project")
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path / "project"


def refused(capsys, *arguments: str) -> str:
    assert main(["verify", *arguments]) == 2
    return capsys.readouterr().err


def test_missing_script(project, capsys):
    assert "none.py: No such file" in refused(capsys, "none.py", "migrated.py")


def test_roles_swapped(project, capsys):
    assert "original.py does not import Horovod" in refused(capsys, "original.py", "original.py")
    assert "migrated.py uses Horovod already" in refused(capsys, "migrated.py", "original.py")


def test_result_file_in_no_folder(project, capsys):
    said = refused(capsys, "original.py", "migrated.py", "--json=no/such/folder.json")
    assert "--json=no/such/folder.json" in said


def test_script_arguments_without_dashes(project, capsys):
    assert "put `--` before" in refused(capsys, "original.py", "migrated.py", "third")


def test_shapes_say_how_many_ranks_there_are(project, capsys):
    assert "leave out --np" in refused(capsys, "original.py", "migrated.py", "--shapes", "2x2", "--np", "4")
    page = ("--shapes", "2x2", "--html=page.html")
    assert "the page of one result" in refused(capsys, "original.py", "migrated.py", *page)
    assert [*map(str, shapes_of("2x2, 1x2,2x1"))] == ["2x1", "1x2", "2x2"]


@pytest.mark.launch
def test_each_shape_until_one_differs(project, capsys):
    """A 2 in the place of the number of ranks shows on 4 of them."""
    script = Path("migrated.py")
    script.write_text(script.read_text().replace("hvd.size(), rank=hvd.rank()", "2, rank=hvd.rank() % 2"))
    assert (
        main(["verify", "original.py", "migrated.py", "--steps", "2", "--shapes", "2x1,2x2", "--json"]) == 1
    )
    found = json.loads(capsys.readouterr().out)["shapes"]
    assert {name: result["holds"] for name, result in found.items()} == {"2x1": True, "2x2": False}


@pytest.mark.parametrize(
    "flag", [("--shapes", "3x1"), ("--np", "0"), ("--steps", "x"), ("--timeout", "-1"), ("--device", "tpu")]
)
def test_argparse_refuses(project, flag):
    with pytest.raises(SystemExit) as error:
        main(["verify", "original.py", "migrated.py", *flag])
    assert error.value.code == 2


def shell(*arguments: str, **options) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "hvdkit", "verify", *arguments]
    return subprocess.run(command, capture_output=True, text=True, **options)


@pytest.mark.launch
def test_whole_run(project):
    before = sorted(path.name for path in project.iterdir())
    done = shell("original.py", "migrated.py", "--steps", "2", "--json=../result.json")
    assert done.returncode == 0, done.stderr
    assert done.stdout.rstrip().endswith("agree: bit for bit, 2 steps on 2 ranks")
    result = json.loads(Path("../result.json").read_text())
    assert result["holds"] and result["identical"] and result["ranks"] == 2
    assert [missed["what"] for missed in result["not_reached"]] == ["the end of an epoch", "saving"]
    assert sorted(path.name for path in project.iterdir()) == before


def as_notebook(script: Path) -> None:
    """A notebook of a script, cut in two cells above its main guard, with a magic."""
    above, mark, below = script.read_text().rpartition("\nif __name__")
    code = [above, f"%matplotlib inline{mark}{below}"]
    cells = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": text} for text in code]
    script.with_suffix(".ipynb").write_text(
        json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    )


@pytest.mark.launch
def test_notebooks_are_run_as_their_programs(project):
    for name in ("original", "migrated"):
        as_notebook(project / f"{name}.py")
    before = sorted(path.name for path in project.iterdir())
    done = shell("original.ipynb", "migrated.ipynb", "--steps", "2")
    assert done.returncode == 0, done.stderr
    assert done.stdout.rstrip().endswith("agree: bit for bit, 2 steps on 2 ranks")
    assert sorted(path.name for path in project.iterdir()) == before


@pytest.mark.launch
def test_a_notebook_that_fails_is_named_with_the_commands_that_run_it(project, capsys):
    as_notebook(project / "migrated.py")
    (project / "original.py").write_text(
        "import torch\n\nif __name__ == '__main__':\n    raise ValueError(torch)\n"
    )
    as_notebook(project / "original.py")
    (project / "original.py").unlink()
    said = refused(capsys, "original.ipynb", "migrated.ipynb")
    program = project / "original.py"
    made = f"python -m hvdkit.notebook {program.with_suffix('.ipynb')} {program}"
    assert f"make this command work: {made} && python {program}\n" in said


def test_roles_of_notebooks_are_read_from_their_cells(project, capsys):
    for name in ("original", "migrated"):
        as_notebook(project / f"{name}.py")
    assert "original.ipynb does not import Horovod" in refused(capsys, "original.ipynb", "original.ipynb")
    assert "migrated.ipynb uses Horovod already" in refused(capsys, "migrated.ipynb", "original.py")
    Path("original.ipynb").write_text("{}")
    assert "original.ipynb, line 1: it has no cells" in refused(capsys, "original.ipynb", "migrated.ipynb")


def test_a_notebook_from_elsewhere(project, tmp_path, capsys):
    as_notebook(project / "original.py")
    (project / "original.ipynb").rename(tmp_path / "original.ipynb")
    assert "is outside the current folder" in refused(capsys, "../original.ipynb", "migrated.py")


def test_horovodrun_missing(project, capsys, monkeypatch):
    monkeypatch.setattr(sys, "executable", str(project / "bin" / "python"))
    monkeypatch.setenv("PATH", str(project / "bin"))
    said = refused(capsys, "original.py", "migrated.py")
    assert "horovodrun is neither next to" in said and "hvdkit install-horovod" in said
    assert "original: starting" not in said


def run_processes() -> list[str]:
    """Command lines of the processes that carry a run's mark."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and f"{VARIABLE}=".encode() in (entry / "environ").read_bytes():
                found.append((entry / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except OSError:
            continue
    return found


@pytest.mark.launch
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_leaves_nothing(project, tmp_path, number):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    slow = project / "slow.py"
    slow.write_text(
        (project / "original.py").read_text().replace("optimizer.step()", "import time; time.sleep(600)")
    )
    command = [sys.executable, "-m", "hvdkit", "verify", "slow.py", "migrated.py"]
    process = subprocess.Popen(command, env={**os.environ, "TMPDIR": str(scratch)}, stderr=subprocess.PIPE)
    marked = str(scratch).encode()
    deadline = time.monotonic() + 120
    while sum(marked in line.encode() for line in run_processes()) < 3 and time.monotonic() < deadline:
        time.sleep(0.1)  # launcher and two ranks
    process.send_signal(number)
    assert process.wait(timeout=60) == 130
    assert not [line for line in run_processes() if str(scratch) in line]
    assert not list(scratch.iterdir())
