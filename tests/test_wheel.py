"""The wheel on each promised Python that is here, without a framework: it installs, and its commands work."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.build

ROOT = Path(__file__).parents[1]
OLDEST = (3, 9)  # of pyproject.toml
DDP = "import torch.distributed as dist\n\ndist.init_process_group('gloo')\n"
HVD = "import horovod.torch as hvd\n\nhvd.init()\n"


def interpreters() -> dict[str, str]:
    """Version to program, of those on the PATH and of pyenv that make environments."""
    folders = [Path(folder) for folder in os.environ["PATH"].split(os.pathsep)]
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    found = {}
    for program in [
        *(file for folder in folders for file in sorted(folder.glob("python3.*"))),
        *sorted(pyenv.glob("versions/*/bin/python3")),
    ]:
        asks = "import ensurepip, sys; print('{}.{}'.format(*sys.version_info))"
        try:
            said = subprocess.run([program, "-c", asks], capture_output=True, text=True, check=False)
        except OSError:  # not a program: python3.11-config and the like
            continue
        if re.fullmatch(r"3\.\d+\n", said.stdout) and tuple(map(int, said.stdout.split("."))) >= OLDEST:
            found[said.stdout.strip()] = str(program)
    return found


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--outdir", folder, ROOT]
    subprocess.run(command, check=True, capture_output=True)
    (made,) = folder.glob("*.whl")
    return made


def test_it_holds_the_package_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.partition("/")[0] for name in names}
    assert {re.sub(r"-[0-9.]+\.dist-info", "", top) for top in tops} == {"hvdkit", "hvdkit_check_sync.pth"}


def test_the_promised_python_is_here() -> None:
    assert "3.9" in interpreters()
    assert 'requires-python = ">=3.9"' in (ROOT / "pyproject.toml").read_text()


@pytest.mark.parametrize("version", sorted(interpreters(), key=lambda text: int(text.partition(".")[2])))
def test_it_works_without_a_framework(version: str, wheel: Path, tmp_path: Path) -> None:
    environment = tmp_path / "env"
    subprocess.run([interpreters()[version], "-m", "venv", environment], check=True, capture_output=True)
    pip = [environment / "bin" / "python", "-m", "pip", "--disable-pip-version-check", "install", "-q", wheel]
    done = subprocess.run(pip, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr

    project = tmp_path / "project"
    project.mkdir()
    (project / "train.py").write_text(DDP)
    clean = {"PATH": f"{environment / 'bin'}:/usr/bin:/bin", "HOME": str(tmp_path)}

    def run(*arguments: str) -> tuple[int, str]:
        made = subprocess.run(
            ["hvdkit", *arguments], cwd=project, env=clean, capture_output=True, text=True, check=False
        )
        assert "Traceback" not in made.stderr, made.stderr
        return made.returncode, made.stdout + made.stderr

    assert run("--version")[0] == 0
    assert run("migrate", "train.py", "--write", "--allow-no-vcs")[0] == 0
    assert (project / "train.py").read_text() == HVD
    assert run("check", "train.py")[0] == 0
    (project / "requirements.txt").write_text("numpy\n")
    assert run("docker", "train.py", "--kubernetes")[0] == 0
    assert run("docker", "--undo")[0] == 0
    assert run("migrate", "--undo", "train.py")[0] == 0
    assert (project / "train.py").read_text() == DDP
    assert run("explain", "HVD201")[0] == 0
    code, said = run("run", "-np", "2", "python", "train.py")
    assert code == 2 and "horovod" in said.lower()
    code, said = run("install-horovod", "--dry-run")
    assert code == 2 and "install the framework first" in said
