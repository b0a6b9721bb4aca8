"""HVD405: no_sync() and require_backward_grad_sync become the optimizer's number of backward passes."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts import vocabulary as words
from hvdkit.migrate.facts.models.syncing import (
    NO_SYNC,
    SWITCH,
    asks_for_it,
    decides_here,
    for_ddp_only,
    handed_on,
    in_choice,
)
from hvdkit.migrate.facts.models.unwrapping import wrapped
from hvdkit.migrate.facts.optimizers.after_backward import averaged_literally
from hvdkit.migrate.names import Names
from hvdkit.migrate.pass_counts import by_context, by_switch, several
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rule import Change, Keep, Rule

WHY = "this backward adds its gradients up on each rank; a later one reduces them, as no_sync() had it"


def check(facts: Facts) -> Iterator[Finding]:
    for names in facts.files:
        if "ddp" not in facts.kinds(names):
            continue
        for node in names.attributes.get(NO_SYNC, ()):
            mentioned = isinstance(node.ctx, ast.Load) and facts.of_object(names, node)
            if mentioned and not handed_on(names, node) and not _never_runs(facts, names, node):
                yield facts.required("HVD405", names, node, WHY, by_context, facts, names, node)
        for call in names.calls.get("hasattr", ()):
            if not asks_for_it(call) or in_choice(names, call):
                continue
            if wrapped(facts, names, call.args[0]) or decides_here(names, call):
                message = "whether the model has a no_sync() asks whether there are several processes"
                text = several(facts, names)
                yield facts.required("HVD405", names, call, message, edits.replace, names.source, call, text)
        for _, binding in names.stores.get(SWITCH, ()):
            statement = names.statement(binding.node)
            if isinstance(statement, ast.Assign) and isinstance(binding.node, ast.Attribute):
                if _of_another(facts, names, binding.node.value):
                    continue
                if averaged_literally(facts, names, binding.node.value):
                    message = (
                        "nobody asks any more whether this backward reduces: what adds up is averaged later"
                    )
                    yield facts.required("HVD405", names, statement, message, edits.delete, names, statement)
                    continue
                message = "whether this backward reduces is said to the optimizer"
                make = (by_switch, facts, names, statement, binding.node)
                yield facts.required("HVD405", names, statement, message, *make)


def _of_another(facts: Facts, names: Names, model: ast.expr) -> bool:
    """Whether an attribute is of an object of the project's own that is no DDP, though it has its attributes."""
    held = facts.flow.values(names, model)
    return bool(held) and all(v.kind == "object" and not words.DDP & facts.flow.bases(v) for v in held)


def _never_runs(facts: Facts, names: Names, node: ast.Attribute) -> bool:
    """Whether a no_sync() is only for models of DDP, and no optimizer has hooks that count backward passes."""
    programs = [program for program in facts.programs if names in program.files and program.kind == "ddp"]
    hooks = any(optimizer.names in program.files for program in programs for optimizer in facts.optimizers)
    return for_ddp_only(names, node) and not hooks


