"""Programs of one process that step by hand: `p.data.add_(p.grad, alpha=-lr)`, `w -= lr * w.grad`.

What is stepped are the parameters of models, or tensors that are made once. The gradients of these can be
averaged after each backward pass (after_backward.py) where everything that steps in the program is seen, and
where the steps do the same on all ranks when they get the same gradients.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.dataclass import dataclass
from hvdkit.migrate.facts.data.whole_graph import RANDOM
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.models.optimizers import every_optimizer
from hvdkit.migrate.facts.models.parameter_roots import parameter_roots
from hvdkit.migrate.facts.models.weight_updates import changed_by, hand_updates
from hvdkit.migrate.facts.models.wraps import Wrap
from hvdkit.migrate.facts.models.written_models import NotShown
from hvdkit.migrate.facts.optimizers.hand_rates import own_rates
from hvdkit.migrate.facts.optimizers.unknown_steps import unknown_steps, unseen_steps
from hvdkit.migrate.facts.programs.programs import ProgramFacts
from hvdkit.migrate.facts.programs.reached_code import runs_in
from hvdkit.migrate.values.arguments import is_on, keyword, passed
from hvdkit.migrate.values.value import Value
from hvdkit.source.index.names import FUNCTIONS, Names

MODEL, TENSOR = "a model", "a tensor"
_FILLS = ("normal_", "uniform_", "random_", "bernoulli_", "exponential_", "cauchy_", "geometric_")
_FACTORIES = ("zeros", "ones", "full", "rand", "normal", "tensor", "empty", "autograd.Variable")
_LEAVES = tuple(f"torch.{name}" for name in _FACTORIES)
_PARAMETERS = ("torch.nn.Parameter", "torch.nn.parameter.Parameter")


@dataclass(frozen=True)
class HandSteps:
    """wraps: each model, and each tensor, that anything steps in the program, as calls of DDP would be.

    all_there: whether a step fails where a gradient is missing, so that none is missing on any rank.
    """

    wraps: tuple[Wrap, ...]
    all_there: bool


def steps_by_hand(facts: Facts, program: ProgramFacts) -> list[tuple[Names, ast.stmt]]:
    """The statements of a program that change weights by gradients themselves."""
    found = [(names, statement) for names in program.files for statement in hand_updates(names)]
    found = [at for at in found if not _only_adds_up(*at) and runs_in(facts, program, *at)]
    return sorted(found, key=lambda at: (str(at[0].source.path), at[1].lineno))


def stepped_by_hand(facts: Facts, program: ProgramFacts) -> HandSteps | None:
    """What a program steps, where it steps by hand at all. Raises NotShown where that is not all seen."""
    steps = steps_by_hand(facts, program)
    if not steps:
        return None
    known = every_optimizer(facts)
    for names, call in (*unknown_steps(facts, program, known), *unseen_steps(facts, program)):
        if runs_in(facts, program, names, call):
            raise NotShown(f"something unknown takes a step at {names.place(call)}")
    wraps: list[Wrap] = []
    for names, statement in steps:
        _same_everywhere(facts, names, statement)
        wraps += stepped_models(facts, names, statement)
    for optimizer in known:
        names, made = optimizer.names, optimizer.node
        if names in program.files and runs_in(facts, program, names, made):
            if not optimizer.roots or not optimizer.whole:
                raise NotShown(f"it is not seen what the optimizer of {names.place(made)} trains")
            wraps += [_model(facts, *root) for root in optimizer.roots]
    unlike = any(_may_miss(names, statement) for names, statement in steps)
    return HandSteps(tuple({wrap.models: wrap for wrap in wraps}.values()), not unlike)


def _only_adds_up(names: Names, statement: ast.stmt) -> bool:
    """Whether a number is what changes: `norm = 0.0` and `norm += p.grad.norm() ** 2`."""
    total = statement.target if isinstance(statement, ast.AugAssign) else None
    bound = names.bindings(total.id, total) if isinstance(total, ast.Name) else []
    first = [binding for binding in bound if not isinstance(names.parents[binding.node], ast.AugAssign)]
    return bool(first) and all(isinstance(binding.value, ast.Constant) for binding in first)


# --- what is stepped ---------------------------------------------------------------------------


def stepped_models(facts: Facts, names: Names, statement: ast.stmt) -> list[Wrap]:
    """The models, or tensors, that a statement changes."""
    changed = _head(statement)
    if changed is None:
        raise NotShown(f"it is not seen what is updated at {names.place(statement)}")
    loop = _loop_around(names, statement)
    if loop is None:
        return [_tensor(facts, names, changed)]
    roots = parameter_roots(facts, names, loop.iter)
    if roots:
        return [_model(facts, *root) for root in roots]
    tensors = list(_listed(facts, names, loop.iter))
    if not tensors:
        raise NotShown(f"it is not seen whose parameters are updated at {names.place(statement)}")
    return [_tensor(facts, *each) for each in tensors]


def _head(statement: ast.stmt) -> ast.Name | None:
    """The variable of what a step changes: `p` of `p.data.add_(...)`."""
    changed = changed_by(statement)
    while isinstance(changed, ast.Attribute):
        changed = changed.value
    return changed if isinstance(changed, ast.Name) else None


def _loop_around(names: Names, statement: ast.stmt) -> ast.For | None:
    """The loop around a step whose variable it changes."""
    variable = _head(statement)
    if variable is None:
        return None
    for parent in names.ancestors(statement):
        if isinstance(parent, FUNCTIONS):
            return None
        if isinstance(parent, ast.For) and any(
            isinstance(part, ast.Name) and part.id == variable.id for part in ast.walk(parent.target)
        ):
            return parent
    return None


def _listed(facts: Facts, names: Names, node: ast.expr) -> Iterator[tuple[Names, ast.Name]]:
    """The variables of a list that is written out, in a variable or handed to the function."""
    if isinstance(node, (ast.List, ast.Tuple)):
        for part in node.elts:
            if not isinstance(part, ast.Name):
                raise NotShown(f"what is in the list at {names.place(node)} is not seen")
            yield names, part
    elif isinstance(node, ast.Name):
        bindings = names.bindings(node.id, node)
        only = bindings[0] if len(bindings) == 1 else None
        if only is not None and only.kind == "assign" and not only.path and only.value is not None:
            yield from _listed(facts, names, only.value)
        elif only is not None and only.kind == "param" and (function := names.function(node)) is not None:
            for where, call in facts.flow.call_sites(names, function):
                given = passed(names, function, where, call, node.id)
                if given is None:
                    raise NotShown(f"it is not seen what is updated for the call at {where.place(call)}")
                yield from _listed(facts, where, given)


def _model(facts: Facts, names: Names, root: ast.expr) -> Wrap:
    models = facts.flow.unwrap(facts.flow.values(names, root))
    if not models or any(model.kind not in ("made", "object") for model in models):
        raise NotShown(f"which model `{names.source.segment(root)}` is at {names.place(root)} is not seen")
    call = next((parent for parent in names.ancestors(root) if isinstance(parent, ast.Call)), None)
    if call is None:
        raise NotShown(f"it is not seen whose parameters are updated at {names.place(root)}")
    return Wrap(names, call, MODEL, root, models)


def _tensor(facts: Facts, names: Names, variable: ast.Name) -> Wrap:
    """A tensor that is made once, in no loop, to get gradients."""
    values = facts.flow.values(names, variable)
    value = next(iter(values)) if len(values) == 1 else None
    call = value.node if value is not None else None
    if value is None or not isinstance(call, ast.Call) or not _is_leaf(facts, value, call):
        raise NotShown(f"which tensor `{variable.id}` is at {names.place(variable)} is not seen")
    if value.names.in_loop(call):
        raise NotShown(f"`{variable.id}` at {names.place(variable)} is created repeatedly")
    return Wrap(names, call, TENSOR, variable, values)


def _is_leaf(facts: Facts, value: Value, call: ast.Call) -> bool:
    """Whether torch makes a tensor with gradients of its own: `torch.randn(2, requires_grad=True)`."""
    if value.kind != "made" or not value.name.startswith((*_LEAVES, *_PARAMETERS)):
        return False
    return (
        value.name in _PARAMETERS
        or is_on(keyword(call, "requires_grad"))
        or any(
            value in facts.flow.values(value.names, asked.func.value)
            for asked in value.names.calls.get("requires_grad_", ())
            if isinstance(asked.func, ast.Attribute)
        )
    )


# --- whether the steps are the same on all ranks -----------------------------------------------


def _same_everywhere(facts: Facts, names: Names, statement: ast.stmt) -> None:
    """Raise NotShown where a step depends on more than the gradients and what all ranks share."""
    for call in names.calls_in(_loop_around(names, statement) or statement):
        qualified = facts.flow.qualified(names, call.func)
        if any(name.startswith(RANDOM) for name in qualified) or getattr(call.func, "attr", "") in _FILLS:
            raise NotShown(
                f"the update at {names.place(call)} uses random numbers, which differ on each rank"
            )
    for rate in own_rates(facts, names, statement):
        if rate.test is None:
            raise NotShown(f"`{rate.name}` in the update at {names.place(statement)} differs on each rank")


def _may_miss(names: Names, statement: ast.stmt) -> bool:
    """Whether a step may leave out what has no gradient, or leaves some parameters out anyhow."""
    loop = _loop_around(names, statement)
    inside = loop is not None
    if loop is not None and any(isinstance(part, (ast.Continue, ast.Break)) for part in names.walk(loop)):
        return True
    for parent in names.ancestors(statement):
        inside = inside and parent is not loop
        if isinstance(parent, FUNCTIONS):
            return False
        if isinstance(parent, ast.Try) or (isinstance(parent, ast.If) and (inside or _asks(parent.test))):
            return True
    return False


def _asks(test: ast.expr) -> bool:
    """Whether a test asks for a gradient, or whether there is to be one."""
    return any(getattr(part, "attr", "") in ("grad", "requires_grad") for part in ast.walk(test))
