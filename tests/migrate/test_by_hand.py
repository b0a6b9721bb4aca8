"""Gradients averaged by hand: which forms are proven and go, and the exact reason why another one stays."""

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


def changed(plan: Plan) -> str:
    assert [finding for finding in plan.findings if finding.rule == "HVD904"] == []
    (file,) = plan.files
    assert not file.problem and "HVD412" in {finding.rule for finding in file.findings}
    assert "all_reduce" not in file.after and "dist" not in file.after.replace("distributed", "")
    assert "hvd.DistributedOptimizer(optimizer, named_parameters=net.named_parameters())" in file.after
    assert "hvd.broadcast_parameters(net.state_dict(), root_rank=0)" in file.after
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
    "AVG": """
        def average(model):
            for name, p in model.named_parameters():
                if not p.requires_grad or p.grad is None:
                    continue
                dist.all_reduce(p.grad, op=dist.ReduceOp.AVG)
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
def test_helpers_that_go(helper: str, tmp_path: Path) -> None:
    assert "def average" not in changed(plan_of(tmp_path, helper))


@pytest.mark.parametrize("loop", LOOPS.values(), ids=LOOPS.keys())
def test_calls_that_go(loop: str, tmp_path: Path) -> None:
    helper = AVERAGE if "average(" in loop else ""
    after = changed(plan_of(tmp_path, helper, loop))
    assert "average(" not in after
    assert ("synchronize" in after) == ("clip" in loop)
    assert ("averaged" in after) == ("averaged" in loop)


BAD_HELPERS = {
    "a sum": ("dist.all_reduce(p.grad)", "the sum is never divided by the world size"),
    "divided twice": (
        "dist.all_reduce(p.grad, op=dist.ReduceOp.AVG)\np.grad /= dist.get_world_size()",
        "the sum is more than once divided by the world size",
    ),
    "summed twice": (
        "dist.all_reduce(p.grad)\ndist.all_reduce(p.grad)\np.grad /= dist.get_world_size()",
        "they are summed more than once",
    ),
    "by another number": (
        "dist.all_reduce(p.grad)\np.grad /= args.often",
        "they are changed by something other than the world size",
    ),
    "by its square": (
        "dist.all_reduce(p.grad)\np.grad *= dist.get_world_size()",
        "they are changed by something other than the world size",
    ),
    "the largest": (
        "dist.all_reduce(p.grad, op=dist.ReduceOp.MAX)\np.grad /= dist.get_world_size()",
        "their all_reduce is not known to sum",
    ),
    "asynchronous": (
        "work = dist.all_reduce(p.grad, async_op=True)\nwork.wait()\np.grad /= dist.get_world_size()",
        "their all_reduce is asynchronous",
    ),
    "compressed": (
        "small = p.grad.half()\ndist.all_reduce(small)\np.grad = small.float() / dist.get_world_size()",
        "an operation is applied that is not known to preserve averages",
    ),
    "by size": (
        "if p.dim() > 1:\n    dist.all_reduce(p.grad)\n    p.grad /= dist.get_world_size()",
        "they are averaged only where `p.dim() > 1` holds",
    ),
    "never": (
        "if type(p) is torch.Tensor:\n    dist.all_reduce(p.grad)\n    p.grad /= dist.get_world_size()",
        "is never true, since a parameter is a torch.nn.Parameter",
    ),
    "passed by": (
        "if p.dim() > 1:\n    continue\ndist.all_reduce(p.grad)\np.grad /= dist.get_world_size()",
        "where `p.dim() > 1` holds they are not averaged",
    ),
    "on some ranks": (
        "if rank == 0:\n    dist.all_reduce(p.grad)\np.grad /= dist.get_world_size()",
        "they are averaged only where `rank == 0` holds",
    ),
    "not all": (
        "dist.all_reduce(p.grad)\np.grad /= dist.get_world_size()\nbreak",
        "an operation is applied that is not known to preserve averages",
    ),
    "a loop in a loop": (
        "for q in model.parameters():\n    dist.all_reduce(q.grad)\n    q.grad /= dist.get_world_size()",
        "one loop over all of them is nested in another",
    ),
    "clipped": (
        "dist.all_reduce(p.grad)\np.grad /= dist.get_world_size()\np.grad.clamp_(-1, 1)",
        "an operation is applied that is not known to preserve averages",
    ),
    "a call beside it": (
        "note(len(seen))\ndist.all_reduce(p.grad)\np.grad /= dist.get_world_size()",
        "an operation is applied that is not known to preserve averages",
    ),
    "a call beside it, and an option": (
        "note(len(seen))\ndist.all_reduce(p.grad)\nif mean:\n    p.grad /= dist.get_world_size()",
        "they are averaged only where `mean` holds",
    ),
    "a copy": (
        "g = p.grad.clone()\ndist.all_reduce(g)\ng /= dist.get_world_size()",
        "an operation is applied that is not known to preserve averages",
    ),
    "gathered": (
        "rows = [torch.zeros_like(p) for _ in range(size)]\ndist.all_gather(rows, p.grad)",
        "they use all_gather, not all_reduce",
    ),
}
OFFSET = """\
flat = torch.cat([p.grad.view(-1) for p in model.parameters()])
dist.all_reduce(flat)
start = 0
for p in model.parameters():
    p.grad.copy_(flat[start : start + p.numel()].view_as(p) / dist.get_world_size())
    start += p.numel()
