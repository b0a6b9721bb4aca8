"""What is told of a program of several scripts, where an edit alone would say too little."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from hvdkit.migrate.engine import make_plan
from hvdkit.migrate.facts import Options
from hvdkit.migrate.plan import Reported

FLAGGED = """\
import argparse
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel as DDP

class Trainer:
    def __init__(self):
        self.distributed = dist.is_initialized()
        self.model = DDP(net) if self.distributed else net

    def train(self):
        optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.model(x).sum().backward()
        optimizer.step()

def work(rank, gpus):
    dist.init_process_group("nccl", rank=rank, world_size=gpus)
    Trainer().train()

def main(gpus):
    if gpus > 1:
        mp.spawn(work, args=(gpus,), nprocs=gpus)
    else:
        Trainer().train()

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--gpus", type=int, default=1)
    main(parser.parse_args().gpus)
"""
ALWAYS = FLAGGED.replace("    if gpus > 1:\n    ", "").replace("    else:\n        Trainer().train()\n", "")


def told(folder: Path, rule: str, **files: str) -> list[Reported]:
    """What a rule finds in some files."""
    for name, text in files.items():
        (folder / f"{name}.py").write_text(dedent(text))
    plan = make_plan([folder], Options(suggested=True))
    return [finding for finding in plan.findings if finding.rule == rule]


@pytest.mark.parametrize(("script", "notes"), [(FLAGGED, 1), (ALWAYS, 0)], ids=["several", "always"])
def test_a_group_for_several_ranks_only(tmp_path: Path, script: str, notes: int) -> None:
    """Horovod is initialized in a single process, too: a flag that was False there is True."""
    found = told(tmp_path, "HVD103", train=script)
    assert len([finding for finding in found if "a single process, too" in finding.advice]) == notes


SCHEDULE = """\
class Poly:
    def __init__(self, base_lr):
        self.base_lr = base_lr

    def __call__(self, optimizer, i):
        for group in optimizer.param_groups:
            group["lr"] = self.base_lr * (1 - i / 100) ** 0.9
"""
SCRIPT = """\
import torch
import torch.distributed as dist
from schedule import Poly

optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
schedule = Poly(0.1)
for i, x in enumerate(batches):
    schedule(optimizer, i)
    model(x).sum().backward()
    optimizer.step()
"""
START = 'dist.init_process_group("nccl")\nmodel = torch.nn.parallel.DistributedDataParallel(net)\noptimizer'


def test_a_schedule_that_distributed_programs_share(tmp_path: Path) -> None:
    """It sets the rate again that is scaled in the script of one process, and stays as it is in the other."""
    shared = SCRIPT.replace("optimizer", START, 1)
    found = told(tmp_path, "HVD403", schedule=SCHEDULE, train=SCRIPT, train_dist=shared)
    places = [(finding.path.stem, finding.line, finding.applicability.name) for finding in found]
    assert places == [("schedule", 7, "MANUAL"), ("train", 5, "SUGGESTED")]


LAID_OUT = """\
import torch

