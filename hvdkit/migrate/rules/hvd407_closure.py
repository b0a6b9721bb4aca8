"""HVD407: step(closure) becomes a call of the closure and a step."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import refused, required
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.models.optimizers import Optimizer
from hvdkit.migrate.facts.models.step_groups import Step
from hvdkit.migrate.facts.optimizers.averaging_optimizers import constructions
from hvdkit.migrate.facts.optimizers.gradient_readers import names_reader
from hvdkit.migrate.facts.optimizers.step_calls import closure_of, step_calls
from hvdkit.migrate.facts.programs.programs import migrates
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.values.arguments import collected, keyword, received, unpacks
from hvdkit.source.edits import Edit

LBFGS = "torch.optim.LBFGS"
AGAIN = "LBFGS evaluates its closure several times in one step; Horovod's optimizer reduces once, before the first"
WRAPPED = "use --target hvdkit, whose optimizer reduces gradients and loss at every evaluation"


def check(facts: Facts) -> Iterator[Finding]:
    for optimizer in constructions(facts):
        if optimizer.value.name == LBFGS and not optimizer.wrapped and facts.options.target == "horovod":
            if migrates(facts, optimizer.names) and not _given_no_closure(facts, optimizer):
                yield refused("HVD407", optimizer.names, optimizer.node, AGAIN, WRAPPED)
    for step in step_calls(facts).steps:
        closure = closure_of(step)
        if closure is None or not migrates(facts, step.names) or _never(facts, step, closure):
            continue
        if names_reader(facts, step.names, closure):
            message = "the closure reads the gradients of its own backward(), which are not reduced yet"
            advice = "move what follows backward() in the closure between the closure's call and the step"
            yield refused("HVD407", step.names, step.call, message, advice)
        elif facts.options.target == "horovod" and not _is_lbfgs(step):
            message = "Horovod reduces before it evaluates the closure, so the closure is evaluated first"
            yield required(facts, "HVD407", step.names, step.call, message, _edit, step, closure)


def _given_no_closure(facts: Facts, optimizer: Optimizer) -> bool:
    """Whether every step of an optimizer is seen, and gives no closure: LBFGS, which needs one, is not run so."""
    steps = [s for s in step_calls(facts).steps if any(v.node is optimizer.node for v in s.optimizers)]
    return bool(steps) and all(closure_of(step) is None for step in steps)


def _never(facts: Facts, step: Step, closure: ast.expr) -> bool:
    """Whether what is handed on is a parameter that no call is seen to give: `step(self, closure=None)`."""
    if isinstance(closure, ast.Starred):
        function = collected(step.names, closure.value, by_position=True)
        calls = facts.flow.call_sites(step.names, function) if function is not None else ()
        own = len(received(step.names, function)) if function is not None else 0
        return function is not None and not any(
            len(call.args) > own or unpacks(call) or keyword(call, "closure") for _, call in calls
        )
    values = facts.flow.values(step.names, closure)
    bound = step.names.bindings(closure.id, closure) if isinstance(closure, ast.Name) else []
    handed_on = bool(bound) and all(binding.kind == "param" for binding in bound)
    return handed_on and not any(value.kind in ("function", "made", "object") for value in values)


def _is_lbfgs(step: Step) -> bool:
    return any(value.name == LBFGS for value in step.optimizers)


def _edit(step: Step, closure: ast.expr) -> list[Edit]:
    source = step.names.source
    if not all(value.name.startswith("torch.optim.") for value in step.optimizers):
        raise edits.CannotEdit("how often this optimizer evaluates its closure is not known")
    statement = step.names.statement(step.call)
    plain = isinstance(statement, (ast.Expr, ast.Assign)) and statement.value is step.call
    if not plain or not isinstance(closure, (ast.Name, ast.Attribute)):
        raise edits.CannotEdit("the step and its closure are part of a larger expression")
    called = edits.replace(source, step.call, f"{source.segment(closure)}()")
    return [called, edits.after(source, statement, [f"{source.segment(step.target)}.step()"])]


RULE = Rule(
    id="HVD407",
    title="closures are evaluated before the step",
    what="Turns `loss = optimizer.step(closure)` into `loss = closure()` and `optimizer.step()`.",
    why=(
        "Horovod's step() reduces, then evaluates the closure, then updates: the update would use gradients "
        "that are still being reduced."
    ),
    safety=(
        "Safe: every optimizer of torch.optim but LBFGS evaluates its closure once, before anything else. "
        "Programs with LBFGS, and closures that clip or read gradients, are refused."
    ),
    check=check,
    changes=(
        Change(
            """\
            import torch

            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for x in batches:
                def closure():
                    optimizer.zero_grad()
                    loss = model(x).sum()
                    loss.backward()
                    return loss

                loss = optimizer.step(closure)
                print(loss.item())
            """,
            """\
            import torch

            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for x in batches:
                def closure():
                    optimizer.zero_grad()
                    loss = model(x).sum()
                    loss.backward()
                    return loss

                loss = closure()
                optimizer.step()
                print(loss.item())
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import torch

            def make(model, name):
                if name == "lbfgs":
                    optimizer = torch.optim.LBFGS(model.parameters(), lr=0.1)
                else:
                    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
                return optimizer

            optimizer = make(model, options.optimizer)
            for x in batches:
                optimizer.zero_grad()
                model(x).sum().backward()
                optimizer.step()
            """,
            reason="LBFGS stops at a step without a closure: this script never trains with it",
        ),
    ),
)
