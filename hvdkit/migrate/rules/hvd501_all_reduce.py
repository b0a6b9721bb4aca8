"""HVD501: all_reduce in place becomes allreduce_ in place, with its reduction written out."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.collective_edits import in_place, process_set, same_again
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.collectives.collectives import (
    Collective,
    collectives,
    passes_reduction,
    reduction,
    reduction_constants,
)
from hvdkit.migrate.facts.collectives.narrow import is_narrow
from hvdkit.migrate.plan import Edit, Finding
from hvdkit.migrate.rule import Change, Keep, Rule

NARROW = "write tensor.copy_(hvd.allreduce(tensor.int(), op=hvd.Sum)) where it is one"
ADVICE = "write hvd.allreduce_(tensor, op=hvd.Sum) (in place; Horovod's default is Average)"


def check(facts: Facts) -> Iterator[Finding]:
    for call in collectives(facts, "all_reduce"):
        asked = call.given.get("op")
        operation = reduction(facts, call.names, asked)
        problem = call.problem
        if operation is None and (asked is None or not passes_reduction(facts, call.names, asked)):
            problem = problem or "Horovod has no such reduction, or it is decided where it cannot be followed"
        if problem or "tensor" not in call.given:
            yield facts.manual("HVD501", call.names, call.node, f"all_reduce is left: {problem}", ADVICE)
            continue
        narrow = is_narrow(facts, call.names, call.given["tensor"])
        if narrow is not False:
            yield _of_narrow(facts, call, operation, narrow is True)
            continue
        message = f"all_reduce becomes allreduce_, in place as before, op={operation or 'as passed'}"
        yield facts.safe("HVD501", call.names, call.node, message, _edits, facts, call, operation)
    for names, node, operation in reduction_constants(facts):
        if not _argument(facts, node):
            text = f"{facts.hvd(names)}.{operation}"
            message = f"the reduction becomes {text}, where it is passed on"
            yield facts.safe("HVD501", names, node, message, edits.replace, names.source, node, text)


def _of_narrow(facts: Facts, call: Collective, operation: str | None, surely: bool) -> Finding:
    """Horovod reduces a copy in four bytes; what is copied back wraps as the sum of single bytes does."""
    tensor = call.given["tensor"]
    plain = surely and same_again(tensor) and call.waits is None and operation in ("Sum", "Max", "Min")
    if not plain:
        problem = "Horovod reduces no tensor of bytes, 16-bit integers or truth values, and this may be one"
        return facts.manual("HVD501", call.names, call.node, f"all_reduce is left: {problem}", NARROW)
    message = f"Horovod reduces no tensor of this type: a copy as integers is reduced, op={operation}"
    return facts.safe("HVD501", call.names, call.node, message, _copied, facts, call, operation)


def _copied(facts: Facts, call: Collective, operation: str) -> list[Edit]:
    tensor, hvd = call.given["tensor"], facts.hvd(call.names)
    how = [f".int(), op={hvd}.{operation}", *process_set(call), "))"]
    return edits.recast(call.names.source, call.whole, [tensor, f".copy_({hvd}.allreduce(", tensor, *how])


def _argument(facts: Facts, node: ast.Attribute) -> bool:
    """Whether a reduction stands in the collective's call itself, which says it anew."""
    return any(
        node is value
        for call in collectives(
            facts, "all_reduce", "reduce", "reduce_scatter", "reduce_scatter_tensor", "_reduce_scatter_base"
        )
        for value in call.given.values()
    )


def _edits(facts: Facts, call: Collective, operation: str | None) -> list[Edit]:
    hvd = facts.hvd(call.names)
    how: list[str | ast.expr] = [f", op={hvd}.{operation}"] if operation else [", op=", call.given["op"]]
    return in_place(facts, call, "allreduce", call.given["tensor"], how)


