"""Gradients averaged by hand stay so, by Horovod's collectives, in any form; no optimizer is wrapped."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent, indent

import pytest

from hvdkit.migrate.engine import make_plan
from hvdkit.migrate.facts import Options
from hvdkit.migrate.plan import Applicability, Plan, State

PROGRAM = """\
import argparse

import torch
import torch.distributed as dist
from torch._utils import _flatten_dense_tensors, _unflatten_dense_tensors

{helper}

parser = argparse.ArgumentParser()
parser.add_argument("--often", type=int, default=1)
args = parser.parse_args()
dist.init_process_group("gloo")
size, rank = dist.get_world_size(), dist.get_rank()
args.distributed = size > 1
net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 1))
other = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD({trained}, lr=0.1)
for i in range(3):
    x = torch.randn(2, 4)
    optimizer.zero_grad()
{loop}
"""
AVERAGE = """
def average(model):
    for p in model.parameters():
        dist.all_reduce(p.grad)
        p.grad /= dist.get_world_size()
"""
USED = """
loss = net(x).sum()
loss.backward()
average(net)
optimizer.step()
"""


def plan_of(folder: Path, helper: str = AVERAGE, loop: str = USED, trained: str = "net.parameters()") -> Plan:
    """The plan for a program with these parts."""
    text = PROGRAM.format(helper=dedent(helper), loop=indent(dedent(loop), "    "), trained=trained)
    (folder / "train.py").write_text(text)
    return make_plan([folder], Options())


def kept(plan: Plan) -> str:
    """The text of a program whose averages stay: by Horovod, reported, and open in the table."""
    (file,) = plan.files
    found = [finding for finding in file.findings if finding.rule == "HVD904"]
    assert not file.problem and {finding.applicability for finding in found} == {Applicability.SAFE}
    assert "dist." not in file.after and "DistributedOptimizer" not in file.after
    (row,) = (row for row in plan.programs[0].conditions if row.name == "every optimizer averages gradients")
    assert row.state is State.OPEN and "the script sums gradients itself, as before" in row.detail
    return file.after


HELPERS = {
    "divided first": """
        def average(model):
            world = dist.get_world_size()
            for p in model.parameters():
                p.grad.data.div_(world)
                dist.all_reduce(p.grad.data, op=dist.ReduceOp.SUM)
        """,
    "zeros where there is none": """
        def average(model):
            for p in model.parameters():
                if not p.requires_grad:
                    continue
                if p.grad is None:
                    p.grad = torch.zeros_like(p)
                dist.all_reduce(p.grad)
                p.grad /= dist.get_world_size()
            return True
        """,
    "nothing else to do": """
        def average(model):
            if dist.get_world_size() > 1:
                for p in model.parameters():
                    dist.all_reduce(p.grad)
                    p.grad /= dist.get_world_size()
            else:
                return None
        """,
    "two loops": """
        def average(model):
            for p in model.parameters():
                dist.all_reduce(p.grad)
            for p in model.parameters():
                p.grad *= 1.0 / dist.get_world_size()
        """,
    "a list": """
        def average(model):
            "Means."
            grads = []
            for p in model.parameters():
                if p.requires_grad:
                    grads.append(p.grad.data)
            with torch.no_grad():
                for g in grads:
                    dist.all_reduce(g)
                    g.div_(float(dist.get_world_size()))
        """,
    "assigned": """
        def average(model):
            if not (dist.is_available() and dist.is_initialized()):
                return
            for p in [p for p in model.parameters() if p.grad is not None]:
                g = p.grad.data
                dist.all_reduce(g)
                p.grad.data = p.grad.data / dist.get_world_size()
        """,
    "end to end": """
        def average(model):
            if dist.get_world_size() < 2:
                return
            grads = [p.grad for p in model.parameters()]
            flat = _flatten_dense_tensors(grads)
            flat.div_(dist.get_world_size())
            dist.all_reduce(flat)
            for g, new in zip(grads, _unflatten_dense_tensors(flat, grads)):
                g.copy_(new)
        """,
    "at an offset": """
        def average(model):
            rows = []
            for p in model.parameters():
                if p.grad is not None:
                    rows.append(p.grad.view(-1))
            flat = torch.cat(rows)
            dist.all_reduce(flat, op=dist.ReduceOp.SUM)
            offset = 0
            for p in model.parameters():
                if p.grad is not None:
                    p.grad.data.copy_(
                        flat[offset : offset + p.numel()].view_as(p.grad.data) / dist.get_world_size()
                    )
                    offset += p.numel()
        """,
    "at an offset, passed by": """
        def average(model):
            flat = torch.cat([p.grad.reshape(-1) for name, p in model.named_parameters()])
            start = 0
            flat /= dist.get_world_size()
            dist.all_reduce(flat)
            for name, p in model.named_parameters():
                count = p.grad.numel()
                p.grad.copy_(flat[start : start + count].view_as(p))
                start += count
        """,
}
LOOPS = {
    "a guard": """
        net(x).sum().backward()
        if args.distributed:
            average(net)
        optimizer.step()
        """,
    "guards of other spellings": """
        net(x).sum().backward()
        if dist.is_initialized() and size > 1:
            average(net)
        optimizer.step()
        """,
    "a guarded group": """
        net(x).sum().backward()
        if size > 1:
            average(net)
            print("averaged")
        optimizer.step()
        """,
    "without gradients": """
        net(x).sum().backward()
        with torch.no_grad():
            if size > 1:
                average(net)
        optimizer.step()
        """,
    "timed": """
        with timer("forward and backward"):
            net(x).sum().backward()
        with timer("averaged"):
            average(net)
        with timer("step"):
            optimizer.step()
        """,
    "before clipping": """
        net(x).sum().backward()
        average(net)
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        """,
    "one of two passes": """
        if i % 2:
            net(x).sum().backward()
        else:
            net(x).mean().backward()
        average(net)
        optimizer.step()
        """,
    "inline": """
        net(x).sum().backward()
        for p in net.parameters():
            dist.all_reduce(p.grad)
            p.grad /= size
        optimizer.step()
        """,
}


@pytest.mark.parametrize("helper", HELPERS.values(), ids=HELPERS.keys())
def test_helpers(helper: str, tmp_path: Path) -> None:
    assert "hvd.allreduce_(" in kept(plan_of(tmp_path, helper))


@pytest.mark.parametrize("loop", LOOPS.values(), ids=LOOPS.keys())
def test_calls(loop: str, tmp_path: Path) -> None:
    assert "hvd.allreduce_(" in kept(plan_of(tmp_path, loop=loop))


def test_averages_of_every_gradient_below_the_pass_are_shown(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, AVERAGE.replace("p.grad)", "p.grad, op=dist.ReduceOp.AVG)"))
    (row,) = (row for row in plan.programs[0].conditions if row.name == "every optimizer averages gradients")
    assert row.state is State.PROVEN and "averaged after backward()" in row.detail


def test_a_sum_and_some_of_the_parameters(tmp_path: Path) -> None:
    """What is computed does not have to be an average."""
    helper = """
        def average(model):
            for p in model.parameters():
                if p.dim() > 1:
                    dist.all_reduce(p.grad)
        """
    assert "if p.dim() > 1:\n            hvd.allreduce_(p.grad, op=hvd.Sum)" in kept(
        plan_of(tmp_path, helper)
    )


def test_what_cannot_be_written_is_refused(tmp_path: Path) -> None:
    """The process group would be gone, and a call that asks for it would stay."""
    reduced = "dist.all_reduce(p.grad, group=dist.new_group([0, 1]))"
    plan = plan_of(tmp_path, f"def average(model):\n    for p in model.parameters():\n        {reduced}\n")
    (said,) = (finding.message for finding in plan.findings if finding.rule == "HVD904")
    assert "it works on a group of ranks that is not known to be a process set" in said
    assert not plan.changed and all(program.refused for program in plan.programs)


def test_a_helper_that_nothing_uses(tmp_path: Path) -> None:
    """With DDP, an unused helper is translated as any other function."""
    loop = "torch.nn.parallel.DistributedDataParallel(net)(x).sum().backward()\noptimizer.step()"
    (file,) = plan_of(tmp_path, loop=loop).files
    assert "hvd.allreduce_(p.grad, op=hvd.Sum)" in file.after


METHODS = """
class Trainer:
    def __init__(self):
        self.model = net
        self.optimizer = torch.optim.Adam(self.model.parameters())

    def average(self):
        for p in self.model.parameters():
            if p.grad is not None:
                dist.all_reduce(p.grad)
                p.grad /= dist.get_world_size()

    def train(self, x):
        loss = self.model(x).sum()
        loss.backward()
        self.average()
        self.optimizer.step()


