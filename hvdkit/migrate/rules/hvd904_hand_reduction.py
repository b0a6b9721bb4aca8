"""HVD904: gradients that the script averages itself would be averaged twice."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.hand_reduction import hand_reductions
from hvdkit.migrate.facts.mentions import mentions
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rule import Keep, Rule


def check(facts: Facts) -> Iterator[Finding]:
    for site in hand_reductions(facts):
        function = site.names.function(site.node)
        where = getattr(function, "name", "") or "this loop"
        message = (
            f"gradients are averaged by hand in {where}, where hvd.DistributedOptimizer averages them too"
        )
        advice = (
            f"take {where} and its calls away (or wrap the model in DistributedDataParallel instead) "
            "and run hvdkit migrate again"
        )
        yield facts.refused("HVD904", site.names, site.node, message, advice)
    for names, node, _, _ in mentions(facts, ("mpi4py.MPI.",)):
        if "ddp" in facts.kinds(names):
            message = "mpi4py talks between the ranks beside torch.distributed"
            advice = (
                "write its calls with torch.distributed or Horovod (bcast is hvd.broadcast_object, gather is "
                "hvd.allgather_object) and run hvdkit migrate again; master copies of parameters must go, too"
            )
            yield facts.refused("HVD904", names, node, message, advice)


RULE = Rule(
    id="HVD904",
    title="gradients averaged by hand are refused",
    what=(
        "Leaves programs alone that send gradients through all_reduce themselves, or whose ranks talk through "
        "mpi4py."
    ),
    why=(
        "Horovod's optimizer starts to reduce each gradient during the backward pass. A reduction by hand of the "
        "same tensor races with it, and averages what is an average already."
    ),
    safety="Nothing is edited in any file of the program.",
    check=check,
    changes=(),
    keeps=(
        Keep(
            """\
            import torch
            import torch.distributed as dist

            def average_gradients(model):
                size = float(dist.get_world_size())
                for param in model.parameters():
                    dist.all_reduce(param.grad.data, op=dist.ReduceOp.SUM)
                    param.grad.data /= size

            loss.backward()
            average_gradients(model)
            optimizer.step()
            """,
            reason="the loop of PyTorch's tutorial: what DDP does, by hand",
            reported=True,
        ),
        Keep(
            """\
            import torch
            import torch.distributed as dist
            from torch._utils import _flatten_dense_tensors, _unflatten_dense_tensors

            def allreduce_params(module):
                grads = [param.grad.data for param in module.parameters() if param.grad is not None]
                coalesced = _flatten_dense_tensors(grads)
                dist.all_reduce(coalesced)
                coalesced /= dist.get_world_size()
                for buf, synced in zip(grads, _unflatten_dense_tensors(coalesced, grads)):
                    buf.copy_(synced)
            """,
            reason="the gradients are laid end to end first",
            reported=True,
        ),
        Keep(
            """\
            import torch
            import torch.distributed as dist

            def mean(tensor):
                dist.all_reduce(tensor)
                tensor /= dist.get_world_size()

            found = []
            for p in net.parameters():
                found.append(p.grad)
            for g in found:
                mean(g)
            """,
            reason="followed through a list and a function's parameter",
            reported=True,
        ),
        Keep(
            """\
            import torch.distributed as dist
            from mpi4py import MPI

            dist.init_process_group("nccl", init_method="env://")
            rank = MPI.COMM_WORLD.Get_rank()
            """,
            reason="two libraries know the ranks, and one of them would go",
            reported=True,
        ),
        Keep(
            """\
            import torch
            import torch.distributed as dist

            total = torch.norm(torch.stack([p.grad.norm() for p in model.parameters()]))
            dist.all_reduce(total)
            """,
            reason="the norm of the gradients is a statistic, not the gradients",
        ),
        Keep(
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            for p in model.parameters():
                hvd.allreduce_(p.grad, op=hvd.Sum)
            """,
            reason="this is Horovod already, and the script's own business",
        ),
    ),
)
