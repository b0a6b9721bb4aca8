"""HVD910: objects around an optimizer that work on its gradients, and options that would get lost."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate.catalog.finding import manual, refused
from hvdkit.migrate.catalog.rule import Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.models.optimizers import Optimizer
from hvdkit.migrate.facts.optimizers.optimizer_wrappers import optimizer_wrappers
from hvdkit.migrate.facts.optimizers.wrap_places import WrapPlace, wrap_places
from hvdkit.migrate.facts.programs.programs import migrates
from hvdkit.migrate.plan import Finding

ADVICE = (
    "use torch.autocast with torch.amp.GradScaler instead of copies in float32, and run hvdkit migrate "
    "again; for anything else average the gradients by hvd.grouped_allreduce_ before the object steps"
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
    for around in optimizer_wrappers(facts):
        if around.copies and migrates(facts, around.names):
            message = "this object steps the optimizer inside it, which may train copies of the parameters"
            yield refused("HVD910", around.names, around.node, message, ADVICE)
    for place in wrap_places(facts) if facts.options.target == "horovod" else ():
        if migrates(facts, place.names):
            yield from _lost(facts, place)


def _lost(facts: Facts, place: WrapPlace) -> Iterator[Finding]:
    """Options of apex's optimizers; one choice of several does not refuse the others."""
    losing = [optimizer for optimizer in place.optimizers if _own_state(optimizer)]
    for optimizer in losing:
        options = ", ".join(_own_state(optimizer))
        message = f"Horovod recreates the optimizer from its parameter groups: {options} is lost"
        advice = "leave the option at its default, or use --target hvdkit, which keeps the object"
        tell = manual if len(losing) < len(place.optimizers) else refused
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
        "Refuses a program with apex FP16_Optimizer, SAM or a class of the project's own around its "
        "optimizer that gives it different parameters. HVD411 handles LARC, Lookahead and similar wrappers."
    ),
    why=(
        "They step an optimizer of different tensors than those that get gradients in the backward "
        "pass: Horovod's hooks would never run, and each rank would train on its own."
    ),
    safety="Nothing is changed: the program is left as it is, and the reason is reported.",
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
            reason="it steps copies of the parameters, which have no Horovod hooks",
            reported=True,
        ),
        Keep(
            """\
            import torch

            class Trainer:
                def __init__(self, model, optimizer):
                    self.model, self.optimizer = model, optimizer

                def step(self, x):
                    self.optimizer.zero_grad()
                    self.model(x).sum().backward()
                    torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
                    self.optimizer.step()

            trainer = Trainer(model, torch.optim.SGD(model.parameters(), lr=0.1))
            for x in torch.utils.data.DataLoader(data):
                trainer.step(x)
            """,
            reason="a trainer has its own step(), which contains the backward pass: HVD404 waits there",
        ),
    ),
)
