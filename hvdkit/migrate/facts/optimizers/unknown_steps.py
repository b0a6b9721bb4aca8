"""Steps of something that is not known: an optimizer that a library makes, or one by a name."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.models.optimizers import Optimizer
from hvdkit.migrate.facts.models.weight_updates import may_step_weights
from hvdkit.migrate.facts.programs.programs import ProgramFacts
from hvdkit.migrate.values import vocabulary as words
from hvdkit.migrate.values.arguments import head_of
from hvdkit.migrate.values.value import Value
from hvdkit.source.index.names import Names

# Libraries whose objects have a step() and train nothing.
NO_OPTIMIZERS = (
    "torch.optim.lr_scheduler.",
    "torch.optim.swa_utils.",
    "torch.amp.",
    "torch.cuda.amp.",
    "torch.profiler.",
    "torch.autograd.profiler.",
    "timm.scheduler.",
    *(
        f"transformers.{path}{name}"
        for path in ("", "optimization.")
        for name in ("get_", "Warmup", "Constant")
    ),
)


def unknown_steps(
    facts: Facts, program: ProgramFacts, optimizers: Iterable[Optimizer]
) -> list[tuple[Names, ast.Call]]:
    """Calls of step() on something that is no optimizer of these, scheduler or scaler that is known."""
    known = {optimizer.value for optimizer in optimizers}
    found = []
    for names, call, receiver in facts.methods("step"):
        if names not in program.files or isinstance(receiver, ast.Constant):
            continue
        if may_step_weights(names, call):
            values = facts.flow.values(names, receiver)
            if call.args and any(value.name == words.SCALER for value in values):
                values = facts.flow.values(names, call.args[0])  # a GradScaler steps what it is given
            if values and not any(value in known or _harmless(value) for value in values):
                found.append((names, call))
    return found


def unseen_steps(facts: Facts, program: ProgramFacts) -> list[tuple[Names, ast.Call]]:
    """Calls of step() without arguments on what cannot be followed: `D.optim.step()` of a D by name."""
    return [
        (names, call)
        for names, call, receiver in facts.methods("step")
        if names in program.files
        and not call.args
        and may_step_weights(names, call)
        and not facts.flow.values(names, receiver)
        and _is_set(names, receiver)
    ]


def _is_set(names: Names, receiver: ast.expr) -> bool:
    """Whether something says what an expression begins with; where nothing does, the line fails anyhow."""
    head = head_of(receiver)
    return not isinstance(head, ast.Name) or bool(names.bindings(head.id, head))


def _harmless(value: Value) -> bool:
    return value.kind in ("object", "param") or value.name.startswith(NO_OPTIMIZERS)
