"""HVD408: a project's own optimizer class is made such that Horovod can build it again."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import manual, refused, required
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.models.optimizers import Optimizer
from hvdkit.migrate.facts.models.own_constructors import (
    default_may_be_zero,
    kept_on_self,
    required_parameters,
    takes_closure,
)
from hvdkit.migrate.facts.optimizers.averaging_optimizers import averaging_optimizers
from hvdkit.migrate.facts.optimizers.wrap_places import wrap_places
from hvdkit.migrate.facts.programs.programs import migrates
from hvdkit.migrate.plan import Finding
from hvdkit.source.edits import Edit, Slot
from hvdkit.source.index.names import FunctionNode, Names

KEEPS_IT = "use --target hvdkit, which keeps the object instead of creating a new one"


def check(facts: Facts) -> Iterator[Finding]:
    if facts.options.target != "horovod":
        return
    seen: set[ast.AST] = set()
    for optimizer in averaging_optimizers(facts):
        value = optimizer.value
        if optimizer.wrapped or value.kind != "object" or not migrates(facts, optimizer.names):
            continue
        for names, method in facts.flow.methods(value, "__init__"):
            if method not in seen:
                seen.add(method)
                yield from _constructor(facts, names, method, _one_of_several(facts, optimizer))
        for names, method in facts.flow.methods(value, "step"):
            if method not in seen and not takes_closure(method):
                seen.add(method)
                message = "Horovod's step() passes on a closure, usually None, so step() has to accept one"
                yield required(facts, "HVD408", names, method, message, _add_closure, names, method)


def _one_of_several(facts: Facts, optimizer: Optimizer) -> bool:
    """Whether another class may be chosen where an optimizer is made, and is migrated in any case."""
    mates = (place.optimizers for place in wrap_places(facts) if optimizer in place.optimizers)
    return any(other.value.name != optimizer.value.name for others in mates for other in others)


def _constructor(facts: Facts, names: Names, method: FunctionNode, several: bool) -> Iterator[Finding]:
    """Horovod calls the class with nothing but the groups, which carry the options of the first object."""
    given = [*method.args.args[2:], *method.args.kwonlyargs]
    kept = kept_on_self(method, {arg.arg for arg in given})
    if kept is not None:
        message = (
            "Horovod recreates the optimizer from its parameter groups: what the constructor keeps on self "
            "is lost"
        )
        tell = manual if several else refused
        yield tell("HVD408", names, kept, message, KEEPS_IT)
        return
    without_default = required_parameters(method)
    if without_default:
        message = "Horovod recreates the optimizer from its parameter groups, which hold these options"
        yield required(facts, "HVD408", names, method, message, _defaults, names, method, without_default)


def _defaults(names: Names, method: FunctionNode, required: list[ast.arg]) -> list[Edit]:
    found = []
    for arg in required:
        if not default_may_be_zero(method, arg.arg):
            raise edits.CannotEdit(f"the constructor cannot be called without {arg.arg}; {KEEPS_IT}")
        end = names.source.end(arg)
        found.append(Edit(end, end, " = 0.0" if arg.annotation else "=0.0"))
    return found


def _add_closure(names: Names, method: FunctionNode) -> Edit:
    if not method.args.args:
        raise edits.CannotEdit("step() has no self")
    end = names.source.end(method.args.args[0])
    return Edit(end, end, ", closure=None", Slot.ARGUMENT)


RULE = Rule(
    id="HVD408",
    title="a custom optimizer fits Horovod",
    what=(
        "Gives the required options of a custom optimizer's constructor a default, and its step() a closure "
        "argument. Refuses a class whose constructor keeps options outside the parameter groups."
    ),
    why=(
        "hvd.DistributedOptimizer makes a new object from the parameter groups alone and calls "
        "step(closure): a required option or a step() without argument is a TypeError, an option kept on "
        "self silently falls back to its default."
    ),
    safety="Safe: each group carries its own options, so the defaults are never used.",
    check=check,
    changes=(
        Change(
            """\
            import torch

            class LARS(torch.optim.Optimizer):
                def __init__(self, params, lr, momentum=0.9):
                    if lr < 0.0:
                        raise ValueError(lr)
                    super().__init__(params, dict(lr=lr, momentum=momentum))

                @torch.no_grad()
                def step(self):
                    for group in self.param_groups:
                        for p in group["params"]:
                            p.sub_(p.grad, alpha=group["lr"])

            optimizer = LARS(model.parameters(), lr=0.1)
            model(x).sum().backward()
            optimizer.step()
            """,
            """\
            import torch

            class LARS(torch.optim.Optimizer):
                def __init__(self, params, lr=0.0, momentum=0.9):
                    if lr < 0.0:
                        raise ValueError(lr)
                    super().__init__(params, dict(lr=lr, momentum=momentum))

                @torch.no_grad()
                def step(self, closure=None):
                    for group in self.param_groups:
                        for p in group["params"]:
                            p.sub_(p.grad, alpha=group["lr"])

            optimizer = LARS(model.parameters(), lr=0.1)
            model(x).sum().backward()
            optimizer.step()
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import torch

            class Plain(torch.optim.Optimizer):
                def __init__(self, params, lr=0.1):
                    super().__init__(params, {"lr": lr})

                def step(self, closure=None):
                    return None

            optimizer = Plain(model.parameters())
            model(x).sum().backward()
            optimizer.step()
            """,
            reason="the class fits as it is",
        ),
    ),
)