RULE = Rule(
    id="HVD501",
    title="all_reduce becomes allreduce_",
    what=(
        "Replaces torch.distributed.all_reduce by hvd.allreduce_ with the reduction written out; an asynchronous "
        "one by allreduce_async_, its handle's wait() and is_completed() by hvd.synchronize and hvd.poll."
    ),
    why="torch sums in place by default; Horovod averages by default and allreduce gives a new tensor.",
    safety=(
        "Safe: same tensor, same reduction. Of a tensor that is made of bytes, 16-bit integers or truth values, which "
        "Horovod does not reduce, it reduces a copy as integers. Horovod raises on bfloat16 tensors and on tensors "
        "that are not contiguous: cast them first. Groups that are no process sets and handles that go where "
        "they cannot be followed are left to the person."
    ),
    check=check,
    changes=(
        Change(
            """\
            import pickle
            import torch
            import torch.distributed as dist

            def total_of(tensor):
                return dist.all_reduce(tensor)

            def everyone(thing, size=1024):
                text = pickle.dumps(thing)
                place = dist.get_rank() * size
                sent = torch.cuda.ByteTensor(size * dist.get_world_size()).zero_()
                sent[place : place + len(text)] = torch.ByteTensor(list(text)).cuda()
                total_of(sent)
                return sent

            flags = torch.zeros(8, dtype=torch.bool)
            dist.all_reduce(flags, op=dist.ReduceOp.MAX)
            """,
            """\
            import pickle
            import horovod.torch as hvd
            import torch
            import torch.distributed as dist

            def total_of(tensor):
                return tensor.copy_(hvd.allreduce(tensor.int(), op=hvd.Sum))

            def everyone(thing, size=1024):
                text = pickle.dumps(thing)
                place = dist.get_rank() * size
                sent = torch.cuda.ByteTensor(size * dist.get_world_size()).zero_()
                sent[place : place + len(text)] = torch.ByteTensor(list(text)).cuda()
                total_of(sent)
                return sent

            flags = torch.zeros(8, dtype=torch.bool)
            flags.copy_(hvd.allreduce(flags.int(), op=hvd.Max))
            """,
            note="Horovod sums no bytes: an object in them goes as integers, and comes back as bytes.",
        ),
        Change(
            """\
            import torch.distributed as dist

            dist.all_reduce(total)
            dist.all_reduce(counts[0], op=dist.ReduceOp.MAX)
            dist.all_reduce(tensor=best, async_op=False, op=dist.ReduceOp.MIN, group=None)
            dist.all_reduce(mean, dist.ReduceOp.AVG, dist.group.WORLD)
            everyone = dist.new_group(backend="gloo")
            dist.all_reduce(total, group=everyone)
            """,
            """\
            import horovod.torch as hvd
            import torch.distributed as dist

            hvd.allreduce_(total, op=hvd.Sum)
            hvd.allreduce_(counts[0], op=hvd.Max)
            hvd.allreduce_(best, op=hvd.Min)
            hvd.allreduce_(mean, op=hvd.Average)
            everyone = dist.new_group(backend="gloo")
            hvd.allreduce_(total, op=hvd.Sum)
            """,
        ),
        Change(
            """\
            from torch import distributed
            from torch.distributed import ReduceOp, all_reduce as reduce_everywhere

            reduce_everywhere(a.mul_(2), ReduceOp.PRODUCT)
            distributed.all_reduce(
                b,
                op=distributed.reduce_op.SUM,
            )
            distributed.all_reduce(c, op=distributed.reduce_op.SUM, group=0)
            """,
            """\
            import horovod.torch as hvd

            hvd.allreduce_(a.mul_(2), op=hvd.Product)
            hvd.allreduce_(b, op=hvd.Sum)
            hvd.allreduce_(c, op=hvd.Sum)
            """,
            note="Whichever way it is imported, with the enum's old name, and with the world's old number.",
        ),
        Change(
            """\
            import torch.distributed as dist

            dist.all_reduce(loss), dist.all_reduce(count, op=dist.ReduceOp.MAX)
            """,
            """\
            import horovod.torch as hvd

            hvd.allreduce_(loss, op=hvd.Sum), hvd.allreduce_(count, op=hvd.Max)
            """,
            note="Several in one statement.",
        ),
        Change(
            """\
            import torch.distributed as dist

            work = dist.all_reduce(total, async_op=True)
            if not work.is_completed():
                work.wait()
            dist.all_reduce(count, async_op=True).wait()
            """,
            """\
            import horovod.torch as hvd

            work = hvd.allreduce_async_(total, op=hvd.Sum)
            if not hvd.poll(work):
                hvd.synchronize(work)
            hvd.allreduce_(count, op=hvd.Sum)
            """,
        ),
        Change(
            """\
            import torch.distributed as dist

            def reduce_all(tensors):
                handles = []
                for tensor in tensors:
                    handles.append(dist.all_reduce(tensor, async_op=True))
                for handle in handles:
                    handle.wait()
            """,
            """\
            import horovod.torch as hvd

            def reduce_all(tensors):
                handles = []
                for tensor in tensors:
                    handles.append(hvd.allreduce_async_(tensor, op=hvd.Sum))
                for handle in handles:
                    hvd.synchronize(handle)
            """,
        ),
        Change(
            """\
            import torch.distributed as dist

            def reduce_all(tensors):
                reductions = []
                for tensor in tensors:
                    reduction = dist.all_reduce(tensor, async_op=True)
                    reductions.append(reduction)
                for reduction in reductions:
                    reduction.wait()
            """,
            """\
            import horovod.torch as hvd

            def reduce_all(tensors):
                reductions = []
                for tensor in tensors:
                    reduction = hvd.allreduce_async_(tensor, op=hvd.Sum)
                    reductions.append(reduction)
                for reduction in reductions:
                    hvd.synchronize(reduction)
            """,
            note="One variable for the handle that is kept, and for the one that is waited for.",
        ),
        Change(
            """\
            import torch.distributed as dist

            def sync(value, op=dist.ReduceOp.SUM):
                dist.all_reduce(value, op=op)
                return value

            sync(x)
            sync(y, dist.ReduceOp.MAX)
            """,
            """\
            import horovod.torch as hvd

            def sync(value, op=hvd.Sum):
                hvd.allreduce_(value, op=op)
                return value

            sync(x)
            sync(y, hvd.Max)
            """,
            note="A reduction that is passed on is followed through the calls.",
        ),
        Change(
            """\
            import horovod.torch as hvd
            import torch.distributed as dist

            pair = hvd.add_process_set([0, 1])
            dist.all_reduce(total, group=pair)
            """,
            """\
            import horovod.torch as hvd

            pair = hvd.add_process_set([0, 1])
            hvd.allreduce_(total, op=hvd.Sum, process_set=pair)
            """,
        ),
        Change(
            """\
            import torch.distributed as dist

            dist.all_reduce(total, async_op=True)
            work = dist.all_reduce(first, async_op=True)
            work.wait()
            work = dist.broadcast(second, 0, async_op=True)
            work.wait()
            """,
            """\
            import horovod.torch as hvd
            import torch.distributed as dist

            hvd.allreduce_(total, op=hvd.Sum)
            work = hvd.allreduce_async_(first, op=hvd.Sum)
            hvd.synchronize(work)
            work = dist.broadcast(second, 0, async_op=True)
            work.wait()
            """,
            note="Nobody waits; one handle after another in one variable.",
        ),
        Change(
            """\
            import torch
            from torch.distributed import all_reduce, barrier, get_rank
            from torch.distributed import (
                broadcast,
                all_reduce as reduce_all,
            )

            all_reduce(x)
            reduce_all(x)
            if get_rank() == 0:
                barrier()
            broadcast(x, 0)
            """,
            """\
            import horovod.torch as hvd
            import torch
            from torch.distributed import barrier, get_rank
            from torch.distributed import (
                broadcast,
            )

            hvd.allreduce_(x, op=hvd.Sum)
            hvd.allreduce_(x, op=hvd.Sum)
            if get_rank() == 0:
                barrier()
            broadcast(x, 0)
            """,
            note="Names of an import that nothing else uses go, wherever they stand in it.",
        ),
        Change(
            """\
            import torch
            import torch.distributed as dist

            @torch.no_grad()
            def mean(x):
                dist.all_reduce(x)
                return x / dist.get_world_size()

            def total(x):
                with torch.no_grad():
                    dist.all_reduce(x, op=dist.ReduceOp.SUM)
                return x
            """,
            """\
            import horovod.torch as hvd
            import torch
            import torch.distributed as dist

            @torch.no_grad()
            def mean(x):
                hvd.allreduce_(x, op=hvd.Sum)
                return x / dist.get_world_size()

            def total(x):
                with torch.no_grad():
                    hvd.allreduce_(x, op=hvd.Sum)
                return x
            """,
            note="Under no_grad, as a decorator or a block.",
        ),
        Change(
            """\
            import torch
            import torch.distributed as dist
            from factory import construct

            dist.init_process_group("nccl")
            net = construct(name="nets.Net")
            optimizer = construct(net.parameters(), name="torch.optim.Adam")
            for x in batches:
                optimizer.zero_grad()
                net(x).sum().backward()
                params = [p for p in net.parameters() if p.grad is not None]
                flat = torch.cat([p.grad.flatten() for p in params])
                dist.all_reduce(flat)
                flat /= dist.get_world_size()
                for p, grad in zip(params, flat.split([p.numel() for p in params])):
                    p.grad = grad.reshape(p.shape)
                optimizer.step()
            """,
            """\
            import horovod.torch as hvd
            import torch
            import torch.distributed as dist
            from factory import construct

            dist.init_process_group("nccl")
            net = construct(name="nets.Net")
            optimizer = construct(net.parameters(), name="torch.optim.Adam")
            for x in batches:
                optimizer.zero_grad()
                net(x).sum().backward()
                params = [p for p in net.parameters() if p.grad is not None]
                flat = torch.cat([p.grad.flatten() for p in params])
                hvd.allreduce_(flat, op=hvd.Sum)
                flat /= dist.get_world_size()
                for p, grad in zip(params, flat.split([p.numel() for p in params])):
                    p.grad = grad.reshape(p.shape)
                optimizer.step()
            """,
            note="Gradients, too, where no optimizer is found that would be wrapped: the program goes on to average.",
        ),
    ),
    keeps=(
        Keep(
            """\
            import torch
            import torch.distributed as dist

            def total_of(tensor):
                dist.all_reduce(tensor)
                return tensor

            total_of(torch.ByteTensor(8))
            total_of(loss.detach())
            """,
            reason="some of the tensors that come here are bytes, which Horovod does not sum, and some may be fractions",
            reported=True,
        ),
        Keep(
            """\
            import torch.distributed as dist

            def start(total):
                return dist.all_reduce(total, async_op=True)
            """,
            reason="the handle goes to a caller, who waits for it",
            reported=True,
        ),
        Keep(
            """\
            import torch.distributed as dist

            dist.all_reduce(total, op=choose())
            """,
            reason="which reduction it is, is decided at run time",
            reported=True,
        ),
        Keep(
            """\
            import torch.distributed as dist

            dist.all_reduce(flags, op=dist.ReduceOp.BOR)
            """,
            reason="Horovod has no bitwise reduction",
            reported=True,
        ),
        Keep(
            """\
            import torch.distributed as dist

            dist.all_reduce(total, group=groups[rank])
            """,
            reason="the group is not known to be all ranks or a process set",
            reported=True,
        ),
        Keep(
            """\
            import torch.distributed as dist

            dist.all_reduce(*arguments)
            """,
            reason="which argument is the tensor cannot be seen",
            reported=True,
        ),
        Keep(
            """\
            import torch

            class Ring:
                def all_reduce(self, tensor):
                    return tensor

            Ring().all_reduce(total)
            """,
            reason="a method of that name is not torch.distributed's",
        ),
        Keep(
            """\
            import torch.distributed as dist

            done = dist.all_reduce(total, async_op=True).wait()
            dist.all_reduce(total, async_op=True).wait(timeout)
            work = dist.all_reduce(total, async_op=True)
            print(work)
            """,
            reason="the handle is asked in ways that Horovod's has no answer for",
            reported=True,
        ),
        Keep(
            """\
            import torch.distributed as dist

            if large:
                work = dist.all_reduce(total, async_op=True)
            else:
                work = dist.broadcast(total, 0, async_op=True)
            work.wait()
            """,
            reason="which of several collectives the variable's handle is of is not known",
            reported=True,
        ),
        Keep(
            """\
            import torch.distributed as dist

            def started(works):
                works = [first]
                works.append(dist.all_reduce(a, async_op=True))
                return works

            def mixed():
                works = []
                works.append(dist.all_reduce(a, async_op=True))
                works.append(other)
                for work in works:
                    work.wait()

            def pairs():
                works = []
                works.append(dist.all_reduce(a, async_op=True))
                for work, name in works:
                    work.wait()

            def replaced():
                works = []
                works.append(dist.all_reduce(a, async_op=True))
                for work in works:
                    work = work.wait
                    work()

            def shown():
                works = []
                works.append(dist.all_reduce(a, async_op=True))
                for work in works:
                    print(work)

            def counted():
                works = []
                works.append(dist.all_reduce(a, async_op=True))
                return len(works)

            def returned():
                works = []
                work = dist.all_reduce(a, async_op=True)
                works.append(work)
                for other in works:
                    other.wait()
                return work

            def changed():
                works = []
                work = dist.all_reduce(a, async_op=True)
                works.append(work)
                for work in works:
                    work = work.wait
                    work()
            """,
            reason="the list may hold something else, or goes somewhere else",
            reported=True,
        ),
        Keep(
            """\
            import torch.distributed as dist

            result = dist.all_reduce(x)
            """,
            reason="its result is used, which torch gives as None",
            reported=True,
        ),
    ),
)
