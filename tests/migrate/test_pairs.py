"""What people got wrong when they migrated by hand (benchmarks/pairs.py), each in a program of our own.

The migrated program has the construct, and `hvdkit check` finds nothing in it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from hvdkit.check.command import make_plan as make_check_plan
from hvdkit.migrate.engine import make_plan
from hvdkit.migrate.facts import Options

HEAD = """\
import torch
from torch.utils.data import DataLoader, Dataset

class Numbers(Dataset):
    def __init__(self, items):
        self.items = items

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        return self.items[index]

"""
SETUP = """\
model = torch.nn.Linear(4, 1).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(Numbers(torch.ones(8, 4)), batch_size=2, shuffle=True)
"""
DDP_SETUP = """\
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data.distributed import DistributedSampler

dist.init_process_group("nccl")
torch.cuda.set_device(dist.get_rank() % torch.cuda.device_count())
model = DDP(torch.nn.Linear(4, 1).cuda())
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
data = Numbers(torch.ones(8, 4))
sampler = DistributedSampler(data)
loader = DataLoader(data, batch_size=2, sampler=sampler)
"""
TRAIN = """\
for epoch in range(3):
    for x in loader:
        optimizer.zero_grad()
        model(x.cuda()).sum().backward()
        optimizer.step()
"""

# defect -> the program before, and what stands in the migrated one
PROGRAMS = {
    "the sampler over other data than the loader's, and no set_epoch": (
        HEAD + SETUP + TRAIN,
        (
            "dataset = Numbers(torch.ones(8, 4))",
            "sampler = DistributedSampler(dataset, num_replicas=hvd.size(), rank=hvd.rank(), shuffle=True)",
            "loader = DataLoader(dataset, batch_size=2, sampler=sampler)",
            "    loader.sampler.set_epoch(epoch)",
        ),
    ),
    "every rank prints, and writes one file": (
        "import json\n"
        + HEAD
        + SETUP
        + TRAIN
        + "print('done')\nwith open('losses.json', 'w') as file:\n    json.dump([1.0], file)\n",
        (
            "if hvd.rank() == 0:",
            "    print('done')",
            "    with open('losses.json', 'w') as file:",
        ),
    ),
    "the learning rate is not scaled, or the batch and the rate are": (
        HEAD + SETUP + TRAIN,
        (
            "optimizer = torch.optim.SGD(model.parameters(), lr=0.1 * hvd.size())",
            "loader = DataLoader(dataset, batch_size=2, sampler=sampler)",
        ),
    ),
    "a resume on rank 0 alone: epoch, best accuracy and momenta differ": (
        HEAD
        + SETUP
        + "state = torch.load('last.pt', map_location='cpu')\n"
        + "model.load_state_dict(state['model'])\n"
        + "optimizer.load_state_dict(state['optimizer'])\n"
        + "start, best = state['epoch'], state['best']\n"
        + TRAIN.replace("range(3)", "range(start, 3)"),
        (
            "state = torch.load('last.pt', map_location='cpu')",
            "optimizer.load_state_dict(state['optimizer'])",
            "start, best = state['epoch'], state['best']",
            "hvd.broadcast_parameters(model.state_dict(), root_rank=0)",
        ),
    ),
    "the split differs from rank to rank": (
        "from sklearn.model_selection import train_test_split\n"
        + HEAD
        + SETUP.replace(
            "loader =", "train, test = train_test_split(torch.ones(8, 4), test_size=2)\nloader ="
        ).replace("Numbers(torch.ones(8, 4))", "Numbers(train)")
        + TRAIN,
        ("train, test = train_test_split(torch.ones(8, 4), test_size=2, random_state=0)",),
    ),
    "mixed precision and clipping are dropped": (
        HEAD
        + DDP_SETUP
        + "scaler = torch.amp.GradScaler()\n"
        + "for epoch in range(3):\n"
        + "    sampler.set_epoch(epoch)\n"
        + "    for x in loader:\n"
        + "        optimizer.zero_grad()\n"
        + "        with torch.autocast('cuda'):\n"
        + "            loss = model(x.cuda()).sum()\n"
        + "        scaler.scale(loss).backward()\n"
        + "        scaler.unscale_(optimizer)\n"
        + "        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n"
        + "        scaler.step(optimizer)\n"
        + "        scaler.update()\n",
        (
            "        scaler.scale(loss).backward()",
            "        optimizer.synchronize()",
            "        scaler.unscale_(optimizer)",
            "        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)",
            "        with optimizer.skip_synchronize():",
            "            scaler.step(optimizer)",
        ),
    ),
    "the loss is no longer averaged over the ranks": (
        HEAD
        + DDP_SETUP
        + "for epoch in range(3):\n"
        + "    sampler.set_epoch(epoch)\n"
        + "    for x in loader:\n"
        + "        optimizer.zero_grad()\n"
        + "        loss = model(x.cuda()).sum()\n"
        + "        loss.backward()\n"
        + "        optimizer.step()\n"
        + "        shown = loss.detach().clone()\n"
        + "        dist.all_reduce(shown)\n"
        + "        shown /= dist.get_world_size()\n",
        ("        hvd.allreduce_(shown, op=hvd.Sum)", "        shown /= hvd.size()"),
    ),
    "join() as a barrier": (
        HEAD
        + DDP_SETUP
        + TRAIN.replace("    for x", "    sampler.set_epoch(epoch)\n    for x")
        + "dist.barrier()\n",
        ("hvd.barrier()",),
    ),
    "the test is run on the parts of the ranks, and its metrics not averaged": (
        HEAD
        + SETUP
        + TRAIN
        + "tests = DataLoader(Numbers(torch.ones(4, 4)), batch_size=2)\n"
        + "print(sum(model(x.cuda()).sum().item() for x in tests))\n",
        ("tests = DataLoader(Numbers(torch.ones(4, 4)), batch_size=2)",),
    ),
}


@pytest.mark.parametrize("defect", PROGRAMS)
def test_a_defect_that_people_made_is_not_in_what_migrate_writes(defect: str, tmp_path: Path) -> None:
    before, wanted = PROGRAMS[defect]
    script = tmp_path / "train.py"
    script.write_text(before)
    plan = make_plan([script], Options(suggested=True))
    assert not plan.left and not any(file.problem for file in plan.files)
    (file,) = plan.changed
    lines = file.after.splitlines()
    assert [line for line in wanted if line not in lines] == []
    script.write_text(file.after)
    assert [finding.message for finding in make_check_plan([script], Options()).findings] == []
