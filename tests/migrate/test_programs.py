"""How each script of a project is distributed today: by what runs in it, not by what its helpers hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from hvdkit.migrate.engine import make_plan
from hvdkit.migrate.facts import Facts, Options
from hvdkit.migrate.facts.coverage.buffers import changed_in_training
from hvdkit.migrate.facts.optimizers.one_of_several_steps import steps_one_of_several
from hvdkit.migrate.facts.optimizers.steps import steps_of
from hvdkit.migrate.facts.programs.programs import programs_of
from hvdkit.migrate.facts.programs.training_paths import training_paths
from hvdkit.source.project.opening import open_project

TOOLS = """\
import torch
import torch.distributed as dist

def start():
    dist.init_process_group("nccl")

def mean(x):
    dist.all_reduce(x)
    return x / dist.get_world_size()

def optimizer(model):
    return torch.optim.SGD(model.parameters(), lr=0.1)

def profile(model, x):
    model(x).sum().backward()
"""
DISTRIBUTED = """\
import torch
import tools

tools.start()
optimizer = tools.optimizer(model)
for x in data:
    loss = model(x).sum()
    loss.backward()
    optimizer.step()
    print(tools.mean(loss))
"""
PROFILED = """\
import torch

schedule = torch.optim.lr_scheduler.StepLR(adapter, 1)
with torch.profiler.profile() as profiler:
    for _ in range(4):
        model(x).sum().backward()
        profiler.step()
        schedule.step()
"""
FLAT = """\
import torch

def step(model, vector):
    at = 0
    for p in model.parameters():
        p.data.copy_(vector[at : at + p.numel()].view_as(p))
        at += p.numel()

for x in data:
    model(x).sum().backward()
    step(model, direction(model))
"""
MXNET = """\
import mxnet
from torchless import loader

trainer = mxnet.gluon.Trainer(net.collect_params(), "sgd")
for x in loader:
    net(x).backward()
    trainer.step(32)
"""


@pytest.mark.parametrize(
    ("script", "kind"),
    [
        (DISTRIBUTED, "ddp"),
        (DISTRIBUTED.replace("tools.start()\n", ""), "single"),
        (DISTRIBUTED.replace("tools.start()\n", "torch.distributed.barrier()\n"), "ddp"),
        (DISTRIBUTED.replace("tools.mean(loss)", "loss"), "ddp"),
        (DISTRIBUTED.replace("tools.start()\n", "").replace("tools.mean(loss)", "loss"), "single"),
        ("import torch\nimport tools\n\ntools.profile(torch.nn.Linear(2, 1), torch.ones(2))\n", "ddp"),
        (PROFILED, "none"),
        (FLAT, "single"),
        (FLAT.replace("vector[at : at + p.numel()].view_as(p)", "vector"), "none"),
        (
            FLAT.replace(
                "    step(model, direction(model))",
                "    torch.nn.utils.vector_to_parameters(v, model.parameters())",
            ),
            "single",
        ),
        (MXNET, "none"),
        (MXNET.replace("import mxnet", "import mxnet\nimport torch"), "single"),
    ],
    ids=[
        "distributed",
        "helpers that ask whether it is",
        "started elsewhere",
        "only started",
        "helpers of another's",
        "nothing steps",
        "a profiler and a schedule step",
        "one vector holds all weights",
        "weights are copied as they are",
        "torch puts the vector back",
        "another framework's training",
        "PyTorch beside another framework",
    ],
)
def test_kinds(tmp_path: Path, script: str, kind: str) -> None:
    for name, text in {"tools": TOOLS, "train": DISTRIBUTED, "script": script}.items():
        (tmp_path / f"{name}.py").write_text(text)
    programs = {
        program.entry.source.path.stem: program for program in programs_of(Facts(open_project([tmp_path])))
    }
    assert programs["train"].kind == "ddp"
    assert programs["script"].kind == kind


PITCH = """\
import torch

class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("matrix", torch.zeros(8))

    def forward(self, x):
        self.matrix.copy_(torch.randn(8))
        return x * self.matrix

