"""HVD910: objects around an optimizer that work on its gradients, and options that would get lost."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts import vocabulary as words
from hvdkit.migrate.facts.optimizers import Optimizer
from hvdkit.migrate.facts.placing import Place
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rule import Keep, Rule

ADVICE = (
    "write it as a subclass of torch.optim.Optimizer, or call "
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
# Those of them that are True where they are not given.
TRUE = frozenset(("adam_w_mode", "set_grad_none"))


def check(facts: Facts) -> Iterator[Finding]:
    known = {optimizer.value for optimizer in facts.optimizers}
    for site in facts.calls(*words.OTHER_OPTIMIZER_WRAPPERS):
        if not facts.kinds(site.names) & {"ddp", "single"}:
            continue
        given = [*site.node.args, *(keyword.value for keyword in site.node.keywords)]
        if any(facts.flow.unwrap(facts.flow.values(site.names, argument)) & known for argument in given):
            message = "this object steps the optimizer inside it, and looks at the gradients before"
            yield facts.refused("HVD910", site.names, site.node, message, ADVICE)
    for place in facts.places if facts.options.target == "horovod" else ():
        if facts.kinds(place.names) & {"ddp", "single"}:
            yield from _lost(facts, place)


def _lost(facts: Facts, place: Place) -> Iterator[Finding]:
    """Options of apex's optimizers; one choice of several does not refuse the others."""
    losing = [optimizer for optimizer in place.optimizers if _own_state(optimizer)]
    for optimizer in losing:
        options = ", ".join(_own_state(optimizer))
        message = f"Horovod makes the optimizer anew from its groups: {options} is lost"
        advice = "leave the option at its default, or use --target hvdkit, which keeps the object"
        tell = facts.manual if len(losing) < len(place.optimizers) else facts.refused
        yield tell("HVD910", optimizer.names, optimizer.node, message, advice)


def _own_state(optimizer: Optimizer) -> list[str]:
    """Arguments that an apex optimizer keeps on itself, at other values than their defaults."""
    if not optimizer.value.name.startswith("apex.optimizers."):
        return []
    return [k.arg for k in optimizer.node.keywords if k.arg in STATE and not _is_default(k)]


def _is_default(keyword: ast.keyword) -> bool:
    return keyword.arg in TRUE and isinstance(keyword.value, ast.Constant) and keyword.value.value is True


RULE = Rule(
    id="HVD910",
    title="wrappers that work on gradients are refused",
    what=(
        "Refuses a program with apex FP16_Optimizer or SAM around its optimizer. LARC, Lookahead and classes of the "
        "project's own are HVD411's."
    ),
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
            from apex.fp16_utils import FP16_Optimizer

            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            optimizer = FP16_Optimizer(optimizer, dynamic_loss_scale=True)
            optimizer.backward(model(x).sum())
            optimizer.step()
            """,
            reason="it steps copies of the parameters, in which Horovod has no hooks",
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
        Keep(
            """\
            import torch
            from apex.optimizers import FusedAdam
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(torch.nn.Linear(2, 1))
            if args.opt == "adam":
                optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
            elif args.opt == "fusedadam":
                optimizer = FusedAdam(model.parameters(), lr=0.1, adam_w_mode=False)
            elif args.opt == "fusedadamw":
                optimizer = FusedAdam(model.parameters(), lr=0.1, adam_w_mode=True)
            loss.backward()
            optimizer.step()
            """,
            reason="one choice of several: told with a marker, and the others are migrated",
            reported=True,
        ),
    ),
)
