"""HVD416: where no optimizer can average, gradients are averaged right after backward(), as DDP does."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from hvdkit.migrate import edits
from hvdkit.migrate.collective_edits import fresh
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.optimizers.after_backward import Pass, after_backward, averaged_below
from hvdkit.migrate.names import Names
from hvdkit.migrate.plan import Edit, Finding
from hvdkit.migrate.rule import Change, Keep, Rule

MESSAGE = "the gradients are averaged here, after backward(), as DDP does: the optimizer is left as it is"
BY_HAND = "the gradients are averaged here, after backward(), before the script's own steps use them"
KNOW = (
    "every rank waits here for all gradients, while hvd.DistributedOptimizer would send the first ones during "
    "backward(): an optimizer of torch.optim, made from model.parameters(), is faster"
)
RATE = "the rate of the script's own steps is left as it is: N ranks draw N times the samples for each step"


def check(facts: Facts) -> Iterator[Finding]:
    by_file: dict[Names, list[Pass]] = {}
    for each in after_backward(facts).passes:
        if not averaged_below(facts, each.names, each.call):
            by_file.setdefault(each.names, []).append(each)
    for names, passes in by_file.items():
        passes.sort(key=lambda each: each.call.lineno)
        function = fresh(names, "average_gradients")
        plain = len(passes) == 1 and not passes[0].unlike
        for each in passes:
            make = (_inline, facts, each) if plain else (_called, facts, function, passes, each)
            message, know = (BY_HAND, f"{KNOW}; {RATE}") if each.by_hand else (MESSAGE, KNOW)
            yield facts.required("HVD416", names, each.call, message, *make).knowing(know)


def _inline(facts: Facts, each: Pass) -> Edit:
    names, hvd = each.names, facts.hvd(each.names)
    handles, handle = fresh(names, "handles"), fresh(names, "handle")
    over = f"for p in {_parameters(each)}"
    if len(each.models) > 1 and not each.tensors:
        over = f"for m in ({', '.join(each.models)}) for p in m.parameters()"
    lines = [
        f"{handles} = [{hvd}.allreduce_async_(p.grad, op={hvd}.Average) {over} if p.grad is not None]",
        f"for {handle} in {handles}:",
        f"\t{hvd}.synchronize({handle})",
    ]
    return _below(facts, each, lines)


def _parameters(each: Pass) -> str:
    """All that gradients are averaged of, as one expression."""
    if len(each.models) == 1 and not each.tensors:
        return f"{each.models[0]}.parameters()"
    return f"[{', '.join((*(f'*{model}.parameters()' for model in each.models), *each.tensors))}]"


def _below(facts: Facts, each: Pass, lines: list[str]) -> Edit:
    """Lines below a backward pass, under the test under which DDP reduced there."""
    if each.unless:
        asked = ast.parse(each.unless, mode="eval").body
        negated = isinstance(asked, ast.UnaryOp) and isinstance(asked.op, ast.Not)
        simple = isinstance(asked, (ast.Name, ast.Attribute))
        test = f"not {each.unless}" if simple else f"not ({each.unless})"
        if negated:
            test = ast.unparse(asked.operand)  # type: ignore[attr-defined]
        lines = [f"if {test}:", *(f"\t{line}" for line in lines)]
    below = edits.after(each.names.source, each.statement, lines)
    if each.window is each.statement or not facts.options.allows("HVD405"):
        return below
    # HVD405 takes the `with` away, and what is in it moves out: so do these lines.
    return replace(below, text=edits.before(each.names.source, each.window, lines).text)


def _called(facts: Facts, function: str, passes: list[Pass], each: Pass) -> list[Edit]:
    """The call, and with the first one the function above it."""
    names = each.names
    found = [_below(facts, each, [f"{function}({_parameters(each)})"])]
    if each is passes[0]:
        unlike = any(one.unlike for one in passes)
        lines = [*_function(facts.hvd(names), function, unlike), "", ""]
        found.append(edits.before(names.source, _outermost(names, each.call), lines))
    return found


def _function(hvd: str, function: str, unlike: bool) -> list[str]:
    """Parameters that only some ranks used get a gradient on all, and those that none used stay without."""
    spread = [
        "\tparams = [p for p in params if p.requires_grad]",
        f"\tused = {hvd}.allgather_object([p.grad is not None for p in params])",
        "\tfor p, anywhere in zip(params, map(any, zip(*used))):",
        "\t\tif anywhere and p.grad is None:",
        "\t\t\tp.grad = p.new_zeros(p.shape)",
    ]
    return [
        f"def {function}(params):",
        "\t# Gradients become their average over all ranks, as DDP leaves them after backward().",
        *(spread if unlike else ()),
        f"\thandles = [{hvd}.allreduce_async_(p.grad, op={hvd}.Average) for p in params if p.grad is not None]",
        "\tfor handle in handles:",
        f"\t\t{hvd}.synchronize(handle)",
    ]


def _outermost(names: Names, node: ast.AST) -> ast.stmt:
    """The statement of the file itself that a node stands in."""
    statement = names.statement(node)
    for parent in names.ancestors(node):
        if isinstance(parent, ast.stmt):
            statement = parent
    return statement


RULE = Rule(
    id="HVD416",
    title="gradients are averaged after backward()",
    what=(
        "Where DDP wraps a model and no optimizer can average its gradients (none is found, another library makes it, "
        "it steps copies of the parameters or what DDP does not wrap, or apex patches it), averages them right after "
        "each backward() in which DDP did, and leaves the optimizer as it is. So it does in a program of one process "
        "that steps by hand, `p.data.add_(p.grad, alpha=-lr)`, for the models and tensors that anything steps there."
    ),
    why=(
        "This is what DDP does, said literally: when backward() returns, every gradient of the model is the average "
        "over the ranks. It asks nothing of the optimizer. Without it the program would be refused (HVD905)."
    ),
    safety=(
        "Safe: only where every backward pass of the model is found and the model has a name there. Sparse gradients, "
        "DDP over some of the ranks and backward passes inside libraries are refused (HVD905). With "
        "find_unused_parameters a parameter that some rank used gets a gradient on all, and one that no rank used has "
        "none, as under DDP; so it is where a step by hand asks whether there is a gradient. Steps by hand have to be "
        "the same on all ranks: where random numbers, or a number of each rank's own, are in one, or what it steps is "
        "not seen, the program is refused (HVD905, with the reason). Passes that add up may each be averaged: the average of an average is itself. With two "
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
            def average_gradients(params):
                # Gradients become their average over all ranks, as DDP leaves them after backward().
                params = [p for p in params if p.requires_grad]
                used = hvd.allgather_object([p.grad is not None for p in params])
                for p, anywhere in zip(params, map(any, zip(*used))):
                    if anywhere and p.grad is None:
                        p.grad = p.new_zeros(p.shape)
                handles = [hvd.allreduce_async_(p.grad, op=hvd.Average) for p in params if p.grad is not None]
                for handle in handles:
                    hvd.synchronize(handle)


            model(x).sum().backward()
            average_gradients(model.parameters())
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
        Change(
            """\
            from contextlib import nullcontext

            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(torch.nn.Linear(2, 1))
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for i, x in enumerate(batches):
                with model.no_sync() if i % 4 else nullcontext():
                    model(x).sum().backward()
                    optimizer.step()
                optimizer.zero_grad()
            """,
            """\
            from contextlib import nullcontext

            import horovod.torch as hvd
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(torch.nn.Linear(2, 1))
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for i, x in enumerate(batches):
                with model.no_sync() if i % 4 else nullcontext():
                    model(x).sum().backward()
                    if not (i % 4):
                        handles = [hvd.allreduce_async_(p.grad, op=hvd.Average) for p in model.parameters() if p.grad is not None]
                        for handle in handles:
                            hvd.synchronize(handle)
                    optimizer.step()
                optimizer.zero_grad()
            """,
            note="Steps in no_sync() are by each rank's own gradients. HVD405 takes the `with` away.",
        ),
        Change(
            """\
            import torch

            model = torch.nn.Linear(2, 1)
            if args.adam:
                optimizer = torch.optim.Adam(model.parameters())
            for x in batches:
                model.zero_grad()
                model(x).sum().backward()
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                if args.adam:
                    optimizer.step()
                else:
                    for p in model.parameters():
                        p.data.add_(p.grad, alpha=-args.lr)
            """,
            """\
            import horovod.torch as hvd
            import torch

            model = torch.nn.Linear(2, 1)
            if args.adam:
                optimizer = torch.optim.Adam(model.parameters())
            for x in batches:
                model.zero_grad()
                model(x).sum().backward()
                handles = [hvd.allreduce_async_(p.grad, op=hvd.Average) for p in model.parameters() if p.grad is not None]
                for handle in handles:
                    hvd.synchronize(handle)
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                if args.adam:
                    optimizer.step()
                else:
                    for p in model.parameters():
                        p.data.add_(p.grad, alpha=-args.lr)
            """,
            note="A program of one process that may step by hand: both steps get averages.",
        ),
        Change(
            """\
            import torch

            def descend(tensors, rate):
                with torch.no_grad():
                    for tensor in tensors:
                        tensor -= rate * tensor.grad
                        tensor.grad.zero_()

            weight = torch.randn(2, 1, requires_grad=True)
            bias = torch.zeros(1)
            bias.requires_grad_()
            for x in batches:
                (x @ weight + bias).sum().backward()
                descend([weight, bias], 0.1)
            """,
            """\
            import horovod.torch as hvd
            import torch

            def descend(tensors, rate):
                with torch.no_grad():
                    for tensor in tensors:
                        tensor -= rate * tensor.grad
                        tensor.grad.zero_()

            weight = torch.randn(2, 1, requires_grad=True)
            bias = torch.zeros(1)
            bias.requires_grad_()
            for x in batches:
                (x @ weight + bias).sum().backward()
                handles = [hvd.allreduce_async_(p.grad, op=hvd.Average) for p in [bias, weight] if p.grad is not None]
                for handle in handles:
                    hvd.synchronize(handle)
                descend([weight, bias], 0.1)
            """,
            note="Tensors that are no model's, in a function of the script.",
        ),
        Change(
            """\
            import torch

            model = torch.nn.Linear(2, 1)
            for x in batches:
                model(x).sum().backward()
                for p in model.parameters():
                    if p.grad is not None:
                        p.data -= 0.1 * p.grad
                model.zero_grad()
            """,
            """\
            import horovod.torch as hvd
            import torch

            model = torch.nn.Linear(2, 1)
            def average_gradients(params):
                # Gradients become their average over all ranks, as DDP leaves them after backward().
                params = [p for p in params if p.requires_grad]
                used = hvd.allgather_object([p.grad is not None for p in params])
                for p, anywhere in zip(params, map(any, zip(*used))):
                    if anywhere and p.grad is None:
                        p.grad = p.new_zeros(p.shape)
                handles = [hvd.allreduce_async_(p.grad, op=hvd.Average) for p in params if p.grad is not None]
                for handle in handles:
                    hvd.synchronize(handle)


            for x in batches:
                model(x).sum().backward()
                average_gradients(model.parameters())
                for p in model.parameters():
                    if p.grad is not None:
                        p.data -= 0.1 * p.grad
                model.zero_grad()
            """,
            note="The step asks whether there is a gradient: there may be one on some ranks only.",
        ),
    ),
    keeps=(
        Keep(
            """\
            import torch

            model = torch.nn.Linear(2, 1)
            for x in batches:
                model.zero_grad()
                model(x).sum().backward()
                for p in model.parameters():
                    p.data.add_(p.grad + 0.1 * torch.randn_like(p), alpha=-0.1)
            """,
            reason="each rank adds noise of its own to its weights: with the same gradients they part ways",
        ),
        Keep(
            """\
            import torch

            model = torch.nn.Linear(2, 1).eval()
            for x in batches:
                noisy = torch.zeros(x.shape, requires_grad=True)
                model(x + noisy).sum().backward()
                noisy.data.add_(noisy.grad.sign(), alpha=0.1)
            """,
            reason="what is stepped is made anew for each batch: it is no weight, and each rank has its own",
        ),
        Keep(
            """\
            import torch
            from somewhere import make_optimizer

            model, head = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
            optimizer = make_optimizer(head)
            for x in batches:
                head(model(x)).sum().backward()
                optimizer.step()
                for p in model.parameters():
                    p.data.add_(p.grad, alpha=-0.1)
            """,
            reason="what else steps is not known, nor what it steps",
        ),
        Keep(
            """\
            import torch

            model = torch.nn.Linear(2, 1)
            rate = 0.1
            for x in batches:
                loss = model(x).sum()
                loss.backward()
                rate = min(rate, loss.item())
                for p in model.parameters():
                    p.data.add_(p.grad, alpha=-rate)
                model.zero_grad()
            """,
            reason="the rate is computed of the loss, which is another one on each rank",
        ),
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