Trainer().train(torch.randn(2, 4))
"""
CLOSURE = """
def closure():
    optimizer.zero_grad()
    loss = net(x).sum()
    loss.backward()
    for p in net.parameters():
        dist.all_reduce(p.grad)
        p.grad /= size
    return loss


optimizer.step(closure)
"""


def test_methods(tmp_path: Path) -> None:
    text = PROGRAM.format(helper="", loop="    pass\n" + METHODS, trained="net.parameters()")
    text = text.replace("optimizer = torch.optim.SGD(net.parameters(), lr=0.1)\n", "").replace(
        "    optimizer.zero_grad()\n", ""
    )
    (tmp_path / "train.py").write_text(text)
    assert "self.average()" in kept(make_plan([tmp_path], Options()))


def test_a_closure(tmp_path: Path) -> None:
    assert "hvd.allreduce_(p.grad, op=hvd.Sum)" in kept(plan_of(tmp_path, "", CLOSURE))


@pytest.mark.parametrize("name", ["averaged", "hooked"])
def test_the_fixtures_of_verify(name: str) -> None:
    """Launched, they are compared bit for bit in tests/verify/test_agree.py."""
    plan = make_plan([Path(__file__).parent.parent / "verify/fixtures" / name], Options())
    assert not plan.left and all("dist." not in file.after for file in plan.files)
    assert not any("DistributedOptimizer" in file.after for file in plan.files)


def test_a_norm_of_gradients_is_no_average(tmp_path: Path) -> None:
    norm = "def size_of(tensors):\n    return sum(t.norm() for t in tensors)\n\n"
    told = """
        net(x).sum().backward()
        total = size_of([p.grad for p in net.parameters()])
        dist.all_reduce(total)
        print(total)
        optimizer.step()
        """
    plan = plan_of(tmp_path, norm, told)
    assert "HVD904" not in {finding.rule for finding in plan.findings}


def test_without_an_optimizer_that_is_found_what_is_averaged_by_hand_stays(tmp_path: Path) -> None:
    made = "import factory\n\n\ndef average(model):\n    return None\n"
    loop = """
    loss = net(x).sum()
    loss.backward()
    params = [p for p in net.parameters() if p.grad is not None]
    flat = torch.cat([p.grad.flatten() for p in params])
    dist.all_reduce(flat)
    flat /= size
    for p, grad in zip(params, flat.split([p.numel() for p in params])):
        p.grad = grad.reshape(p.shape)
    optimizer.step()
    """
    text = PROGRAM.format(helper=made, loop=indent(dedent(loop), "    "), trained="net.parameters()")
    (tmp_path / "train.py").write_text(text.replace("torch.optim.SGD(", "factory.construct("))
    plan = make_plan([tmp_path], Options())
    (file,) = plan.files
    assert "hvd.allreduce_(flat, op=hvd.Sum)\n    flat /= size\n" in file.after
    assert "DistributedOptimizer" not in file.after
    found = [finding for finding in plan.findings if finding.rule == "HVD904"]
    assert [finding.applicability for finding in found] == [Applicability.SAFE]


def test_an_average_that_stays_is_not_taken_for_none_afterwards(tmp_path: Path) -> None:
    """Gradients laid end to end, and summed on some runs only: a second run wraps no optimizer beside it."""
    helper = """
        def average(model):
            flat = torch.cat([p.grad.view(-1) for p in model.parameters()])
            dist.all_reduce(flat)
            offset = 0
            for p in model.parameters():
                p.grad.copy_(flat[offset:offset + p.numel()].view_as(p.grad) / size)
                offset += p.numel()

        through([torch.ones(1)], lambda tensor: dist.all_reduce(tensor))
    """
    loop = """
        net(x).sum().backward()
        if args.often > 1:
            average(net)
        optimizer.step()
    """
    (file,) = plan_of(tmp_path, helper, loop).files
    assert not file.problem and "hvd.allreduce_(flat, op=hvd.Sum)" in file.after
    assert "DistributedOptimizer" not in file.after
    (tmp_path / "train.py").write_text(file.after)
    again = make_plan([tmp_path], Options())
    assert not any(file.changed for file in again.files)


def test_a_script_that_only_runs_the_model_of_a_training_holds_nothing_back(tmp_path: Path) -> None:
    """It imports the training, and comes to no backward pass itself."""
    (tmp_path / "show.py").write_text("from train import made\n\nprint(made()(1))\n")
    made = """
        def made(joined=False):
            model = torch.nn.Linear(4, 1)
            if joined:
                average(model)
            return model

        def shown(model):
            return [p.grad for p in model.parameters()]
        """
    loop = "net(x).sum().backward()\naverage(net)\noptimizer.step()"
    text = PROGRAM.format(
        helper=AVERAGE + dedent(made), loop=indent(loop, "    "), trained="net.parameters()"
    )
    start = text.index("parser =")
    trained = f"def main():\n{indent(text[start:], '    ')}"
    (tmp_path / "train.py").write_text(f"{text[:start]}{trained}\n\nif __name__ == '__main__':\n    main()\n")
    plan = make_plan([tmp_path], Options())
    assert not any(program.refused for program in plan.programs)
    assert any("hvd.allreduce_(p.grad, op=hvd.Sum)" in file.after for file in plan.files)