"""
BAD_BODIES = {
    "the last one": (
        "for p in model.parameters():\n    g = p.grad\ndist.all_reduce(g)\ng /= dist.get_world_size()",
        "it is not seen that all_reduce gets each gradient of a model as it is",
    ),
    "never copied back": (
        "grads = [p.grad for p in model.parameters()]\nflat = _flatten_dense_tensors(grads)\n"
        "dist.all_reduce(flat)\nflat /= dist.get_world_size()",
        "the sums are not copied back into the gradients",
    ),
    "copied back too early": (
        "grads = [p.grad for p in model.parameters()]\nflat = _flatten_dense_tensors(grads)\n"
        "dist.all_reduce(flat)\nfor g, new in zip(grads, _unflatten_dense_tensors(flat, grads)):\n"
        "    g.copy_(new)\nflat /= dist.get_world_size()",
        "the sum is never divided by the world size",
    ),
    "once for each": (
        "grads = [p.grad for p in model.parameters()]\nflat = _flatten_dense_tensors(grads)\n"
        "for p in model.parameters():\n    dist.all_reduce(flat)\nflat /= dist.get_world_size()",
        "how often this is done to each gradient is not known",
    ),
    "some of a list": (
        "grads = [p.grad for p in model.parameters() if p.dim() > 1]\nfor g in grads:\n"
        "    dist.all_reduce(g)\n    g /= dist.get_world_size()",
        "only some of the parameters are used",
    ),
    "another model's, too": (
        "for p in model.parameters():\n    dist.all_reduce(p.grad)\nfor p in other.parameters():\n"
        "    p.grad /= dist.get_world_size()",
        "the parameters of several models are averaged together",
    ),
    "a count that is kept": (
        "for p in model.parameters():\n    dist.all_reduce(p.grad)\n    p.grad /= dist.get_world_size()\n"
        "args.often += 1",
        "an operation is applied that is not known to preserve averages",
    ),
    "at an offset that stays": (
        OFFSET.replace("    start += p.numel()\n", ""),
        "the offset does not move, and all get the same numbers",
    ),
    "at an offset that begins again": (
        OFFSET.replace("start = 0\n", "").replace(
            "parameters():\n    p", "parameters():\n    start = 0\n    p"
        ),
        "an operation is applied that is not known to preserve averages",
    ),
    "at an offset that is moved first": (
        OFFSET.replace("    start += p.numel()\n", "").replace(
            "    p.grad", "    start += p.numel()\n    p.grad"
        ),
        "an operation is applied that is not known to preserve averages",
    ),
    "at an offset that is moved too far": (
        OFFSET.replace("+= p.numel()", "+= p.numel() + 1"),
        "an operation is applied that is not known to preserve averages",
    ),
    "at an offset that is moved for all": (
        OFFSET.replace("    p.grad.copy_", "    if p.requires_grad:\n        p.grad.copy_"),
        "an operation is applied that is not known to preserve averages",
    ),
    "at an offset, of others": (
        OFFSET.replace("parameters()])", "parameters() if p.grad is not None])"),
        "an operation is applied that is not known to preserve averages",
    ),
    "at an offset, a sum": (
        OFFSET.replace(" / dist.get_world_size()", ""),
        "the sum is never divided by the world size",
    ),
    "at an offset, twice": (
        OFFSET + "    p.grad.copy_(flat[start : start + p.numel()].view_as(p))\n    start += p.numel()\n",
        "an operation is applied that is not known to preserve averages",
    ),
    "end to end, twice": (
        OFFSET.replace(
            "start = 0", "other = torch.cat([p.grad.view(-1) for p in model.parameters()])\nstart = 0"
        ),
        "they are concatenated more than once",
    ),
    "left before": (
        "return\nfor p in model.parameters():\n    dist.all_reduce(p.grad, op=dist.ReduceOp.AVG)",
        "an operation is applied that is not known to preserve averages",
    ),
    "a result": (
        "for p in model.parameters():\n    dist.all_reduce(p.grad)\n    p.grad /= dist.get_world_size()\n"
        "return model",
        "an operation is applied that is not known to preserve averages",
    ),
}
BAD_LOOPS = {
    "sometimes": (
        "net(x).sum().backward()\nif i % args.often == 0:\n    average(net)\noptimizer.step()",
        "they are averaged only where `i % args.often == 0` holds",
    ),
    "on a flag of one rank": (
        "main = rank == 0\nnet(x).sum().backward()\nif main:\n    average(net)\noptimizer.step()",
        "they are averaged only where `main` holds",
    ),
    "after several": (
        "for part in x:\n    net(part).sum().backward()\naverage(net)\noptimizer.step()",
        "gradients of several backward passes accumulate before it",
    ),
    "after two": (
        "net(x).sum().backward()\nnet(x).mean().backward()\naverage(net)\noptimizer.step()",
        "after this backward pass they are not averaged",
    ),
    "after clipping": (
        "net(x).sum().backward()\ntorch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)\naverage(net)\n"
        "optimizer.step()",
        "something reads the gradients before they are averaged",
    ),
    "after the step": (
        "net(x).sum().backward()\noptimizer.step()\naverage(net)",
        "more is done to gradients or steps",
    ),
    "unless it leaves": (
        "net(x).sum().backward()\nif x.isnan().any():\n    continue\naverage(net)\noptimizer.step()",
        "the code that follows is skipped on some paths from the backward pass",
    ),
    "with something else in between": (
        "net(x).sum().backward()\nif i:\n    pass\nelse:\n    average(net)\noptimizer.step()",
        "there is no backward pass above it in the same block",
    ),
    "another model's": (
        "(net(x) + other(x)).sum().backward()\naverage(other)\noptimizer.step()",
        "the optimizer of these parameters was not found",
    ),
    "read afterwards": (
        "net(x).sum().backward()\nif size > 1:\n    grads = [p.grad for p in net.parameters()]\n"
        "    for g in grads:\n        dist.all_reduce(g)\n        g /= size\n"
        "optimizer.step()\nprint(sum(g.norm() for g in grads))",
        "`grads`, which they set, is read here",
    ),
    "handed on": (
        "net(x).sum().backward()\naverage(net)\nnet.apply(average)\noptimizer.step()",
        "it is passed on here, to be called elsewhere",
    ),
    "not always": (
        "net(x).sum().backward()\nif i:\n    optimizer.step()\nnet(x).mean().backward()\naverage(net)\n"
        "optimizer.step()",
        "after this backward pass they are not averaged",
    ),
}


def kept(plan: Plan) -> str:
    """Why HVD904 leaves it as it is: as collectives of Horovod, and no optimizer averages beside them."""
    found = [finding for finding in plan.findings if finding.rule == "HVD904"]
    assert found and plan.changed and not any(program.refused for program in plan.programs)
    assert not any("DistributedOptimizer" in file.after for file in plan.files)
    return " ".join(finding.advice for finding in found)


@pytest.mark.parametrize(("body", "reason"), BAD_HELPERS.values(), ids=BAD_HELPERS.keys())
def test_what_is_done_to_each(body: str, reason: str, tmp_path: Path) -> None:
    inside = indent(body, "        ")
    helper = f"def average(model):\n    for p in model.parameters():\n{inside}\n"
    assert reason in kept(plan_of(tmp_path, helper))


@pytest.mark.parametrize(("body", "reason"), BAD_BODIES.values(), ids=BAD_BODIES.keys())
def test_what_is_done_to_all(body: str, reason: str, tmp_path: Path) -> None:
    assert reason in kept(plan_of(tmp_path, f"def average(model):\n{indent(body, '    ')}\n"))


@pytest.mark.parametrize(("loop", "reason"), BAD_LOOPS.values(), ids=BAD_LOOPS.keys())
def test_when_it_is_done(loop: str, reason: str, tmp_path: Path) -> None:
    assert reason in kept(plan_of(tmp_path, loop=loop))


def test_what_cannot_be_written_is_refused(tmp_path: Path) -> None:
    """The process group would be gone, and a call that asks for it would stay."""
    reduced = "dist.all_reduce(p.grad, group=dist.new_group([0, 1]))"
    plan = plan_of(tmp_path, f"def average(model):\n    for p in model.parameters():\n        {reduced}\n")
    (said,) = (finding.message for finding in plan.findings if finding.rule == "HVD904")
    assert "it works on a group of ranks that is not known to be a process set" in said
    assert not plan.changed and all(program.refused for program in plan.programs)


def test_an_optimizer_of_more_than_is_averaged(tmp_path: Path) -> None:
    trained = "[*net.parameters(), *other.parameters()]"
    loop = "(net(x) + other(x)).sum().backward()\naverage(net)\noptimizer.step()"
    assert "this optimizer also trains other parameters" in kept(plan_of(tmp_path, AVERAGE, loop, trained))


def test_two_models_of_one_optimizer(tmp_path: Path) -> None:
    trained = "[*net.parameters(), *other.parameters()]"
    loop = "(net(x) + other(x)).sum().backward()\naverage(net)\naverage(other)\noptimizer.step()"
    (file,) = plan_of(tmp_path, AVERAGE, loop, trained).files
    assert "average(" not in file.after and "HVD904" not in {finding.rule for finding in file.findings}


def test_a_rule_that_is_switched_off(tmp_path: Path) -> None:
    plan_of(tmp_path)
    plan = make_plan([tmp_path], Options(ignore=("HVD412",)))
    assert "this is excluded from rewriting" in kept(plan)


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
    (file,) = make_plan([tmp_path], Options()).files
    assert "self.average()" not in file.after and "HVD904" not in {f.rule for f in file.findings}
    assert "hvd.broadcast_parameters(self.model.state_dict(), root_rank=0)" in file.after
    assert [finding.advice[:44] for finding in file.findings if finding.rule == "HVD412"] == [
        "a parameter without a gradient was skipped; "
    ]


def test_a_closure(tmp_path: Path) -> None:
    after = changed(plan_of(tmp_path, "", CLOSURE))
    assert "all_reduce" not in after


def test_a_closure_that_adds_up(tmp_path: Path) -> None:
    loop = CLOSURE.replace("    loss.backward()", "    for part in loss, loss:\n        part.backward()")
    assert "gradients of several backward passes accumulate before it" in kept(plan_of(tmp_path, "", loop))


@pytest.mark.parametrize("name", ["averaged", "hooked"])
def test_the_fixtures_of_verify(name: str) -> None:
    """Launched, they are compared bit for bit in tests/verify/test_agree.py."""
    plan = make_plan([Path(__file__).parent.parent / "verify/fixtures" / name], Options())
    assert not plan.left and all("dist." not in file.after for file in plan.files)
    assert all(condition.state is not State.OPEN for condition in plan.programs[0].conditions)


HOOKS = (Path(__file__).parent.parent / "verify/fixtures/hooked/hooks.py").read_text()


def test_a_decorator(tmp_path: Path) -> None:
    assert "def average" in changed_but_kept(plan_of(tmp_path, "@torch.no_grad()" + AVERAGE))
    helper = "import sometimes\n\n@sometimes.every(4)" + AVERAGE
    assert "the effect of this decorator is not known" in kept(plan_of(tmp_path, helper))


def changed_but_kept(plan: Plan) -> str:
    """The text after a migration that keeps the helper, as any other function."""
    (file,) = plan.files
    assert {"HVD412"} <= {finding.rule for finding in file.findings}
    assert "average(net)" not in file.after and "hvd.allreduce_(p.grad, op=hvd.Sum)" in file.after
    return file.after


def test_one_of_two_functions(tmp_path: Path) -> None:
    other = "else:\n    def average(model):\n        pass\n"
    helper = f"if torch.cuda.is_available():{indent(AVERAGE, '    ')}{other}"
    assert "a different function may also run here" in kept(plan_of(tmp_path, helper))


SPAWNED = """\
import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def worker(rank, world, halves):
    dist.init_process_group("gloo", rank=rank, world_size=world)
    net = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    net(torch.randn(2, 4)).sum().backward()
    for p in net.parameters():
        dist.all_reduce(p.grad)
        p.grad /= {by}
    optimizer.step()


