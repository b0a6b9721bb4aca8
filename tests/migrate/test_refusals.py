"""What is told of programs that stay as they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from hvdkit.migrate.engine import make_plan
from hvdkit.migrate.facts import Options
from hvdkit.migrate.plan import Applicability

HELPER = "import torch.distributed as dist\n\ndef start():\n    dist.init_process_group('gloo')\n"
LIGHTNING = "import pytorch_lightning as pl\nimport helper\n\nhelper.start()\npl.Trainer().fit(model)\n"
TRAINING = "import helper\n\nhelper.start()\n"


@pytest.fixture
def shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "helper.py").write_text(HELPER)
    (tmp_path / "lightning.py").write_text(LIGHTNING)
    (tmp_path / "train.py").write_text(TRAINING)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_program_that_only_shares_files_is_told_what_to_type(shared: Path) -> None:
    plan = make_plan([shared], Options())
    told = {program.entry.name: program.refused for program in plan.programs}
    assert told == {
        "lightning.py": "HVD902 at lightning.py:5",
        "train.py": "HVD902 at lightning.py:5, in lightning.py, which shares files with it: "
        "`hvdkit migrate train.py` changes them for both",
    }
    assert not any(file.changed for file in plan.files)


def test_what_is_told_to_type_migrates(shared: Path) -> None:
    plan = make_plan([shared / "train.py"], Options())
    assert not any(program.refused for program in plan.programs)
    assert {file.path.name for file in plan.files if file.changed} == {"helper.py"}


STARTER = """\
import importlib
import torch.distributed as dist

dist.init_process_group("nccl")
importlib.import_module("recipe").run()
"""
RECIPE = "import pytorch_lightning as pl\n\ndef run():\n    pl.Trainer().fit(model)\n"


def test_a_program_that_imports_what_is_refused_by_its_name_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "start.py").write_text(STARTER)
    (tmp_path / "recipe.py").write_text(RECIPE)
    plan = make_plan([tmp_path], Options())
    assert {program.entry.name: program.refused for program in plan.programs} == {
        "start.py": "HVD902 at recipe.py:4"
    }
    assert not any(file.changed for file in plan.files)


TRAINER = """\
import torch
import torch.distributed as dist
from hydra.utils import instantiate
from torch.nn.parallel import DistributedDataParallel as DDP

KEY = "loss"

class Trainer:
    def __init__(self, model, optimizer):
        dist.init_process_group("nccl")
        self.model = DDP(model)
        self.optimizer = instantiate(optimizer, self.model.parameters())

    def run(self, batches):
        for x in batches:
            self.model(x)[KEY].backward()
            self.optimizer.step()
"""


def test_a_trainer_that_only_a_configuration_names_needs_its_optimizer(tmp_path: Path) -> None:
    """The scripts make it by its name in a YAML file: what runs it is not seen, and nobody would average."""
    (tmp_path / "trainer.py").write_text(TRAINER)
    (tmp_path / "losses.py").write_text("import torch\nfrom trainer import KEY\n\nprint(KEY)\n")
    plan = make_plan([tmp_path], Options())
    assert [program.refused for program in plan.programs] == ["HVD905 at trainer.py:11"]
    assert not any(file.changed for file in plan.files)


REPORT = """\
import torch

def write(text):
    file = open("report.bin", "wb")
    compress(file, text)

if __name__ == "__main__":
    write("nothing")
"""
REFUSED = """\
import pytorch_lightning as pl
import torch
from report import write

optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model(x).sum().backward()
optimizer.step()
write("done")
pl.Trainer().fit(model)
"""


def test_a_helper_of_a_refused_training_gets_no_notes(tmp_path: Path) -> None:
    """It is a script of its own, too, that trains nothing: what is said of it is said for the training."""
    (tmp_path / "report.py").write_text(REPORT)
    (tmp_path / "train.py").write_text(REFUSED)
    plan = make_plan([tmp_path], Options())
    assert [finding.rule for finding in plan.findings if finding.path.name == "report.py"] == ["HVD601"]
    assert [program.refused for program in plan.programs] == ["", "HVD902 at train.py:9"]
    assert not any(file.after != file.before for file in plan.files)


OWN = """\
import torch

class Signed(torch.optim.Optimizer):
    def __init__(self, params, lr=0.1):
        super().__init__(params, dict(lr=lr))

    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                p.data -= group["lr"] * p.grad.sign()
"""
ONE = """\
import torch
from own import Signed

optimizer = Signed(model.parameters())
model(x).sum().backward()
torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
optimizer.step()
"""
TWO = """\
import torch
from own import Signed

one = Signed(first.parameters())
other = Signed(second.parameters())

def train(x):
    (first(x) + second(x)).sum().backward()
    torch.nn.utils.clip_grad_norm_(first.parameters(), 1.0)
    one.step()
    other.step()

train(x)
"""


def test_two_optimizers_of_a_class_refuse_no_other_script_that_has_one(tmp_path: Path) -> None:
    for name, text in (("own.py", OWN), ("one.py", ONE), ("two.py", TWO)):
        (tmp_path / name).write_text(text)
    plan = make_plan([tmp_path], Options())
    refused = {f.path.name for f in plan.findings if f.applicability is Applicability.REFUSED}
    assert refused == {"two.py"}


def test_what_only_a_ring_of_files_imports_stays_with_what_it_needs(tmp_path: Path) -> None:
    """A package registers its trainer in __init__.py: no script is seen to import it."""
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").write_text("from package import trainer\n")
    (package / "trainer.py").write_text(
        "import torch.distributed as dist\nimport package\nfrom package import start\n\n"
        "def mean(value):\n    start.start()\n    dist.all_reduce(value)\n"
    )
    (package / "start.py").write_text(HELPER + "    dist.irecv(tensor)\n")
    (tmp_path / "run.py").write_text("from package.start import start\n\nstart()\n")
    plan = make_plan([tmp_path], Options())
    assert {program.entry.name: program.refused for program in plan.programs} == {
        "run.py": "HVD903 at start.py:5"
    }
    assert not any(file.changed for file in plan.files)