class Pitch(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = Layer()

def pitch():
    return Pitch()
"""
TRAINING = """\
import torch
import pitch
from torch.nn.parallel import DistributedDataParallel as DDP

torch.distributed.init_process_group("nccl")
model = DDP(torch.nn.BatchNorm1d(2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model(x).sum().backward()
optimizer.step()
"""


@pytest.mark.parametrize("trained", [False, True])
def test_buffers_of_models_that_only_other_scripts_make(tmp_path: Path, trained: bool) -> None:
    script = TRAINING.replace("torch.nn.BatchNorm1d(2)", "pitch.pitch()") if trained else TRAINING
    (tmp_path / "pitch.py").write_text(PITCH)
    (tmp_path / "train.py").write_text(script)
    (tmp_path / "prepare.py").write_text("from pitch import pitch\n\nprint(pitch()(x))\n")
    found = changed_in_training(Facts(open_project([tmp_path])))
    assert [buffer for _, _, buffer in found] == ["matrix"] * trained


BUILDING = """\
import torch

def build(size):
    print("building", size)
    return torch.nn.Linear(size, 1)
"""
BUILT = """\
import torch
from parts import build

model = build(2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model(x).sum().backward()
optimizer.step()
"""
DEFINES = "import torch\nfrom parts import build\n\ndef large():\n    return build(8)\n"


@pytest.mark.parametrize(
    ("text", "declared", "starts"),
    [
        (DEFINES, "", False),
        (DEFINES, '[project.scripts]\nshow = "other:large"\n', True),
        (DEFINES + "\nprint(large())\n", "", True),
    ],
    ids=["a model that nothing imports", "a command of the package", "a script"],
)
def test_what_shares_a_helper_starts_horovod_where_it_is_run(
    tmp_path: Path, text: str, declared: str, starts: bool
) -> None:
    files = {"parts.py": BUILDING, "train.py": BUILT, "other.py": text, "pyproject.toml": declared}
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    after = {file.path.name: file.after for file in make_plan([tmp_path], Options()).files}
    assert "hvd.rank()" in after["parts.py"]
    assert ("hvd.init()" in after["other.py"]) is starts


PRECISION = """\
import torch

class Precision:
    def backward(self, loss):
        loss.backward()

    def step(self, optimizer):
        optimizer.step()
"""
TRAINED_WITH_IT = """\
import torch
import torch.distributed as dist
from precision import Precision

def train(model, batches):
    dist.init_process_group("nccl")
    model = torch.nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    precision = Precision()
    for batch in batches:
        precision.backward(model(batch).sum())
        precision.step(optimizer)
"""


def test_a_loop_of_a_file_that_a_script_does_not_import_is_not_its_own(tmp_path: Path) -> None:
    """Both share a class that has backward() and step(): the script that only asks with it trains nothing."""
    (tmp_path / "precision.py").write_text(PRECISION)
    (tmp_path / "training.py").write_text(TRAINED_WITH_IT)
    (tmp_path / "ask.py").write_text("from precision import Precision\n\nprint(Precision())\n")
    facts = Facts(open_project([tmp_path]))
    paths = {program.entry.source.path.name: training_paths(facts, program) for program in programs_of(facts)}
    assert paths["training.py"] and not paths["ask.py"]


OWN = """\
import torch

class Own(torch.optim.SGD):
    pass

def check():
    layer = torch.nn.Linear(2, 1)
    checked = Own(layer.parameters(), lr=0.1)
    layer(torch.ones(1, 2)).sum().backward()
    checked.step()

if __name__ == "__main__":
    check()
"""
USING_OWN = """\
import torch
import torch.distributed as dist
from own import Own

dist.init_process_group("nccl")
net = torch.nn.Linear(2, 1)
model = torch.nn.parallel.DistributedDataParallel(net)
optimizer = Own(net.parameters(), lr=0.1)
for batch in data:
    model(batch).sum().backward()
    torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    optimizer.step()
"""


def test_an_optimizer_of_a_check_in_its_own_file_is_none_of_the_script(tmp_path: Path) -> None:
    """Both are of one class, and the file's own check() makes one: the script steps a single optimizer."""
    (tmp_path / "own.py").write_text(OWN)
    (tmp_path / "train.py").write_text(USING_OWN)
    facts = Facts(open_project([tmp_path]))
    assert steps_of(facts).groups and not any(
        steps_one_of_several(facts, group) for group in steps_of(facts).groups
    )
