"""Whether a program trains: it runs a backward pass, and something changes weights by the gradients."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.models.optimizers import every_optimizer, input_fits, is_input
from hvdkit.migrate.facts.once import once
from hvdkit.source.index.names import Names

OF_SCHEDULES = ("epoch", "metrics")  # parameters of step() in torch.optim.lr_scheduler, and of no optimizer's
PARAMETERS = ("parameters", "named_parameters")
FROM_VECTORS = (
    "torch.nn.utils.vector_to_parameters",
    "torch.nn.utils.convert_parameters.vector_to_parameters",
)
COUNTERS = ("torch.profiler.", "torch.optim.lr_scheduler.")


@once
def weight_updates(facts: Facts) -> list[tuple[Names, ast.AST]]:
    """Where an optimizer is made or steps, or weights are changed by hand.

    Without one of these a backward pass is a test of gradients, looks at a model that is trained, or fits an
    input to it.
    """
    of_inputs = {each.value for each in input_fits(facts)}
    found: list[tuple[Names, ast.AST]] = [(o.names, o.node) for o in every_optimizer(facts)]
    for names, call, receiver in facts.methods("step"):
        stepped = facts.flow.values(names, receiver)
        if stepped and stepped <= of_inputs:
            continue
        if may_step_weights(names, call) and not _counts_steps(facts, names, receiver):
            found.append((names, call))
    for names in facts.files:
        updates = ((changed_by(statement), statement) for statement in hand_updates(names))
        found += [(names, statement) for changed, statement in updates if not is_input(names, changed)]
        found += [(names, call) for call in _from_vectors(names)]
    found += [(site.names, site.node) for site in facts.calls(*FROM_VECTORS)]
    return found


def _from_vectors(names: Names) -> Iterator[ast.Call]:
    """`p.data.copy_(vector[at : at + n].view_as(p))`: one vector has been computed for all weights."""
    for call in names.calls.get("copy_", ()):
        loop = next((parent for parent in names.ancestors(call) if isinstance(parent, ast.For)), None)
        over = names.calls_in(loop.iter) if loop is not None else []
        weights = any(getattr(each.func, "attr", "") in PARAMETERS for each in over)
        if weights and any(isinstance(part, ast.Slice) for given in call.args for part in ast.walk(given)):
            yield call


def may_step_weights(names: Names, call: ast.Call) -> bool:
    """Whether a call of step() is one as optimizers have it: given a closure at most, for a loss at most.

    A schedule of the learning rate has `step(epoch=3)`, a sampler of diffusion models
    `scheduler.step(noise, t, latents).prev_sample`, an environment
    `observation, reward, done, info = env.step(action)`.
    """
    parent = names.parents[call]
    parts = isinstance(parent, (ast.Subscript, ast.Attribute)) or (
        isinstance(parent, ast.Assign) and isinstance(parent.targets[0], (ast.Tuple, ast.List))
    )
    told = any(keyword.arg in OF_SCHEDULES for keyword in call.keywords)
    return len(call.args) <= 1 and not told and not parts


def _counts_steps(facts: Facts, names: Names, receiver: ast.expr) -> bool:
    """Whether a step() is told to what only counts them: a profiler, a schedule of the learning rate."""
    values = facts.flow.values(names, receiver)
    return bool(values) and all(value.kind == "made" and value.name.startswith(COUNTERS) for value in values)


def hand_updates(names: Names) -> Iterator[ast.stmt]:
    """Statements such as `p -= rate * p.grad`, `p.data.add_(p.grad)` and `p.data = p - rate * p.grad`."""
    for gradient in names.attributes.get("grad", ()):
        statement = names.statement(gradient)
        changed = None if names.qualified(gradient) else changed_by(statement)
        if changed is not None and gradient not in ast.walk(changed):
            yield statement


def copied_gradients(facts: Facts, names: Names) -> Iterator[ast.stmt]:
    """Statements such as `master.grad = p.grad.float()` and `master.grad.data.copy_(p.grad.data)`.

    A function of the project may read the gradient: `master.grad = flatten([gradient_of(p) for p in ps])`.
    """
    for gradient in (*names.attributes.get("grad", ()), *names.attributes.get("_grad", ())):
        statement = names.statement(gradient)
        into = None if names.qualified(gradient) else _filled(statement)
        if into is None:
            continue
        if into is not gradient:
            copied = ast.dump(into.value) != ast.dump(gradient.value)
        else:
            copied = any(_reads_another(facts, names, call, into.value) for call in names.calls_in(statement))
        if copied:
            yield statement


def _reads_another(facts: Facts, names: Names, call: ast.Call, own: ast.expr) -> bool:
    """Whether a call runs a function of the project that reads the gradient of what it is given."""
    if not call.args or any(ast.dump(given) == ast.dump(own) for given in call.args):
        return False
    return any(
        isinstance(part, ast.Attribute) and part.attr == "grad" and isinstance(part.ctx, ast.Load)
        for where, function in facts.flow.functions(names, call)
        for result in where.returns.get(function, ())
        for part in where.walk(result)
    )


def _filled(statement: ast.stmt) -> ast.Attribute | None:
    """The `x.grad` that a statement gives a value."""
    into: ast.expr | None = None
    if isinstance(statement, ast.Assign):
        into = statement.targets[0]
    elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        method = statement.value.func
        into = method.value if isinstance(method, ast.Attribute) and method.attr == "copy_" else None
    if isinstance(into, ast.Attribute) and into.attr == "data":
        into = into.value
    return into if isinstance(into, ast.Attribute) and into.attr in ("grad", "_grad") else None


def changed_by(statement: ast.stmt) -> ast.expr | None:
    """What a statement changes in place."""
    if isinstance(statement, ast.AugAssign):
        return statement.target
    if isinstance(statement, ast.Assign):
        target = statement.targets[0]
        return target if isinstance(target, ast.Attribute) and target.attr == "data" else None
    call = statement.value if isinstance(statement, ast.Expr) else None
    method = call.func if isinstance(call, ast.Call) else None
    in_place = isinstance(method, ast.Attribute) and method.attr.endswith("_")
    return method if in_place else None