if __name__ == "__main__":
    world = 2
    mp.spawn(worker, args=(world, 2), nprocs=world)
"""


def test_the_number_of_processes_that_are_started(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SPAWNED.format(by="world"))
    assert "all_reduce" not in changed(make_plan([tmp_path], Options()))


def test_another_number_of_the_same_value(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SPAWNED.format(by="halves"))
    assert "changed by something other than the world size" in kept(make_plan([tmp_path], Options()))


FLAG = """
def step(model, several):
    model(x).sum().backward()
    if several:
        average(model)
    optimizer.step()


step(net, {flag})
"""


def test_a_flag_that_is_passed(tmp_path: Path) -> None:
    assert "average(" not in changed(plan_of(tmp_path, loop=FLAG.format(flag="size > 1")))


def test_a_flag_that_is_never_anything_but_true(tmp_path: Path) -> None:
    loop = "args.averaging = True\n" + FLAG.format(flag="args.averaging")
    assert "average(" not in changed(plan_of(tmp_path, loop=loop))


@pytest.mark.parametrize("also", ["args.averaging = size", "args.averaging = False", "args.often = True"])
def test_a_flag_that_may_be_something_else(also: str, tmp_path: Path) -> None:
    flag = "args.often" if "often" in also else "args.averaging"
    loop = f"args.averaging = True\n{also}\n" + FLAG.format(flag=flag)
    assert "they are averaged only where `several` holds" in kept(plan_of(tmp_path, loop=loop))


def test_a_flag_that_is_another_setting(tmp_path: Path) -> None:
    found = kept(plan_of(tmp_path, loop=FLAG.format(flag="args.often")))
    assert "they are averaged only where `several` holds" in found


GIVEN = """
def average(params):
    for p in params:
        dist.all_reduce(p.grad)
        p.grad /= dist.get_world_size()
