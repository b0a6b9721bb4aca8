"""HVD416: where no optimizer can average, gradients are averaged right after backward(), as DDP does."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import required
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.optimizers.after_backward import Pass, after_backward, averaged_below
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rewrites.collectives import fresh
from hvdkit.source.edits import Edit
from hvdkit.source.index.names import Names

MESSAGE = "the gradients are averaged here, after backward(), as DDP does: the optimizer is left as it is"
BY_HAND = "the gradients are averaged here, after backward(), before the script's own update uses them"
KNOW = (
    "every rank waits here for all gradients, while hvd.DistributedOptimizer would send the first ones "
    "during backward(): an optimizer of torch.optim, made from model.parameters(), is faster"
)
RATE = "the learning rate of the script's own update is left as it is: N ranks process N times the samples per step"


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
            yield required(facts, "HVD416", names, each.call, message, *make).knowing(know)


def _inline(facts: Facts, each: Pass) -> Edit:
    names, hvd = each.names, horovod_name(facts, each.names)
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
        lines = [*_function(horovod_name(facts, names), function, unlike), "", ""]
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
    above = [parent for parent in names.ancestors(node) if isinstance(parent, ast.stmt)]
    return above[-1] if above else names.statement(node)


RULE = Rule(
    id="HVD416",
    title="gradients are averaged after backward()",
    what=(
        "Where DDP wraps a model and no optimizer can average its gradients (none is found, another library makes it, it "
        "steps copies of the parameters or what DDP does not wrap, or apex patches it), averages them right after each "
        "backward() in which DDP did, and leaves the optimizer as it is. It does the same in a single-process program "
        "with a hand-written update, `p.data.add_(p.grad, alpha=-lr)`, for the models and tensors updated there."
    ),
    why=(
        "This is what DDP does: when backward() returns, every gradient of the model is the average over the ranks. "
        "It requires nothing of the optimizer. Without it the program would be refused (HVD905)."
    ),
    safety=(
        "Safe: only where every backward pass of the model is found and the model has a name there. Sparse gradients, DDP "
        "over some of the ranks and backward passes inside libraries are refused (HVD905). With find_unused_parameters a "
        "parameter that some rank used gets a gradient on all, and one that no rank used has none, as under DDP; the same "
        "holds where a hand-written update tests for a gradient. A hand-written update that may differ between ranks, or "
        "whose parameters are not seen, is refused (HVD905, with the reason). The average of an average is itself: "
        "accumulating passes may each be averaged. With two ranks in float32 the weights are bit-identical. It is slower "
        "than hvd.DistributedOptimizer, which is reported."
    ),
    check=check,
    changes=(
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

            model = torch.nn.Linear(2, 1)
            for x in batches:
                model.zero_grad()
                model(x).sum().backward()
                for p in model.parameters():
                    p.data.add_(p.grad + 0.1 * torch.randn_like(p), alpha=-0.1)
            """,
            reason="each rank adds its own noise to its weights: they diverge despite the same gradients",
        ),
    ),
)