model = torch.nn.Conv2d(3, 4, 2).to(memory_format=torch.channels_last)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model(x).sum().backward()
optimizer.step()
"""


@pytest.mark.parametrize("target", ["horovod", "hvdkit"])
def test_channels_last_is_told_where_horovod_would_get_it(tmp_path, target):
    (tmp_path / "train.py").write_text(LAID_OUT)
    plan = make_plan([tmp_path / "train.py"], Options(target=target))
    told = [f for file in plan.files for f in file.findings if f.rule == "HVD914"]
    assert bool(told) is (target == "horovod")


def test_channels_last_is_told_where_gradients_are_sent_as_they_are(tmp_path):
    wrapped = LAID_OUT.replace("optimizer = torch.optim.SGD(", "optimizer = somewhere.make(").replace(
        "optimizer = somewhere",
        "model = torch.nn.parallel.DistributedDataParallel(model)\noptimizer = somewhere",
    )
    (tmp_path / "train.py").write_text(f"import somewhere\n{wrapped}")
    plan = make_plan([tmp_path / "train.py"], Options(target="hvdkit"))
    rules = {f.rule for file in plan.files for f in file.findings}
    assert {"HVD416", "HVD914"} <= rules


def test_a_training_that_no_script_is_seen_to_run(tmp_path: Path) -> None:
    agent = """\
        import torch

        class Agent:
            def __init__(self, lr):
                self.net = torch.nn.Linear(2, 1)
                self.optimizer = torch.optim.Adam(self.net.parameters(), lr=lr)

            def update(self, x):
                self.optimizer.zero_grad()
                self.net(x).sum().backward()
                self.optimizer.step()
        """
    by_name = """\
        import sys
        import torch
        from somewhere import made_by_name

        made_by_name(sys.argv[1]).update(torch.ones(2))
        """
    (tmp_path / "agent.py").write_text(dedent(agent))
    (tmp_path / "train.py").write_text(dedent(by_name))

    def starts() -> list[str]:
        files = make_plan([tmp_path], Options(suggested=True)).files
        found = [finding for file in files for finding in file.findings if finding.rule == "HVD110"]
        return [f"{finding.path.name}: {finding.advice}" for finding in found]

    [start] = starts()
    assert start.startswith("agent.py: call hvd.init()")
    (tmp_path / "train.py").write_text("from agent import Agent\n\nAgent(0.1).update(x)\n")
    assert starts() == ["train.py: "]


@pytest.mark.parametrize("distributed", [False, True])
def test_the_batch_that_data_parallel_divided_is_told_in_a_script_of_one_process(
    tmp_path: Path, distributed: bool
) -> None:
    wrap = "model = torch.nn.DataParallel(model)"
    if distributed:
        wrap = (
            'if args.ddp:\n    torch.distributed.init_process_group("nccl")\n'
            f"    model = torch.nn.parallel.DistributedDataParallel(model)\nelse:\n    {wrap}"
        )
    text = (
        f"import torch\n\nmodel = torch.nn.Linear(2, 1)\n{wrap}\n"
        "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        "for x in torch.utils.data.DataLoader(data, batch_size=8):\n"
        "    model(x).sum().backward()\n    optimizer.step()\n"
    )
    (tmp_path / "train.py").write_text(text)
    told = [finding for finding in make_plan([tmp_path], Options()).told if finding.rule == "HVD203"]
    assert ["divide batch_size" in finding.advice for finding in told] == ([] if distributed else [True])


@pytest.mark.parametrize(
    ("above", "random"),
    [("", True), ("torch.manual_seed(1)\n", False), ("x, y = load('data.pt')\n", False)],
    ids=["unseeded", "seeded", "read"],
)
def test_what_is_drawn_at_random_is_not_called_the_same(tmp_path: Path, above: str, random: bool) -> None:
    """Without a seed each process draws numbers of its own; data that are read are the same."""
    drawn = "" if "load" in above else "x, y = torch.randn(8, 2), torch.randn(8, 1)\nfor _ in x: print(x)\n"
    loop = """\
model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(9):
    loss = ((model(x) - y) ** 2).mean()
    loss.backward()
    optimizer.step()
print(x, y)
"""
    (found,) = told(tmp_path, "HVD304", train=f"import torch\n{above}{drawn}{loop}")
    assert ("without a seed" in found.message) is random


def test_a_file_that_was_passed_over_and_imported_counts_once(tmp_path: Path) -> None:
    """A file that names no framework is looked at after all where a training imports it."""
    (tmp_path / "train.py").write_text("import torch\nimport words\n\nloss.backward()\nprint(words.ALL)\n")
    (tmp_path / "words.py").write_text("ALL = 3\n")
    (tmp_path / "other.py").write_text("ALL = 4\n")
    plan = make_plan([tmp_path], Options())
    assert (len(plan.files), plan.untouched) == (2, 1)
