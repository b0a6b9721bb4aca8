"""Steps of something unknown, in a program whose optimizer was not followed to where it steps."""

from __future__ import annotations

import ast

from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.models.optimizers import Optimizer
from hvdkit.migrate.facts.models.weight_updates import may_step_weights
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.facts.optimizers.averaging_optimizers import averaging_optimizers
from hvdkit.migrate.facts.optimizers.step_calls import step_calls
from hvdkit.migrate.facts.optimizers.steps import steps_of
from hvdkit.migrate.facts.programs.programs import programs_of
from hvdkit.migrate.facts.programs.reached_code import runs_in
from hvdkit.migrate.values.value import Value
from hvdkit.source.index.names import Names


@once
def unfollowed_steps(facts: Facts) -> list[tuple[Names, ast.Call]]:
    """Those before which gradients are looked at: a plain step() waits for the averages itself."""
    stepped = {value for step in step_calls(facts).steps for value in step.optimizers}
    found: dict[ast.Call, Names] = {}
    for program in programs_of(facts):
        lost = [o for o in averaging_optimizers(facts) if o.names in program.files and o.value not in stepped]
        if not program.migrates or not lost:
            continue
        for names, call, receiver in facts.methods("step"):
            if names not in program.files or not may_step_weights(names, call):
                continue
            scaled = _scaled(names, call, receiver)
            values = facts.flow.values(names, call.args[0] if scaled else receiver)
            around = _zeroed(names, receiver)
            if not all(value.unknown or (around and _holds(facts, value, lost)) for value in values):
                continue
            if (scaled or steps_of(facts).looks_before(names, call)) and runs_in(facts, program, names, call):
                found[call] = names
    return [(names, call) for call, names in found.items()]


def _scaled(names: Names, call: ast.Call, receiver: ast.expr) -> bool:
    """Whether a step is one of a GradScaler, which scales a loss beside it."""
    scales = (
        other.func.value for other in names.calls.get("scale", ()) if isinstance(other.func, ast.Attribute)
    )
    return bool(call.args) and any(ast.dump(scaler) == ast.dump(receiver) for scaler in scales)


def _zeroed(names: Names, receiver: ast.expr) -> bool:
    """Whether something is told to zero_grad(), as optimizers are and schedules of their rates are not."""
    zeroed = (
        call.func.value for call in names.calls.get("zero_grad", ()) if isinstance(call.func, ast.Attribute)
    )
    return any(ast.dump(other) == ast.dump(receiver) for other in zeroed)


def _holds(facts: Facts, value: Value, lost: list[Optimizer]) -> bool:
    """Whether a library made something of one of these optimizers, which its step() may step."""
    if value.kind != "made" or not isinstance(value.node, ast.Call) or value.name.startswith("torch."):
        return False
    given = (*value.node.args, *(keyword.value for keyword in value.node.keywords))
    inside = {one for part in given for one in facts.flow.unwrap(facts.flow.values(value.names, part))}
    return any(optimizer.value in inside for optimizer in lost)
