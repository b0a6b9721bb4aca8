"""HVD205: DDP evaluates with rank 0's BatchNorm statistics on all ranks; Horovod has to be told to."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.launch.guards import Where, sometimes_alone, where_runs
from hvdkit.migrate.facts.launch.starts import started
from hvdkit.migrate.facts.models.buffers import (
    changed_in_training,
    evaluations,
    kept_apart,
    over_uneven_share,
)
from hvdkit.migrate.names import Names
from hvdkit.migrate.plan import Edit, Finding
from hvdkit.migrate.rule import Change, Keep, Rule


def check(facts: Facts) -> Iterator[Finding]:
    for names, call, receiver in evaluations(facts):
        if where_runs(facts, names, call, training=True) is not Where.ALL or _done(names, call):
            continue
        uneven = over_uneven_share(facts, names, call)
        if uneven or sometimes_alone(facts, names, call):
            message = "all ranks evaluate here, and elsewhere one rank alone: no place to send buffers"
            if uneven:
                message = "the ranks evaluate shares of different lengths here: no place to send buffers"
            advice = (
                f"call {facts.hvd(names)}.broadcast_parameters(dict(model.named_buffers()), root_rank=0) where "
                "all ranks run, before they evaluate a model with BatchNorm"
            )
            yield facts.manual("HVD205", names, call, message, advice)
        else:
            message = "rank 0's BatchNorm statistics go to all ranks before they evaluate, as DDP sends them"
            yield facts.safe("HVD205", names, call, message, _edit, facts, names, call, receiver)
    for names, call, buffer in changed_in_training(facts):
        message = f"training changes the buffer {buffer}: DDP sent rank 0's before each forward pass"
        advice = (
            "call hvd.broadcast_parameters(dict(model.named_buffers()), root_rank=0) before each forward pass, "
            "unless all ranks compute the same value"
        )
        yield facts.manual("HVD205", names, call, message, advice)
    for names, call, buffers in kept_apart(facts):
        message = f"training fills {' and '.join(buffers)} with samples: each rank would fill its own with its share"
        advice = (
            "put into it what hvd.allgather() gives of all ranks' values and indices, and send it by "
            "hvd.broadcast_parameters() once after it is made"
        )
        yield facts.manual("HVD205", names, call, message, advice)


def _edit(facts: Facts, names: Names, call: ast.Call, receiver: ast.expr) -> Edit:
    statement = names.statement(call)
    if isinstance(statement, ast.Expr) and statement.value is call:
        model = names.source.segment(receiver)
    elif isinstance(statement, ast.Assign) and statement.value is call:
        model = names.source.segment(statement.targets[0])
    else:
        raise edits.CannotEdit("eval() stands inside a larger expression")
    if any(isinstance(part, ast.Call) for part in ast.walk(ast.parse(model))):
        raise edits.CannotEdit("the model is the result of a call")
    hvd = facts.hvd(names)
    lines = [f"{hvd}.broadcast_parameters(dict({model}.named_buffers()), root_rank=0)"]
    if False in started(facts, names, call):  # another program that runs this never calls hvd.init()
        lines = [f"if {hvd}.is_initialized():", names.source.unit + lines[0]]
    return edits.after(names.source, statement, lines)


def _done(names: Names, call: ast.Call) -> bool:
    """Whether the statement below sends the buffers already."""
    below = edits.following(names, names.statement(call))
    return below is not None and ".named_buffers()" in names.source.segment(below)


RULE = Rule(
    id="HVD205",
    title="buffers that DDP kept equal",
    what=(
        "Broadcasts the buffers of a wrapped model after its eval(), where all ranks evaluate. Buffers that the "
        "model's own code changes while it trains are reported, and so are those that a program of one process fills "
        "with what it is given: memory banks, codebooks."
    ),
    why=(
        "DDP sends rank 0's buffers before each forward pass. In training, BatchNorm does not read its running "
        "statistics, and rank 0's are the same with Horovod; in evaluation the other ranks would use their own, "
        "and a metric averaged over the ranks would come out different."
    ),
    safety=(
        "Safe: the call stands where all ranks run. A model for which DDP had broadcast_buffers=False, one that was "
        "reached through .module, and code that one rank runs are left alone."
    ),
    check=check,
    changes=(
        Change(
            """\
            import torch
            from torchvision.models import resnet18
            from torch.nn.parallel import DistributedDataParallel as DDP

            def validate(net):
                net.eval()
                return net(x)

            model = DDP(resnet18())
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            loss.backward()
            validate(model)
            """,
            """\
            import horovod.torch as hvd
            import torch
            from torchvision.models import resnet18
            from torch.nn.parallel import DistributedDataParallel as DDP

            def validate(net):
                net.eval()
                hvd.broadcast_parameters(dict(net.named_buffers()), root_rank=0)
                return net(x)

            model = DDP(resnet18())
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            loss.backward()
            validate(model)
            """,
        ),
        Change(
            """\
            import torch
            from timm.models import create_model
            from timm.utils import NativeScaler
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(create_model("levit"))
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            scaler = NativeScaler()
            scaler(loss, optimizer)
            model.eval()
            """,
            """\
            import horovod.torch as hvd
            import torch
            from timm.models import create_model
            from timm.utils import NativeScaler
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(create_model("levit"))
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            scaler = NativeScaler()
            scaler(loss, optimizer)
            model.eval()
            hvd.broadcast_parameters(dict(model.named_buffers()), root_rank=0)
            """,
            note="timm's scaler runs the backward pass.",
        ),
        Change(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            class Net(torch.nn.Module):
                def __init__(self):
                    super().__init__()
                    self.norm = torch.nn.BatchNorm1d(2)

            model = DDP(Net())
            loss.backward()
            model = model.eval()
            """,
            """\
            import horovod.torch as hvd
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            class Net(torch.nn.Module):
                def __init__(self):
                    super().__init__()
                    self.norm = torch.nn.BatchNorm1d(2)

            model = DDP(Net())
            loss.backward()
            model = model.eval()
            hvd.broadcast_parameters(dict(model.named_buffers()), root_rank=0)
            """,
        ),
        Change(
            """\
            import torch
            import torch.distributed as dist
            from torchvision.models import resnet18
            from torch.nn.parallel import DistributedDataParallel as DDP

            def validate(net):
                net.eval()
                return net(x)

            def main():
                dist.init_process_group("nccl")
                model = DDP(resnet18())
                optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
                loss.backward()
                validate(model)

            if __name__ == "__main__":
                main()
            """,
            """\
            import horovod.torch as hvd
            import torch
            import torch.distributed as dist
            from torchvision.models import resnet18
            from torch.nn.parallel import DistributedDataParallel as DDP

            def validate(net):
                net.eval()
                if hvd.is_initialized():
                    hvd.broadcast_parameters(dict(net.named_buffers()), root_rank=0)
                return net(x)

            def main():
                dist.init_process_group("nccl")
                model = DDP(resnet18())
                optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
                loss.backward()
                validate(model)

            if __name__ == "__main__":
                main()
            """,
            note="Another script, which never starts Horovod, runs this function, too.",
            files=(
                ("test.py", "import torch\nfrom train import validate\n\nvalidate(torch.nn.Linear(2, 1))\n"),
            ),
        ),
    ),
    keeps=(
        Keep(
            """\
            import torch

            class Bank(torch.nn.Module):
                def __init__(self, count, size):
                    super().__init__()
                    self.register_buffer("memory", torch.randn(count, size))

                def forward(self, features, indices):
                    scores = self.memory @ features.t()
                    with torch.no_grad():
                        mixed = 0.5 * self.memory[indices] + 0.5 * features
                        self.memory.index_copy_(0, indices, mixed)
                    return scores

            bank = Bank(100, 8)
            loader = torch.utils.data.DataLoader(data)
            for x, indices in loader:
                loss = bank(model(x), indices).mean()
                loss.backward()
                optimizer.step()
            """,
            reason="each rank sees its share of the samples, and what it reads of the others is old",
            reported=True,
        ),
        Keep(
            """\
            import torch

            class Norm(torch.nn.modules.batchnorm._BatchNorm):
                def __init__(self, size):
                    super().__init__(size)
                    self.register_buffer("seen", torch.zeros(size))

                def forward(self, x):
                    self.seen.add_(x.sum(0).detach())
                    return super().forward(x)

            model = Norm(8)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for x in torch.utils.data.DataLoader(data):
                model(x).sum().backward()
                optimizer.step()
            """,
            reason="the statistics of a layer that normalizes are each rank's own under DDP, too",
        ),
        Keep(
            """\
            import torch

            class Noisy(torch.nn.Linear):
                def __init__(self, size):
                    super().__init__(size, size)
                    self.register_buffer("noise", torch.zeros(size))

                def renew(self):
                    self.noise.normal_()

                def forward(self, x):
                    self.renew()
                    return super().forward(x + self.noise)

            model = Noisy(8)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for x in batches:
                model(x).sum().backward()
                optimizer.step()
            """,
            reason="the noise is drawn anew, on each rank",
        ),
        Keep(
            """\
            import torch
            import torch.distributed as dist
            from torch.nn.parallel import DistributedDataParallel as DDP

            class Predictor:
                def __init__(self, network):
                    self.network = network

                def predict(self, case):
                    self.network.eval()
                    return self.network(case)

            dist.init_process_group("nccl")
            model = DDP(torch.nn.BatchNorm1d(2))
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            model(x).sum().backward()
            optimizer.step()
            predictor = Predictor(model)
            cases = cases[dist.get_rank() :: dist.get_world_size()]
            for case in cases:
                predictor.predict(case)
            """,
            reason="of seven cases one of two ranks has four: it would wait for the other one for ever",
            reported=True,
        ),
        Keep(
            """\
            import torch

            def evaluate(model):
                model.eval()
                print(model(torch.ones(2, 2)))

            def main():
                evaluate(torch.load("model.pt"))

            if __name__ == "__main__":
                main()
            """,
            reason="rank 0 of the training evaluates by it, alone; who runs this file has one process",
            files=(
                (
                    "job.py",
                    "import torch\n"
                    "from train import evaluate\n"
                    "from torch.nn.parallel import DistributedDataParallel as DDP\n\n"
                    "torch.distributed.init_process_group('nccl')\n"
                    "model = DDP(torch.nn.BatchNorm1d(2))\n"
                    "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
                    "for x in loader:\n    model(x).sum().backward()\n    optimizer.step()\n"
                    "if torch.distributed.get_rank() == 0:\n    evaluate(model)\n",
                ),
            ),
        ),
        Keep(
            """\
            import torch
            import torch.distributed as dist
            from torch.nn.parallel import DistributedDataParallel as DDP

            def gather(tensor):
                parts = [torch.ones_like(tensor) for _ in range(dist.get_world_size())]
                dist.all_gather(parts, tensor)
                output = torch.cat(parts, dim=0)
                return output

            def add(tensor):
                if dist.get_world_size() == 1:
                    return tensor
                dist.all_reduce(tensor)
                return tensor

            class Net(torch.nn.Module):
                def __init__(self):
                    super().__init__()
                    self.size = 64
                    self.register_buffer("queue", torch.randn(2, 64))
                    self.register_buffer("place", torch.zeros(1))
                    self.register_buffer("counts", torch.zeros(2))

                def enqueue(self, keys):
                    keys = gather(keys)
                    place = int(self.place)
                    self.queue[:, place : place + keys.shape[0]] = keys.T
                    place = (place + keys.shape[0]) % self.size
                    self.place[0] = place

                def forward(self, x):
                    self.enqueue(x)
                    if self.training:
                        counts = x.sum(0)
                        add(counts)
                        self.counts.data.mul_(0.9).add_(counts, alpha=0.1)
                    return x @ self.queue

            model = DDP(Net())
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            loss.backward()
            """,
            reason="every rank puts the same into the queue: what was gathered, or added up",
        ),
        Keep(
            """\
            import torch
            import torch.distributed as dist
            from torch.nn.parallel import DistributedDataParallel as DDP

            class Net(torch.nn.Module):
                def __init__(self):
                    super().__init__()
                    self.register_buffer("queue", torch.randn(2, 64))

                def forward(self, x):
                    parts = [torch.ones_like(x) for _ in range(dist.get_world_size())]
                    dist.all_gather(parts, x)
                    keys = torch.cat(parts)
                    keys[0] = x[0]
                    self.queue[:, : keys.shape[0]] = keys.T
                    return x

            model = DDP(Net())
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            loss.backward()
            """,
            reason="part of what goes into the queue is each rank's own",
            reported=True,
        ),
        Keep(
            """\
            import torch
            import torch.distributed as dist
            from torchvision.models import resnet18
            from torch.nn.parallel import DistributedDataParallel as DDP

            local_rank = dist.get_rank() % args.gpus
            rank = local_rank + args.node * args.gpus
            model = DDP(resnet18())
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            loss.backward()
            if rank == 0:
                model.eval()
            """,
            reason="one rank evaluates; the number of a process in its node, and the node's, make its rank",
        ),
        Keep(
            """\
            import torch
            import torch.distributed as dist
            from torchvision.models import resnet18
            from torch.nn.parallel import DistributedDataParallel as DDP

            def validate(net):
                net.eval()
                return net(x)

            model = DDP(resnet18())
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            loss.backward()
            validate(model)
            if dist.get_rank() == 0:
                validate(best)
            """,
            reason="one rank alone would wait for the others for ever",
            reported=True,
        ),
        Keep(
            """\
            import torch
            import torch.distributed as dist
            from library import registry
            from torchvision.models import resnet18
            from torch.nn.parallel import DistributedDataParallel as DDP

            class Solver:
                def __init__(self, options):
                    self.options = options
                    self.net = DDP(resnet18())

                def validate(self):
                    if self.options["rank"] == 0:
                        self.test()

            @registry.register()
            class Special(Solver):
                def __init__(self, options):
                    super().__init__(options)

                def test(self):
                    self.net.eval()

            default = Solver(library.read())
            options = library.read()
            options["rank"] = dist.get_rank()
            registry.get(options["kind"])(options).validate()
            loss.backward()
            """,
            reason="the base class runs what its subclass has, on rank 0, as the options hold it",
        ),
        Keep(
            """\
            import torch
            from torchvision.models import resnet18
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(resnet18(), broadcast_buffers=False)
            loss.backward()
            model.eval()
            """,
            reason="DDP was told not to",
        ),
        Keep(
            """\
            import torch
            from torchvision.models import resnet18
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(resnet18())
            loss.backward()
            model.module.eval()
            """,
            reason="DDP sends nothing when the model inside is called",
        ),
        Keep(
            """\
            import torch
            import torch.distributed as dist
            from torchvision.models import resnet18
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(resnet18())
            loss.backward()
            if dist.get_rank() == 0:
                model.eval()
            """,
            reason="rank 0 evaluates with its own",
        ),
        Keep(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(torch.nn.Linear(2, 1))
            loss.backward()
            model.eval()
            """,
            reason="a linear layer has no buffers",
        ),
        Keep(
            """\
            import torch
            from torchvision.models import resnet18
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(resnet18())
            model.eval()
            """,
            reason="the program does not train: all ranks have the buffers that they loaded",
        ),
        Keep(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            class Queue(torch.nn.Module):
                def __init__(self):
                    super().__init__()
                    self.register_buffer("queue", torch.zeros(8))

                def forward(self, x):
                    self.queue[:2] = x
                    return self.queue

            model = DDP(Queue())
            loss.backward()
            """,
            reason="the forward pass reads what it wrote: who has to agree is the model's business",
            reported=True,
        ),
        Keep(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            class Loss(torch.nn.Module):
                def __init__(self):
                    super().__init__()
                    self.register_buffer("center", torch.zeros(1))

                def forward(self, x):
                    self.center = self.center * 0.9 + x.mean() * 0.1
                    return x - self.center

            loss = Loss()
            model = DDP(torch.nn.Linear(2, 1))
            loss(model(x)).sum().backward()
            """,
            reason="the loss stands beside the model, and DDP sent nothing of it",
        ),
        Keep(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            class Positions(torch.nn.Module):
                def __init__(self):
                    super().__init__()
                    self.register_buffer("table", torch.empty(8))
                    self.table[0] = 1
                    self.fill()

                def fill(self):
                    self.table.copy_(torch.arange(8))

                def forward(self, x):
                    return x + self.table.float()

            model = DDP(Positions())
            loss.backward()
            """,
            reason="the buffer is a constant, which only the constructor fills",
        ),
    ),
)
