"""HVD910: objects around an optimizer that work on its gradients, and options that would get lost."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts import vocabulary as words
from hvdkit.migrate.facts.flow import Value
from hvdkit.migrate.names import Names
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rule import Keep, Rule

ADVICE = (
    "write it as a subclass of torch.optim.Optimizer (LARS instead of LARC), or call "
    "`inner.synchronize()` after backward and step inside `with inner.skip_synchronize():`, inner being the "
    "DistributedOptimizer inside"
)
# What apex's optimizers keep on themselves instead of in their groups.
STATE = frozenset(
    (
        *("adam_w_mode", "set_grad_none", "grad_averaging", "use_nvlamb", "reg_inside_moment", "norm_type"),
        *("init_zero", "wd_after_momentum", "materialize_master_grads", "master_weights", "capturable"),
    )
)


def check(facts: Facts) -> Iterator[Finding]:
    known = {optimizer.value for optimizer in facts.optimizers}
    for names, call in _candidates(facts):
        if not facts.kinds(names) & {"ddp", "single"}:
            continue
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        if any(facts.flow.unwrap(facts.flow.values(names, argument)) & known for argument in given):
            message = "this object steps the optimizer inside it, and looks at the gradients before"
            yield facts.refused("HVD910", names, call, message, ADVICE)
    for optimizer in facts.optimizers if facts.options.target == "horovod" else ():
        lost = [k.arg for k in optimizer.node.keywords if k.arg in STATE]
        if optimizer.value.name.startswith("apex.optimizers.") and lost and not optimizer.wrapped:
            if facts.kinds(optimizer.names) & {"ddp", "single"}:
                message = (
                    f"Horovod makes the optimizer anew from its groups: {', '.join(map(str, lost))} is lost"
                )
                advice = "leave the option at its default, or use --target hvdkit, which keeps the object"
                yield facts.refused("HVD910", optimizer.names, optimizer.node, message, advice)


def _candidates(facts: Facts) -> Iterator[tuple[Names, ast.Call]]:
    """Calls that make an object around an optimizer: a library's, or of a class with a step() of this kind."""
    for site in facts.calls(*words.OPTIMIZER_WRAPPERS):
        yield site.names, site.node
    for names in facts.files:
        for calls in names.calls.values():
            for call in calls:
                if call.args or call.keywords:
                    values = facts.flow.values(names, call.func) if _may_be_class(names, call) else ()
                    if any(_steps_by_gradients(facts, value) for value in values if value.kind == "class"):
                        yield names, call


def _may_be_class(names: Names, call: ast.Call) -> bool:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    return name[:1].isupper()


def _steps_by_gradients(facts: Facts, value: Value) -> bool:
    """Whether a class has a step() that looks at gradients."""
    return any(facts.steps.looks_inside(where, method) for where, method in facts.flow.methods(value, "step"))


RULE = Rule(
    id="HVD910",
    title="wrappers that work on gradients are refused",
    what="Refuses a program with apex LARC, Lookahead, FP16_Optimizer, SAM or an own class of that kind.",
    why=(
        "Their step() changes the gradients and then steps the optimizer inside. With Horovod's optimizer inside, "
        "they would change gradients of one rank that are being reduced at that moment."
    ),
    safety="Nothing is changed: the program is left as it is, with the reason.",
    check=check,
    changes=(),
    keeps=(
        Keep(
            """\
            import torch
            from apex.parallel.LARC import LARC

            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            optimizer = LARC(optimizer=optimizer, trust_coefficient=0.001, clip=False)
            model(x).sum().backward()
            optimizer.step()
            """,
            reason="LARC scales the gradients in its own step()",
            reported=True,
        ),
        Keep(
            """\
            import torch

            class Centred:
                def __init__(self, optimizer):
                    self.optimizer = optimizer

                def step(self):
                    for group in self.optimizer.param_groups:
                        for p in group["params"]:
                            p.grad -= p.grad.mean()
                    self.optimizer.step()

            optimizer = Centred(torch.optim.SGD(model.parameters(), lr=0.1))
            model(x).sum().backward()
            optimizer.step()
            """,
            reason="an own class of that kind",
            reported=True,
        ),
        Keep(
            """\
            import torch

            class WarmUp:
                def __init__(self, optimizer):
                    self.optimizer = optimizer

                def step(self):
                    self.optimizer.step()

            optimizer = WarmUp(torch.optim.SGD(model.parameters(), lr=0.1))
            model(x).sum().backward()
            optimizer.step()
            """,
            reason="a wrapper that only steps sees no gradients",
        ),
        Keep(
            """\
            import torch
            from apex.optimizers import FusedAdam
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(torch.nn.Linear(2, 1))
            optimizer = FusedAdam(model.parameters(), lr=0.1, set_grad_none=False)
            loss.backward()
            optimizer.step()
            """,
            reason="the wrapper that Horovod makes knows nothing of the option",
            reported=True,
        ),
    ),
)
