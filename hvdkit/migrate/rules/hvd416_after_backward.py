"""HVD416: where no optimizer can average, gradients are averaged right after backward(), as DDP does."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.collective_edits import fresh
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.after_backward import Pass, after_backward, averaged_below
from hvdkit.migrate.plan import Edit, Finding
from hvdkit.migrate.rule import Change, Keep, Rule

MESSAGE = "the gradients are averaged here, after backward(), as DDP does: the optimizer is left as it is"
KNOW = (
    "every rank waits here for all gradients, while hvd.DistributedOptimizer would send the first ones during "
    "backward(): an optimizer of torch.optim, made from model.parameters(), is faster"
)


def check(facts: Facts) -> Iterator[Finding]:
    for each in after_backward(facts).passes:
        if averaged_below(facts, each.names, each.call):
            continue
        yield facts.required("HVD416", each.names, each.call, MESSAGE, _edit, facts, each).knowing(KNOW)


def _edit(facts: Facts, each: Pass) -> Edit:
    names, hvd = each.names, facts.hvd(each.names)
    handles, handle = fresh(names, "handles"), fresh(names, "handle")
    over = f"for p in {each.models[0]}.parameters()"
    if len(each.models) > 1:
        over = f"for m in ({', '.join(each.models)}) for p in m.parameters()"
    lines = []
    if each.unlike:
        trained, anywhere = fresh(names, "trained"), fresh(names, "anywhere")
        param, used = fresh(names, "param"), fresh(names, "used")
        lines = [
            f"{trained} = [p {over} if p.requires_grad]",
            f"{anywhere} = map(any, zip(*{hvd}.allgather_object([p.grad is not None for p in {trained}])))",
            f"for {param}, {used} in zip({trained}, {anywhere}):",
            f"\tif {used} and {param}.grad is None:",
            f"\t\t{param}.grad = {param}.new_zeros({param}.shape)",
        ]
        over = f"for p in {trained}"
    lines += [
        f"{handles} = [{hvd}.allreduce_async_(p.grad, op={hvd}.Average) {over} if p.grad is not None]",
        f"for {handle} in {handles}:",
        f"\t{hvd}.synchronize({handle})",
    ]
    return edits.after(names.source, names.statement(each.call), lines)


RULE = Rule(
    id="HVD416",
    title="gradients are averaged after backward()",
    what=(
        "Where DDP wraps a model and the optimizer that trains it cannot be wrapped, since it is not found, is made by "
        "another library, or steps copies of the parameters, averages the gradients of the model's parameters right "
        "after each backward() in which DDP did, and leaves the optimizer as it is."
    ),
    why=(
        "This is what DDP does, said literally: when backward() returns, every gradient of the model is the average "
        "over the ranks. It asks nothing of the optimizer. Without it the program would be refused (HVD905)."
    ),
    safety=(
        "Safe: only where every backward pass of the model is found, the model has a name there, and all ranks have "
        "the same gradients. Passes that add up may each be averaged: the average of an average is itself. With two "
        "ranks in float32 the weights are bit-identical. It is slower than hvd.DistributedOptimizer, which is told."
    ),
    check=check,
    changes=(
        Change(
            """\
            import torch
            from somewhere import make_optimizer
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(torch.nn.Linear(2, 1))
            optimizer = make_optimizer(model)
            for x in batches:
                optimizer.zero_grad()
                model(x).sum().backward()
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
            """,
            """\
            import horovod.torch as hvd
            import torch
            from somewhere import make_optimizer
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(torch.nn.Linear(2, 1))
            optimizer = make_optimizer(model)
            for x in batches:
                optimizer.zero_grad()
                model(x).sum().backward()
                handles = [hvd.allreduce_async_(p.grad, op=hvd.Average) for p in model.parameters() if p.grad is not None]
                for handle in handles:
                    hvd.synchronize(handle)
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
            """,
            note="Only this rule: HVD201 takes DDP away.",
        ),
        Change(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(torch.nn.Linear(2, 1).half())
            masters = [p.detach().clone().float() for p in model.parameters()]
            optimizer = torch.optim.SGD(masters, lr=0.1)
            for x in batches:
                model(x).sum().backward()
                for master, p in zip(masters, model.parameters()):
                    master.grad = p.grad.float()
                optimizer.step()
            """,
            """\
            import horovod.torch as hvd
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(torch.nn.Linear(2, 1).half())
            masters = [p.detach().clone().float() for p in model.parameters()]
            optimizer = torch.optim.SGD(masters, lr=0.1)
            for x in batches:
                model(x).sum().backward()
                handles = [hvd.allreduce_async_(p.grad, op=hvd.Average) for p in model.parameters() if p.grad is not None]
                for handle in handles:
                    hvd.synchronize(handle)
                for master, p in zip(masters, model.parameters()):
                    master.grad = p.grad.float()
                optimizer.step()
            """,
            note="Master copies: they get the averages.",
        ),
        Change(
            """\
            import torch
            from somewhere import make_optimizer
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(torch.nn.Linear(2, 1), find_unused_parameters=True)
            optimizer = make_optimizer(model)
            model(x).sum().backward()
            optimizer.step()
            """,
            """\
            import horovod.torch as hvd
            import torch
            from somewhere import make_optimizer
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(torch.nn.Linear(2, 1), find_unused_parameters=True)
            optimizer = make_optimizer(model)
            model(x).sum().backward()
            trained = [p for p in model.parameters() if p.requires_grad]
            anywhere = map(any, zip(*hvd.allgather_object([p.grad is not None for p in trained])))
            for param, used in zip(trained, anywhere):
                if used and param.grad is None:
                    param.grad = param.new_zeros(param.shape)
            handles = [hvd.allreduce_async_(p.grad, op=hvd.Average) for p in trained if p.grad is not None]
            for handle in handles:
                hvd.synchronize(handle)
            optimizer.step()
            """,
            note="A parameter that some rank used gets a gradient on all; one that no rank used stays without, as in DDP.",
        ),
        Change(
            """\
            import torch
            from apex import amp
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = torch.nn.Linear(2, 1)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            model, optimizer = amp.initialize(model, optimizer, opt_level="O2")
            model = DDP(model)
            for x in batches:
                with amp.scale_loss(model(x).sum(), optimizer) as scaled_loss:
                    scaled_loss.backward()
                optimizer.step()
            """,
            """\
            import horovod.torch as hvd
            import torch
            from apex import amp
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = torch.nn.Linear(2, 1)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            model, optimizer = amp.initialize(model, optimizer, opt_level="O2")
            model = DDP(model)
            for x in batches:
                with amp.scale_loss(model(x).sum(), optimizer) as scaled_loss:
                    scaled_loss.backward()
                    handles = [hvd.allreduce_async_(p.grad, op=hvd.Average) for p in model.parameters() if p.grad is not None]
                    for handle in handles:
                        hvd.synchronize(handle)
                optimizer.step()
            """,
            note="apex unscales averages when the `with` ends, and steps its own copies of the parameters.",
        ),
        Change(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(torch.nn.Linear(2, 1))
            model(x).sum().backward()
            print(model.module.weight.grad)
            """,
            """\
            import horovod.torch as hvd
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(torch.nn.Linear(2, 1))
            model(x).sum().backward()
            handles = [hvd.allreduce_async_(p.grad, op=hvd.Average) for p in model.parameters() if p.grad is not None]
            for handle in handles:
                hvd.synchronize(handle)
            print(model.module.weight.grad)
            """,
            note="A test of DDP itself: it reads averages.",
        ),
        Change(
            """\
            import torch
            from somewhere import make_optimizers
            from torch.nn.parallel import DistributedDataParallel as DDP

            class Trainer:
                def __init__(self, encoder, decoder):
                    self.encoder, self.decoder = DDP(encoder), DDP(decoder)
                    self.optimizers = make_optimizers(self.encoder, self.decoder)

                def step(self, x):
                    self.decoder(self.encoder(x)).sum().backward()
                    for optimizer in self.optimizers:
                        optimizer.step()

            Trainer(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)).step(x)
            """,
            """\
            import horovod.torch as hvd
            import torch
            from somewhere import make_optimizers
            from torch.nn.parallel import DistributedDataParallel as DDP

            class Trainer:
                def __init__(self, encoder, decoder):
                    self.encoder, self.decoder = DDP(encoder), DDP(decoder)
                    self.optimizers = make_optimizers(self.encoder, self.decoder)

                def step(self, x):
                    self.decoder(self.encoder(x)).sum().backward()
                    handles = [hvd.allreduce_async_(p.grad, op=hvd.Average) for m in (self.decoder, self.encoder) for p in m.parameters() if p.grad is not None]
                    for handle in handles:
                        hvd.synchronize(handle)
                    for optimizer in self.optimizers:
                        optimizer.step()

            Trainer(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)).step(x)
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(torch.nn.Linear(2, 1)).eval()
            x = torch.ones(1, 2, requires_grad=True)
            x.register_hook(print)
            model(x).sum().backward()
            """,
            reason="nobody asks for the gradients of the parameters",
        ),
        Keep(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(torch.nn.Linear(2, 1))
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            model(x).sum().backward()
            optimizer.step()
            """,
            reason="the optimizer is known, and averages while backward() runs",
        ),
        Keep(
            """\
            import torch
            from somewhere import make_optimizer
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(torch.nn.Embedding(10, 2, sparse=True))
            optimizer = make_optimizer(model)
            model(x).sum().backward()
            optimizer.step()
            """,
            reason="sparse gradients have no place to be averaged in",
        ),
        Keep(
            """\
            import torch
            from somewhere import make_optimizer
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(torch.nn.Linear(2, 1), process_group=torch.distributed.new_group([0, 1]))
            optimizer = make_optimizer(model)
            model(x).sum().backward()
            optimizer.step()
            """,
            reason="DDP averages over some of the ranks",
        ),
        Keep(
            """\
            import torch
            from somewhere import make_optimizer
            from torch.nn.parallel import DistributedDataParallel as DDP

            def train(model, backward):
                optimizer = make_optimizer(model)
                backward(model(x).sum())
                optimizer.step()

            train(DDP(torch.nn.Linear(2, 1)), lambda loss: loss.backward())
            """,
            reason="where backward() is called the model has no name",
        ),
    ),
)