"""
LISTED = """
def average(params):
    grads = [p.grad.data for p in params if p.grad is not None]
    for g in grads:
        dist.all_reduce(g)
        g /= dist.get_world_size()
"""
TWICE = """
def average(params):
    for p in params:
        dist.all_reduce(p.grad)
    for p in params:
        p.grad /= dist.get_world_size()
"""


def test_parameters_that_are_passed(tmp_path: Path) -> None:
    loop = USED.replace("average(net)", "average(net.parameters())")
    assert "average(" not in changed(plan_of(tmp_path, GIVEN, loop))
    assert "average(" not in changed(plan_of(tmp_path, LISTED, loop))


def test_a_generator_is_gone_through_once(tmp_path: Path) -> None:
    loop = USED.replace("average(net)", "average(net.parameters())")
    assert "parameters() can be iterated only once" in kept(plan_of(tmp_path, TWICE, loop))


BAD_HOOKS = {
    "without a flag": (
        "if module.needs_average:\n            module.needs_average = False",
        "if True:\n            pass",
        "it is not seen that the hooks average once after each backward pass",
    ),
    "a flag that others read": (
        "\n    return module\n",
        "\n    return module\n\n\ndef off(module):\n    module.needs_average = False\n\n\nprint(off)\n",
        "the function around the hooks does something else here",
    ),
    "a sum": (
        "flat /= dist.get_world_size()",
        "pass",
        "the sum is never divided by the world size",
    ),
    "another hook": (
        "module.register_forward_hook(wait_for_backward)",
        "module.register_forward_hook(wait_for_backward)\n    module.register_forward_pre_hook(print)",
        "the function around the hooks does something else here",
    ),
    "another copy": (
        "dist.broadcast(value, 0)",
        "dist.broadcast(value, 0)\n        value.mul_(2)",
        "the function around the hooks does something else here",
    ),
    "not the types": (
        "for dtype in by_type:",
        "for dtype in list(by_type)[:1]:",
        "an operation is applied that is not known to preserve averages",
    ),
    "all for each type": (
        "grads = [param.grad.data for param in by_type[dtype]]",
        "grads = [param.grad.data for param in module.parameters()]",
        "all of the parameters are used again for each type",
    ),
}


@pytest.mark.parametrize(("old", "new", "reason"), BAD_HOOKS.values(), ids=BAD_HOOKS.keys())
def test_hooks_that_stay(old: str, new: str, reason: str, tmp_path: Path) -> None:
    assert HOOKS.count(old) == 1
    (tmp_path / "hooks.py").write_text(HOOKS.replace(old, new))
    text = PROGRAM.format(
        helper="from hooks import *",
        loop="    net(x).sum().backward()\n    optimizer.step()",
        trained="net.parameters()",
    )
    (tmp_path / "train.py").write_text(text.replace("other =", "net = average_by_hooks(net)\nother ="))
    assert reason in kept(make_plan([tmp_path], Options()))


def test_a_function_of_that_name_that_is_no_copy_of_torchs(tmp_path: Path) -> None:
    own = "def _flatten_dense_tensors(tensors):\n    return torch.cat([2 * t.view(-1) for t in tensors])\n\n"
    body = (
        "grads = [p.grad for p in model.parameters()]\nflat = _flatten_dense_tensors(grads)\n"
        "dist.all_reduce(flat)\nflat /= dist.get_world_size()\n"
        "for g, new in zip(grads, _unflatten_dense_tensors(flat, grads)):\n    g.copy_(new)"
    )
    average = f"def average(model):\n{indent(body, '    ')}\n"
    assert changed(plan_of(tmp_path, average))
    assert "is not known to preserve averages (train.py:12)" in kept(plan_of(tmp_path, own + average))


def test_variables_that_others_assign_to_as_well(tmp_path: Path) -> None:
    loop = dedent(LOOPS["inline"]) + "for p in net.parameters():\n    print(p.sum())\n"
    assert "print(p.sum())" in changed(plan_of(tmp_path, "", loop))


def test_a_function_of_the_project_that_lays_them_end_to_end(tmp_path: Path) -> None:
    """By whatever name: else all_reduce would be translated, and the optimizer average once more."""
    own = "def laid(tensors):\n    return torch.cat([2 * t.view(-1) for t in tensors])\n\n"
    average = HELPERS["end to end"].replace("flat = _flatten_dense_tensors", "flat = laid")
    assert "is not known to preserve averages" in kept(plan_of(tmp_path, own + dedent(average)))
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


def test_a_test_that_no_parameter_passes(tmp_path: Path) -> None:
    never = AVERAGE.replace(
        "        dist.all_reduce(p.grad)\n        p.grad /=",
        "        if type(p) is torch.Tensor:\n            dist.all_reduce(p.grad)\n            p.grad /=",
    )
    assert "with --suggested, they are averaged" in kept(plan_of(tmp_path, never))
    plan = make_plan([tmp_path], Options(suggested=True))
    (told,) = (f for f in plan.findings if f.rule == "HVD412" and "nothing was averaged" in f.message)
    assert told.applicability is Applicability.SUGGESTED and "def average" not in changed(plan)


def test_sums_in_another_precision_are_told(tmp_path: Path) -> None:
    """mellotron's copy of torch's function, with .float()."""
    own = """
        def _flatten_dense_tensors(tensors):
            if len(tensors) == 1:
                return tensors[0].contiguous().view(-1)
            flat = torch.cat([t.contiguous().view(-1).float() for t in tensors], dim=0)
            return flat
        """
    plan_of(tmp_path, dedent(own) + dedent(HELPERS["end to end"]))
    text = (tmp_path / "train.py").read_text()
    (tmp_path / "train.py").write_text(text.replace("import _flatten_dense_tensors, ", "import "))
    plan = make_plan([tmp_path], Options())
    assert "def average" not in changed(plan)
    (told,) = (finding.advice for finding in plan.findings if finding.rule == "HVD412" and finding.advice)
    assert told == "gradients in float16 were summed in float32; Horovod sums them in float16, as DDP does"


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
