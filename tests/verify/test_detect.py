"""How a script is started is read from its code, whatever it is called."""

from __future__ import annotations

import os

import pytest

from hvdkit.errors import HvdkitError
from hvdkit.verify.detect import Launcher, ScriptError, Start, how_to_start, imports_own_package

CASES = {
    "torchrun by environment": ("import os\nrank = int(os.environ['LOCAL_RANK'])\n", Launcher.TORCHRUN, ""),
    "torchrun by process group": (
        "from torch import distributed as d\nd.init_process_group('gloo')\n",
        Launcher.TORCHRUN,
        "",
    ),
    "launch with underscore": (
        "import argparse\np = argparse.ArgumentParser()\np.add_argument('--local_rank', type=int)\n",
        Launcher.TORCHRUN,
        "--local_rank",
    ),
    "launch with dash": (
        "p.add_argument('--local-rank', '--local_rank')\n",
        Launcher.TORCHRUN,
        "--local-rank",
    ),
    "spawn": ("import torch.multiprocessing as mp\nmp.spawn(main, nprocs=2)\n", Launcher.SPAWN, ""),
    "processes": ("p = Process(target=main, args=(0,))\n", Launcher.SPAWN, ""),
    "single": ("import torch\nmodel = torch.nn.Linear(1, 1)\n", Launcher.SINGLE, ""),
    "horovod": ("import horovod.torch as hvd\n", Launcher.HOROVOD, ""),
    "hvdkit": ("import hvdkit.torch as hvd\n", Launcher.HOROVOD, ""),
    "horovod inside a function": ("def f():\n    from horovod import torch\n", Launcher.HOROVOD, ""),
    "mpi": ("from mpi4py import MPI\nrank = os.environ['RANK'] = MPI.COMM_WORLD.rank\n", Launcher.MPI, ""),
    "mpi where it is asked for": (
        "def rank():\n    import mpi4py\nos.environ['RANK']\n",
        Launcher.TORCHRUN,
        "",
    ),
    "rank as a word": ("'the RANK of a matrix'\n", Launcher.SINGLE, ""),
}


@pytest.mark.parametrize("case", CASES)
def test_launcher(tmp_path, case):
    text, launcher, flag = CASES[case]
    script = tmp_path / "train.py"
    script.write_text(text)
    assert how_to_start(script) == Start(launcher, flag)


def test_a_helper_decides_when_the_script_says_nothing(tmp_path):
    (tmp_path / "train.py").write_text("from tools.setup import begin\nbegin()\n")
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "setup.py").write_text("import torch\ntorch.distributed.init_process_group()\n")
    assert how_to_start(tmp_path / "train.py").launcher is Launcher.TORCHRUN


def test_a_script_in_a_folder_of_its_own(tmp_path):
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "train.py").write_text("from package import start\nstart.begin()\n")
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "start.py").write_text("from mpi4py import MPI\nMPI.COMM_WORLD.barrier()\n")
    assert how_to_start(tmp_path / "scripts" / "train.py").launcher is Launcher.MPI


def test_modules_that_import_each_other_end(tmp_path):
    (tmp_path / "a.py").write_text("import b\n")
    (tmp_path / "b.py").write_text("import a\n")
    assert how_to_start(tmp_path / "a.py").launcher is Launcher.SINGLE


def test_missing_script(tmp_path):
    with pytest.raises(ScriptError, match="No such file"):
        how_to_start(tmp_path / "none.py")


def test_syntax_error_names_the_line(tmp_path):
    script = tmp_path / "train.py"
    script.write_text("import torch\nfor\n")
    with pytest.raises(ScriptError, match="line 2: not Python"):
        how_to_start(script)


PACKAGED = {
    "relative": ("from .model import Net\n", True),
    "by its name": ("import pkg.model\n", True),
    "beside it": ("import model\nimport torch\n", False),
}


@pytest.mark.parametrize("name", PACKAGED)
def test_scripts_inside_a_package(tmp_path, name):
    text, packaged = PACKAGED[name]
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "model.py").write_text("import torch.multiprocessing as mp\nmp.spawn(f)\n")
    script = tmp_path / "pkg" / "train.py"
    script.write_text(text)
    assert imports_own_package(script) is packaged
    assert how_to_start(script).launcher is Launcher.SPAWN


@pytest.mark.timeout(20)
@pytest.mark.parametrize("name", ["train.py", "train.ipynb"])
def test_a_fifo_is_no_script(tmp_path, name):
    os.mkfifo(tmp_path / name)
    with pytest.raises(HvdkitError, match="it is a FIFO, not a regular file"):
        how_to_start(tmp_path / name)


HELPERS = {
    "in a checkout that has the name of its package": ("uer/train.py", "from uer.start import begin\n", {}),
    "imported by a module next to it": (
        "run/train.py",
        "import pkg.trainer\n",
        {"run/pkg/trainer.py": "from .start import begin\n", "run/pkg/start.py": None},
    ),
    "in a folder above the module": (
        "run/train.py",
        "from pkg.deep import trainer\n",
        {"run/pkg/deep/trainer.py": "from ..start import begin\n", "run/pkg/start.py": None},
    ),
    "in the package around what is imported": (
        "run/train.py",
        "from pkg.model import Net\n",
        {"run/pkg/model.py": "class Net: ...\n", "run/pkg/__init__.py": None},
    ),
    "where the script puts it on its path": (
        "run/train.py",
        "import sys\nsys.path.insert(0, 'lib')\nimport start\n",
        {"run/lib/start.py": None},
    ),
}


@pytest.mark.parametrize("case", HELPERS)
def test_a_process_group_in_a_module_of_the_project(tmp_path, case):
    script, text, files = HELPERS[case]
    group = "import torch.distributed as d\ndef begin():\n    d.init_process_group('gloo')\n"
    for place, held in {script: text, **(files or {"uer/uer/start.py": None})}.items():
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text(group if held is None else held)
    assert how_to_start(tmp_path / script).launcher is Launcher.TORCHRUN


def test_a_module_that_a_run_imported(tmp_path):
    (tmp_path / "train.py").write_text("import installed\n")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "installed.py").write_text("import torch\ntorch.distributed.init_process_group()\n")
    found = how_to_start(tmp_path / "train.py", [tmp_path / "src" / "installed.py"])
    assert found.launcher is Launcher.TORCHRUN
