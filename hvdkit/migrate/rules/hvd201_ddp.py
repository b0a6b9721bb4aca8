"""HVD201: DDP(model) becomes the model, and its broadcast of rank 0's weights becomes Horovod's."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts import vocabulary as words
from hvdkit.migrate.facts.models.wraps import (
    MAY_BE_UNUSED,
    Wrap,
    changes_average,
    chosen_wraps,
    core,
    find_wraps,
)
from hvdkit.migrate.facts.optimizers.after_backward import after_backward
from hvdkit.migrate.facts.values.arguments import is_on, keyword
from hvdkit.migrate.plan import Edit, Finding
from hvdkit.migrate.rule import Change, Keep, Rule
from hvdkit.migrate.wrapping import broadcast_line, take_away

# What a person writes in place of an argument that says what is averaged.
INSTEAD = {
    "process_group": "give the optimizer process_set=hvd.add_process_set(ranks) for the ranks of this group",
    "device_mesh": "give the optimizer process_set=hvd.add_process_set(ranks) for the ranks of this mesh",
    "param_to_hook_all_reduce": "let the optimizer average all parameters, or leave those out of it",
    "delay_all_reduce_named_params": "let the optimizer average all parameters, or leave those out of it",
    "mixed_precision": "use torch.autocast around the forward pass",
    "gradient_average": "give the optimizer op=hvd.Sum",
}
PREDIVIDED = (
    "gradient_predivide_factor: apex divided by it before it added the gradients up, and by the rest afterwards, which "
    "is the average; where gradients in float16 overflow, give hvd.DistributedOptimizer gradient_predivide_factor="
)
UNUSED = (
    "a parameter that no rank used in a step kept no gradient under DDP, and the "
    "optimizer passed it by; Horovod gives it zeros, so that momentum and weight decay go on moving it. Where "
    "that matters, give such parameters requires_grad_(False) while they take no part"
)
CHOSEN = (
    "this may call DDP, whose class is chosen or handed on: it needs a process group that no longer exists"
)
CHOSEN_ADVICE = (
    "leave DDP out of what is chosen, keep the model itself, and call "
    "hvd.broadcast_parameters(model.state_dict(), root_rank=0) here"
)
BY_NAME = (
    "call DDP by its name where it is wanted, `if distributed: model = DDP(model)`, and run hvdkit migrate again: "
    "with the model known, the gradients are averaged without the optimizer, too"
)


def check(facts: Facts) -> Iterator[Finding]:
    for names, call in chosen_wraps(facts):
        programs = [program for program in facts.programs if program.migrates and names in program.files]
        if any(not any(o.names in program.files for o in facts.optimizers) for program in programs):
            yield facts.refused("HVD201", names, call, f"{CHOSEN}; and no optimizer was found", BY_NAME)
        elif programs:
            yield facts.manual("HVD201", names, call, CHOSEN, CHOSEN_ADVICE)
    for wrap in find_wraps(facts):
        if wrap.name not in words.DDP:
            continue
        names, call = wrap.names, wrap.node
        if wrap.inner is None or isinstance(wrap.inner, ast.Starred):
            advice = (
                "take the DDP call away and call hvd.broadcast_parameters(model.state_dict(), root_rank=0)"
            )
            message = "DDP gets its model in a way that cannot be followed"
            yield facts.manual("HVD201", names, call, message, advice)
            continue
        lost = changes_average(wrap)
        if lost:
            advice = f"take DDP away, broadcast the model from rank 0, and {INSTEAD[lost]}"
            yield facts.manual("HVD201", names, call, f"DDP's {lost} changes what is averaged", advice)
            continue
        message = "DDP goes; rank 0's parameters and buffers are broadcast where DDP did it"
        finding = facts.safe("HVD201", names, call, message, _edits, facts, wrap)
        unused = next((name for name in MAY_BE_UNUSED if is_on(keyword(call, name))), None)
        unused = None if call in after_backward(facts).wraps else unused  # HVD416 leaves such a gradient out
        divided = keyword(call, "gradient_predivide_factor") is not None
        yield finding.knowing(f"{unused}: {UNUSED}" if unused else PREDIVIDED if divided else "")


def _edits(facts: Facts, wrap: Wrap) -> list[Edit]:
    assert wrap.inner is not None
    inner = core(facts, wrap.names, wrap.inner)

    def lines(model: str) -> list[str]:
        return [broadcast_line(facts, wrap, model)]

    return take_away(wrap.names, wrap.node, wrap.inner, inner, lines)


RULE = Rule(
    id="HVD201",
    title="DDP is removed",
    what="Takes DistributedDataParallel (torch's or apex's) away and broadcasts the model at the same place.",
    why=(
        "Horovod averages gradients in the optimizer. DDP needs a process group that no longer exists, and with "
        "both, gradients would be averaged twice. DDP's constructor also sends rank 0's parameters and buffers "
        "to all ranks; the broadcast keeps that, at the same point of the program. Devices, buckets, "
        "static_graph and gradient_as_bucket_view have nothing to say in Horovod; an argument that changes what "
        "is averaged (process_group, mixed_precision, apex's gradient_average) leaves the call to the person."
    ),
    safety=(
        "Safe: same average, same start. With two ranks in float32 the weights are bit-identical. One difference "
        "is told: with find_unused_parameters, or apex's delay_allreduce, what no rank used in a step had no "
        "gradient, and has zeros now."
    ),
    check=check,
    changes=(
        Change(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            class Trainer:
                def __init__(self):
                    for name in ("encoder", "decoder"):
                        setattr(self, name, DDP(getattr(self, name), device_ids=[0]))
            """,
            """\
            import horovod.torch as hvd
            import torch

            class Trainer:
                def __init__(self):
                    for name in ("encoder", "decoder"):
                        hvd.broadcast_parameters(getattr(self, name).state_dict(), root_rank=0)
            """,
            note="A model that is set again under a name that is computed.",
        ),
        Change(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = torch.nn.Linear(2, 1)
            model = DDP(model, device_ids=[0])  # one device per process
            """,
            """\
            import horovod.torch as hvd
            import torch

            model = torch.nn.Linear(2, 1)
            hvd.broadcast_parameters(model.state_dict(), root_rank=0)  # one device per process
            """,
        ),
        Change(
            """\
            import torch

            class Trainer:
                def __init__(self, net):
                    self.model = torch.nn.parallel.DistributedDataParallel(net.cuda(), find_unused_parameters=True)
            """,
            """\
            import horovod.torch as hvd

            class Trainer:
                def __init__(self, net):
                    self.model = net.cuda()
                    hvd.broadcast_parameters(self.model.state_dict(), root_rank=0)
            """,
        ),
        Change(
            """\
            from torch.nn.parallel import DistributedDataParallel

            def wrap(net, gpu):
                return DistributedDataParallel(net, device_ids=[gpu])
            """,
            """\
            import hvdkit.torch as hvd

            def wrap(net, gpu):
                hvd.broadcast(net)
                return net
            """,
            target="hvdkit",
        ),
        Change(
            """\
            from apex.parallel import DistributedDataParallel as DDP

            def build(arch, gpu):
                return DDP(arch().cuda(gpu), delay_allreduce=True)
            """,
            """\
            import horovod.torch as hvd

            def build(arch, gpu):
                model = arch().cuda(gpu)
                hvd.broadcast_parameters(model.state_dict(), root_rank=0)
                return model
            """,
            note="A returned model gets a name, to be broadcast before it is returned.",
        ),
        Change(
            """\
            from torch.nn.parallel import DistributedDataParallel as DDP

            generator = DDP(generator, device_ids=[rank]).to(device)
            models = {"g": DDP(g), "d": DDP(d, broadcast_buffers=False)}
            a, b = DDP(a), DDP(b)
            """,
            """\
            import horovod.torch as hvd

            generator = generator.to(device)
            hvd.broadcast_parameters(generator.state_dict(), root_rank=0)
            models = {"g": g, "d": d}
            hvd.broadcast_parameters(models["g"].state_dict(), root_rank=0)
            hvd.broadcast_parameters(models["d"].state_dict(), root_rank=0)
            a, b = a, b
            hvd.broadcast_parameters(a.state_dict(), root_rank=0)
            hvd.broadcast_parameters(b.state_dict(), root_rank=0)
            """,
        ),
        Change(
            """\
            from torch.nn.parallel import DistributedDataParallel as DDP

            stages = [DDP(stage.cuda()) for stage in build()]
            heads = {name: DDP(head) for name, head in more()}
            """,
            """\
            import horovod.torch as hvd

            stages = [stage.cuda() for stage in build()]
            for model in stages:
                hvd.broadcast_parameters(model.state_dict(), root_rank=0)
            heads = {name: head for name, head in more()}
            for model in heads.values():
                hvd.broadcast_parameters(model.state_dict(), root_rank=0)
            """,
        ),
        Change(
            """\
            from torch.nn.parallel import DistributedDataParallel as DDP

            net = DDP(net) if args.distributed else net
            other = DDP(make()) if world > 1 else make()
            """,
            """\
            import horovod.torch as hvd

            hvd.broadcast_parameters(net.state_dict(), root_rank=0)
            other = make() if world > 1 else make()
            hvd.broadcast_parameters(other.state_dict(), root_rank=0)
            """,
            note="In a program that is not distributed there is one rank, and nothing is sent.",
        ),
        Change(
            """\
            from torch.nn.parallel import DistributedDataParallel as DDP

            trainer = Trainer(config, model=DDP(net), lr=0.1)
            """,
            """\
            import horovod.torch as hvd

            hvd.broadcast_parameters(net.state_dict(), root_rank=0)
            trainer = Trainer(config, model=net, lr=0.1)
            """,
        ),
        Change(
            """\
            from torch.nn.parallel import DistributedDataParallel as DDP

            net = DDP(net) if is_distributed() else net
            """,
            """\
            import horovod.torch as hvd

            net = net if is_distributed() else net
            hvd.broadcast_parameters(net.state_dict(), root_rank=0)
            """,
            note="The test stays: it calls a function, which may do more than answer.",
        ),
        Change(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            net = torch.compile(DDP(net))
            """,
            """\
            import horovod.torch as hvd
            import torch

            net = torch.compile(net)
            hvd.broadcast_parameters(net.state_dict(), root_rank=0)
            """,
        ),
        Change(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            model: torch.nn.Module = DDP(torch.nn.Linear(2, 1))
            net = torch.nn.Linear(2, 1)
            net = other = DDP(net)
            """,
            """\
            import horovod.torch as hvd
            import torch

            model: torch.nn.Module = torch.nn.Linear(2, 1)
            hvd.broadcast_parameters(model.state_dict(), root_rank=0)
            net = torch.nn.Linear(2, 1)
            net = other = net
            hvd.broadcast_parameters(net.state_dict(), root_rank=0)
            """,
            note="An annotated variable, and two at once.",
        ),
        Change(
            """\
            from apex.parallel import DistributedDataParallel as DDP

            model = DDP(net, delay_allreduce=True, gradient_predivide_factor=8.0)
            """,
            """\
            import horovod.torch as hvd

            model = net
            hvd.broadcast_parameters(model.state_dict(), root_rank=0)
            """,
            note="A factor that only says how much of the division comes before the sum.",
        ),
    ),
    keeps=(
        Keep(
            """\
            import torch
            import torch.distributed as dist
            from torch.nn.parallel import DistributedDataParallel as DDP
            from wrappers import Plain

            dist.init_process_group("nccl")
            net = torch.nn.Linear(2, 1)
            model = (DDP if dist.get_world_size() > 1 else Plain)(net, device_ids=[0])
            optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
            model(x).sum().backward()
            optimizer.step()
            """,
            reason="what the other class is, and whether it has the model as .module, is not known",
            reported=True,
        ),
        Keep(
            """\
            import torch
            import torch.distributed as dist
            from functools import partial
            from torch.nn.parallel import DistributedDataParallel as DDP

            def wrapped(model, wrap):
                return wrap(model)

            dist.init_process_group("nccl")
            model = wrapped(torch.nn.Linear(2, 1), partial(DDP, device_ids=[0]))
            model(x).sum().backward()
            """,
            reason="a function is handed the class: its other callers may hand it another",
            reported=True,
        ),
        Keep(
            """\
            from apex.parallel import DistributedDataParallel as DDP

            model = DDP(net, gradient_average=False, gradient_predivide_factor=2.0)
            """,
            reason="the sum, divided: the factor is no average any more",
            reported=True,
        ),
        Keep(
            """\
            from mylib import DistributedDataParallel as DDP

            model = DDP(net)
            """,
            reason="another library's class of that name is not torch's",
        ),
        Keep(
            """\
            from torch.nn.parallel import DistributedDataParallel as DDP

            models = {key(): DDP(build())}
            """,
            reason="nothing names the model again, for the broadcast",
            reported=True,
        ),
        Keep(
            """\
            from torch.nn.parallel import DistributedDataParallel as DDP

            run(first(), DDP(build()))
            """,
            reason="a broadcast above would run before first()",
            reported=True,
        ),
        Keep(
            """\
            from torch.nn.parallel import DistributedDataParallel as DDP

            wrap = lambda net: DDP(net)
            """,
            reason="a lambda has no room for a broadcast",
            reported=True,
        ),
        Keep(
            """\
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(net, process_group=half)
            """,
            reason="gradients are averaged over some of the ranks only: the optimizer needs the same set",
            reported=True,
        ),
        Keep(
            """\
            from apex.parallel import DistributedDataParallel as DDP

            model = DDP(net, gradient_average=False)
            """,
            reason="gradients are summed, not averaged: the optimizer needs op=hvd.Sum",
            reported=True,
        ),
        Keep(
            """\
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(*parts)
            """,
            reason="which argument is the model cannot be seen",
            reported=True,
        ),
        Keep(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            register(DDP(torch.nn.Linear(2, 1)))
            train = DDP(torch.nn.Linear(2, 1)).train
            for part in [DDP(torch.nn.Linear(2, 1))]:
                part.train()
            [model, *rest] = [DDP(torch.nn.Linear(2, 1)), 1, 2]
            holder().model = DDP(torch.nn.Linear(2, 1))

            def make():
                return [DDP(torch.nn.Linear(2, 1))], 1
            """,
            reason="where the wrapped model goes has no name to broadcast it by",
            reported=True,
        ),
    ),
)