RULE = Rule(
    id="HVD405",
    title="no_sync becomes a number of backward passes",
    what=(
        "Replaces model.no_sync() and model.require_backward_grad_sync by "
        "optimizer.set_backward_passes_per_step(): 2 before a backward that does not reduce, 1 before one that "
        "does. With --target hvdkit, `with hvd.accumulate(optimizer):`."
    ),
    why=(
        "Horovod's hooks count backward passes down and reduce at the last one. Left at 1, each of the passes "
        "that no_sync() kept apart would reduce, and the second one raise an error."
    ),
    safety=(
        "Safe: the same backward passes reduce as under DDP, the last window of an epoch may be shorter, and the "
        "scaling of the loss stays. With two ranks in float32 the weights are bit-identical."
    ),
    check=check,
    changes=(
        Change(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(torch.nn.Linear(2, 1))
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for i, x in enumerate(batches):
                if (i + 1) % 4 != 0:
                    with model.no_sync():
                        (model(x).sum() / 4).backward()
                else:
                    (model(x).sum() / 4).backward()
                    optimizer.step()
                    optimizer.zero_grad()
            """,
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(torch.nn.Linear(2, 1))
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for i, x in enumerate(batches):
                if (i + 1) % 4 != 0:
                    optimizer.set_backward_passes_per_step(2)
                    (model(x).sum() / 4).backward()
                    optimizer.set_backward_passes_per_step(1)
                else:
                    (model(x).sum() / 4).backward()
                    optimizer.step()
                    optimizer.zero_grad()
            """,
        ),
        Change(
            """\
            from contextlib import nullcontext
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(torch.nn.Linear(2, 1))
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for i, x in enumerate(batches):
                last = (i + 1) % 4 == 0
                with nullcontext() if last else model.no_sync():
                    (model(x).sum() / 4).backward()
                if last:
                    optimizer.step()
                    optimizer.zero_grad()
            """,
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(torch.nn.Linear(2, 1))
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for i, x in enumerate(batches):
                last = (i + 1) % 4 == 0
                optimizer.set_backward_passes_per_step(1 if last else 2)
                (model(x).sum() / 4).backward()
                if last:
                    optimizer.step()
                    optimizer.zero_grad()
            """,
        ),
        Change(
            """\
            from contextlib import nullcontext
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(torch.nn.Linear(2, 1))
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for i, x in enumerate(batches):
                with model.no_sync() if (i + 1) % 4 else nullcontext():
                    (model(x).sum() / 4).backward()
                if (i + 1) % 4 == 0:
                    optimizer.step()
            """,
            """\
            import hvdkit.torch as hvd
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(torch.nn.Linear(2, 1))
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for i, x in enumerate(batches):
                with hvd.accumulate(optimizer, (i + 1) % 4):
                    (model(x).sum() / 4).backward()
                if (i + 1) % 4 == 0:
                    optimizer.step()
            """,
            target="hvdkit",
        ),
        Change(
            """\
            from contextlib import nullcontext
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(torch.nn.Linear(2, 1))
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for i, x in enumerate(batches):
                context = model.no_sync if (i + 1) % 4 else nullcontext
                with context():
                    (model(x).sum() / 4).backward()
                if (i + 1) % 4 == 0:
                    optimizer.step()
            """,
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(torch.nn.Linear(2, 1))
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for i, x in enumerate(batches):
                optimizer.set_backward_passes_per_step(2 if (i + 1) % 4 else 1)
                (model(x).sum() / 4).backward()
                if (i + 1) % 4 == 0:
                    optimizer.step()
            """,
        ),
        Change(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(torch.nn.Linear(2, 1))
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            while True:
                for step in range(steps):
                    model.require_backward_grad_sync = step == steps - 1
                    (model(batch()).sum() / steps).backward()
                optimizer.step()
                optimizer.zero_grad()
            """,
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(torch.nn.Linear(2, 1))
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            while True:
                for step in range(steps):
                    optimizer.set_backward_passes_per_step(1 if step == steps - 1 else 2)
                    (model(batch()).sum() / steps).backward()
                optimizer.step()
                optimizer.zero_grad()
            """,
        ),
        Change(
            """\
            from contextlib import nullcontext
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(torch.nn.Linear(2, 1))
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for i, x in enumerate(batches):
                if i % 4 == 3:
                    context = nullcontext()
                else:
                    context = model.no_sync()
                with torch.autocast("cpu"), context:
                    model(x).sum().backward()
                if i % 4 == 3:
                    optimizer.step()
            """,
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(torch.nn.Linear(2, 1))
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for i, x in enumerate(batches):
                if i % 4 == 3:
                    optimizer.set_backward_passes_per_step(1)
                else:
                    optimizer.set_backward_passes_per_step(2)
                with torch.autocast("cpu"):
                    model(x).sum().backward()
                if i % 4 == 3:
                    optimizer.step()
            """,
        ),
        Change(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(torch.nn.Linear(2, 1))
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for x, y in batches:
                optimizer.zero_grad()
                model.require_backward_grad_sync = False
                model(x).sum().backward()
                model.require_backward_grad_sync = True
                model(y).sum().backward()
                optimizer.step()
            """,
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(torch.nn.Linear(2, 1))
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for x, y in batches:
                optimizer.zero_grad()
                optimizer.set_backward_passes_per_step(2)
                model(x).sum().backward()
                optimizer.set_backward_passes_per_step(1)
                model(y).sum().backward()
                optimizer.step()
            """,
            note="One pass without, one with: the model is told by a constant.",
        ),
        Change(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(torch.nn.Linear(2, 1))
            first = torch.optim.SGD([p for n, p in model.named_parameters() if "bias" in n], lr=0.1)
            second = torch.optim.SGD([p for n, p in model.named_parameters() if "bias" not in n], lr=0.1)
            for i, x in enumerate(batches):
                model.require_backward_grad_sync = i % 2 == 1
                model(x).sum().backward()
                if i % 2 == 1:
                    first.step()
                    second.step()
                    model.zero_grad()
            """,
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(torch.nn.Linear(2, 1))
            first = torch.optim.SGD([p for n, p in model.named_parameters() if "bias" in n], lr=0.1)
            second = torch.optim.SGD([p for n, p in model.named_parameters() if "bias" not in n], lr=0.1)
            for i, x in enumerate(batches):
                first.set_backward_passes_per_step(1 if i % 2 == 1 else 2)
                second.set_backward_passes_per_step(1 if i % 2 == 1 else 2)
                model(x).sum().backward()
                if i % 2 == 1:
                    first.step()
                    second.step()
                    model.zero_grad()
            """,
            note="One model, two optimizers: both are told.",
        ),
        Change(
            """\
            from contextlib import nullcontext
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            class Task:
                def __init__(self, model):
                    self.model = DDP(model)

                def no_sync(self):
                    if hasattr(self.model, "no_sync"):
                        return self.model.no_sync()
                    return nullcontext()

            task = Task(torch.nn.Linear(2, 1))
            optimizer = torch.optim.SGD(task.model.parameters(), lr=0.1)
            has_no_sync = hasattr(task.model, "no_sync")
            for i, x in enumerate(batches):
                last = (i + 1) % 4 == 0
                if has_no_sync and not last:
                    with task.no_sync():
                        task.model(x).sum().backward()
                else:
                    task.model(x).sum().backward()
                if last:
                    optimizer.step()
            """,
            """\
            from contextlib import nullcontext
            import horovod.torch as hvd
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            class Task:
                def __init__(self, model):
                    self.model = DDP(model)

                def no_sync(self):
                    if hasattr(self.model, "no_sync"):
                        return self.model.no_sync()
                    return nullcontext()

            task = Task(torch.nn.Linear(2, 1))
            optimizer = torch.optim.SGD(task.model.parameters(), lr=0.1)
            has_no_sync = hvd.size() > 1
            for i, x in enumerate(batches):
                last = (i + 1) % 4 == 0
                if has_no_sync and not last:
                    optimizer.set_backward_passes_per_step(2)
                    task.model(x).sum().backward()
                    optimizer.set_backward_passes_per_step(1)
                else:
                    task.model(x).sum().backward()
                if last:
                    optimizer.step()
            """,
            note="A method that hands no_sync() on where there is one stays; where it is used is what counts.",
        ),
        Change(
            """\
            import torch
            from tasks import ClassificationTask
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(torch.nn.Linear(2, 1))
            task = ClassificationTask(model, criterion)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            has_no_sync = args.distributed and hasattr(task.get_trainable_module(), "no_sync")
            for i, x in enumerate(batches):
                last = (i + 1) % 4 == 0
                if has_no_sync and not last:
                    with task.no_sync():
                        model(x).sum().backward()
                else:
                    model(x).sum().backward()
                if last:
                    optimizer.step()
            """,
            """\
            import horovod.torch as hvd
            import torch
            from tasks import ClassificationTask
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(torch.nn.Linear(2, 1))
            task = ClassificationTask(model, criterion)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            has_no_sync = args.distributed and hvd.size() > 1
            for i, x in enumerate(batches):
                last = (i + 1) % 4 == 0
                if has_no_sync and not last:
                    optimizer.set_backward_passes_per_step(2)
                    model(x).sum().backward()
                    optimizer.set_backward_passes_per_step(1)
                else:
                    model(x).sum().backward()
                if last:
                    optimizer.step()
            """,
            note="What the library keeps the model in is not followed: the no_sync() that stands here is enough.",
        ),
    ),
    keeps=(
        Keep(
            """\
            import torch
            import torch.distributed as dist
            from torch.nn.parallel import DistributedDataParallel as DDP

            class Alone(torch.nn.Module):
                def __init__(self, module):
                    super().__init__()
                    self.module, self.require_backward_grad_sync = module, False
                    self.require_backward_grad_sync = True

            dist.init_process_group("nccl")
            model = DDP(torch.nn.Linear(2, 1))
            model(x).sum().backward()
            """,
            reason="a class of the project's own that stands in for DDP in a lone process",
        ),
        Keep(
            """\
            import contextlib
            from factory import make_optimizer
            from torch.nn.parallel import DistributedDataParallel as DDP

            @contextlib.contextmanager
            def synchronized(model, sync):
                if sync or not isinstance(model, DDP):
                    yield
                else:
                    with model.no_sync():
                        yield

            net = make_net()
            ddp = DDP(net)
            optimizer = make_optimizer(net.parameters())
            for batch in batches:
                for i, x in enumerate(batch.split(4)):
                    with synchronized(ddp, i == 3):
                        ddp(x).sum().backward()
                optimizer.step()
            """,
            reason="it only runs for models that DDP wraps, of which none is left, and no optimizer counts the passes: "
            "the gradients are averaged once for each step (HVD417)",
        ),
        Keep(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            class Task:
                def __init__(self, model):
                    self.model = DDP(model)

                def no_sync(self):
                    return self.model.no_sync()

            task = Task(torch.nn.Linear(2, 1))
            optimizer = torch.optim.SGD(task.model.parameters(), lr=0.1)
            """,
            reason="this method would fail without DDP: what it is to give instead is not the rule's to say",
            reported=True,
        ),
        Keep(
            """\
            import torch

            class Cache:
                def no_sync(self):
                    return lock

            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            with Cache().no_sync():
                model(x).sum().backward()
            optimizer.step()
            """,
            reason="not a distributed program: no_sync is somebody's own",
        ),
        Keep(
            """\
            from contextlib import ExitStack
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(torch.nn.Linear(2, 1))
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            with ExitStack() as stack:
                stack.enter_context(model.no_sync())
                model(x).sum().backward()
            model(x).sum().backward()
            optimizer.step()
            """,
            reason="when the context ends cannot be seen: the program is refused",
            reported=True,
        ),
        Keep(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(torch.nn.Linear(2, 1))
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

            def run(context, x):
                with context:
                    model(x).sum().backward()

            for i, x in enumerate(batches):
                context = model.no_sync() if i % 2 else quiet()
                run(context, x)
                if i % 2:
                    optimizer.step()
            """,
            reason="the context manager is handed on, and the other choice is one of the project's own",
            reported=True,
        ),
        Keep(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(torch.nn.Linear(2, 1))
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for x, y in batches:
                with model.no_sync() as quiet:
                    model(x).sum().backward()
                model(y).sum().backward()
                optimizer.step()
            """,
            reason="what no_sync() gives is used",
            reported=True,
        ),
        Keep(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(torch.nn.Linear(2, 1))
            for x, y in batches:
                with model.no_sync():
                    model(x).sum().backward()
                model(y).sum().backward()
            """,
            reason="no optimizer of this model was found",
            reported=True,
        ),
        Keep(
            """\
            import torch
            from contextlib import nullcontext
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(torch.nn.Linear(2, 1))
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for i, x in enumerate(batches):
                context = model.no_sync() if i % 2 else nullcontext()
                if i == 7:
                    context = choose(model.no_sync)
                with context:
                    model(x).sum().backward()
                if i % 2 == 0:
                    optimizer.step()
            """,
            reason="the variable is chosen by a function that cannot be followed",
            reported=True,
        ),
    ),
)
