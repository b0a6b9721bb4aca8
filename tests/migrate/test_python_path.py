"""Modules that are found by PYTHONPATH: as texts beside the program set it, else the one file that fits."""

from __future__ import annotations

from pathlib import Path

import pytest

from hvdkit.migrate.engine import make_plan
from hvdkit.migrate.facts import Options
from hvdkit.migrate.plan import Applicability
from hvdkit.source.project.opening import open_project
from tests.files import write_files

SOLVER = """\
import torch

class Solver:
    def __init__(self, model, optimizer):
        self.model, self.optimizer = model, optimizer

    def train(self, batches):
        print("training")
        for x in batches:
            self.model(x).mean().backward()
            self.optimizer.step()
"""
TRAIN = """\
import torch
from solver import Solver

model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
Solver(model, optimizer).train([torch.randn(4, 2)])
"""
ONE = (("bin/train.py", TRAIN), ("lib/solver.py", SOLVER))
TWO = (*ONE, ("old/solver.py", SOLVER))


def found(folder: Path, name: str = "solver") -> Path | None:
    """The file that bin/train.py imports as a module, from its folder."""
    project = open_project([folder])
    path = project.find(name, folder / "bin" / "train.py")
    return path.relative_to(folder) if path is not None else None


def test_the_only_file_that_fits_is_the_one(tmp_path: Path) -> None:
    write_files(tmp_path, ONE)
    assert found(tmp_path) == Path("lib/solver.py")
    plan = make_plan([tmp_path], Options())
    texts = {file.path.name: file.after for file in plan.files}
    assert "hvd.init()" in texts["train.py"]
    assert "hvd.DistributedOptimizer(" in texts["train.py"]
    assert "if hvd.rank() == 0:" in texts["solver.py"]
    assert [program.entry.name for program in plan.programs] == ["train.py"]


def test_parts_of_a_package_that_lies_on_the_path(tmp_path: Path) -> None:
    train = TRAIN.replace("from solver", "from parts.solver")
    write_files(
        tmp_path, (("bin/train.py", train), ("code/parts/solver.py", SOLVER), ("old/solver.py", SOLVER))
    )
    assert found(tmp_path, "parts.solver") == Path("code/parts/solver.py")


@pytest.mark.parametrize(
    ("imported", "other"),
    [
        (
            "from solver import Solver",
            "import torch\n\nclass Other:\n    Solver = 1\n",
        ),  # a library's, it may be
        ("import solver\nSolver = solver.Solver", "import torch\n\ndef load(Solver):\n    pass\n"),
        ("import solver", SOLVER),
        ("from logging import Logger as Solver", SOLVER),
    ],
)
def test_a_file_that_has_not_what_is_taken_is_another(tmp_path: Path, imported: str, other: str) -> None:
    train = TRAIN.replace("from solver import Solver", imported)
    write_files(tmp_path, (("bin/train.py", train), ("lib/solver.py", other), ("lib/logging.py", SOLVER)))
    assert found(tmp_path) is None
    assert found(tmp_path, "logging") is None


SETTINGS = [
    ("run.sh", "PYTHONPATH=lib python bin/train.py\n"),
    ("run.sh", "export PYTHONPATH=$PYTHONPATH:./lib\npython bin/train.py\n"),
    ("run.sh", 'env PYTHONPATH="$PWD/lib" python bin/train.py\n'),
    ("scripts/run.sh", 'export PYTHONPATH="$(dirname "$0")/../lib${PYTHONPATH:+:$PYTHONPATH}"\n'),
    ("scripts/slurm/train.slurm", "export PYTHONPATH=`pwd`/lib\nsrun python bin/train.py\n"),
    ("run.csh", "setenv PYTHONPATH lib\npython bin/train.py\n"),
    ("run.bat", "set PYTHONPATH=%CD%\\lib;%PYTHONPATH%\npython bin\\train.py\n"),
    ("Dockerfile", "FROM python\nENV PYTHONPATH /app/lib\n"),
    ("docker/Dockerfile.gpu", 'ENV PYTHONPATH="${PYTHONPATH}:/workspace/project/lib"\n'),
    ("compose.yml", "services:\n  train:\n    environment:\n      PYTHONPATH: /app/lib\n"),
    (".github/workflows/test.yml", "env:\n  PYTHONPATH: ${{ github.workspace }}/lib\n"),
    (".vscode/launch.json", '{"env": {"PYTHONPATH": "${workspaceFolder}/lib"}}\n'),
    ("Makefile", "train:\n\tPYTHONPATH=$(CURDIR)/lib python bin/train.py\n"),
    (".env", "PYTHONPATH=./lib\n"),
    ("README.md", "Start it:\n\n    PYTHONPATH=lib python bin/train.py\n"),
    ("start.py", 'import os, torch\nos.environ["PYTHONPATH"] = "lib"\nos.system("python bin/train.py")\n'),
    ("start.py", 'import os, torch\nenv = dict(os.environ, PYTHONPATH=f"{here}/lib")\n'),
    ("start.py", 'import os, torch\nenv = {"PYTHONPATH": "lib"}\n'),
]


@pytest.mark.parametrize(("name", "text"), SETTINGS)
def test_texts_beside_the_program_say_which(tmp_path: Path, name: str, text: str) -> None:
    write_files(tmp_path, (*TWO, (name, text)))
    assert found(tmp_path) == Path("lib/solver.py")


def test_a_text_beside_a_script_that_is_given_alone(tmp_path: Path) -> None:
    write_files(tmp_path, (*TWO, ("run.sh", "PYTHONPATH=lib python bin/train.py\n")))
    script = tmp_path / "bin" / "train.py"
    assert open_project([script]).find("solver", script) == tmp_path / "lib" / "solver.py"


UNSETTLED = [
    TWO,
    (
        *TWO,
        ("a.sh", "PYTHONPATH=lib python bin/train.py\n"),
        ("b.sh", "PYTHONPATH=old python bin/train.py\n"),
    ),
    (*ONE, ("solver.py", SOLVER), ("run.sh", "PYTHONPATH=lib python bin/train.py\n")),  # or from this folder
]


@pytest.mark.parametrize("files", UNSETTLED)
def test_where_several_may_be_meant_nothing_is_rewritten(
    tmp_path: Path, files: tuple[tuple[str, str], ...]
) -> None:
    write_files(tmp_path, files)
    assert found(tmp_path) is None
    plan = make_plan([tmp_path], Options())
    assert not plan.changed
    assert plan.leaves
    told = [(each.path.name, each.line) for each in plan.left if each.rule == "HVD915"]
    assert ("train.py", 2) in told
    assert told.count(("solver.py", 1)) == 2
    assert all(each.applicability is Applicability.REFUSED for each in plan.left if each.rule == "HVD915")


def test_what_others_import_is_still_migrated_with_them(tmp_path: Path) -> None:
    others = tuple((f"{name}/train.py", TRAIN) for name in ("lib", "old"))
    write_files(tmp_path, (*TWO, *others))
    plan = make_plan([tmp_path], Options())
    changed = sorted(file.path.relative_to(tmp_path).as_posix() for file in plan.changed)
    assert changed == ["lib/solver.py", "lib/train.py", "old/solver.py", "old/train.py"]
    assert [each.path.parent.name for each in plan.left if each.rule == "HVD915"] == ["bin"]
