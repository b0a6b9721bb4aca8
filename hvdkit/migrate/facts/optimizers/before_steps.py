"""Steps of optimizers that cannot be wrapped, and where their gradients can be averaged before them.

DDP keeps the replicas of a model alike: whichever backward passes it reduces in, the gradients that a step
gets are the averages of what the ranks have added up. One average of them, after the last backward pass and
before anything looks at them, is the same, for an average of averages is itself.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.dataclass import dataclass
from hvdkit.migrate import edits
from hvdkit.migrate.facts.code.running import walk_here
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.models.gradient_reads import GradientUse
from hvdkit.migrate.facts.models.optimizers import every_optimizer
from hvdkit.migrate.facts.models.wraps import MAY_BE_UNUSED, Wrap, changes_average, find_wraps
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.facts.optimizers.averaging_optimizers import averaging_optimizers
from hvdkit.migrate.facts.optimizers.named_passes import by_name, leads_to_backward
from hvdkit.migrate.facts.optimizers.sparse_gradients import sparse_gradients
from hvdkit.migrate.facts.optimizers.unknown_steps import unknown_steps, unseen_steps
from hvdkit.migrate.facts.programs.programs import ProgramFacts
from hvdkit.migrate.facts.programs.reached_code import runs_in
from hvdkit.migrate.values import vocabulary as words
from hvdkit.migrate.values.arguments import is_on, keyword
from hvdkit.migrate.values.binding_order import last_binding
from hvdkit.migrate.values.filled_lists import elements
from hvdkit.source.index.names import FUNCTIONS, LOOPS, Names

RULE = "HVD417"


class NoPlace(Exception):
    """Why the gradients of a step cannot be averaged before it."""


@dataclass(frozen=True)
class Average:
    """One step. statement: before which to average; model: the text of what has the parameters."""

    names: Names
    step: ast.Call
    statement: ast.stmt
    model: str


@dataclass(frozen=True)
class BeforeSteps:
    """The steps of one program, or why they cannot be translated so."""

    averages: tuple[Average, ...] = ()
    problem: str = ""


@dataclass(frozen=True)
class _Trained:
    """The model of a step: as it is written there, and the expressions that it stands for."""

    text: str
    roots: tuple[ast.expr, ...]


@once
def before_steps(facts: Facts, program: ProgramFacts) -> BeforeSteps:
    """Where a program of DDP whose optimizers are unknown averages before each step."""
    try:
        return BeforeSteps(tuple(_averages(facts, program)))
    except NoPlace as problem:
        return BeforeSteps(problem=str(problem))


def _averages(facts: Facts, program: ProgramFacts) -> Iterator[Average]:
    if not facts.options.allows(RULE):
        raise NoPlace(f"{RULE} was not chosen")
    if any(optimizer.names in program.files for optimizer in every_optimizer(facts)):
        raise NoPlace("another optimizer of the program averages its own gradients")
    every = dict.fromkeys(
        (*unknown_steps(facts, program, averaging_optimizers(facts)), *unseen_steps(facts, program))
    )
    steps = [(names, step) for names, step in every if runs_in(facts, program, names, step)]
    if not steps:
        raise NoPlace("no step is seen")
    for names, call in sparse_gradients(facts, program):
        raise NoPlace(f"gradients are sparse at {names.place(call)}")
    for names, step in steps:
        yield _average(facts, program, names, step)


def _average(facts: Facts, program: ProgramFacts, names: Names, step: ast.Call) -> Average:
    receiver = step.func.value if isinstance(step.func, ast.Attribute) else step
    if step.args or step.keywords:
        raise NoPlace("it is given a closure, or a different optimizer")
    trained = _trained(names, receiver)
    wraps = [wrap for wrap in find_wraps(facts) if wrap.names in program.files and wrap.name in words.WRAPS]
    for wrap in wraps:
        _plain(wrap)
    for root in trained.roots:
        if not any(_covers(names, root, wrap) for wrap in wraps):
            raise NoPlace(f"that `{ast.unparse(root)}` is what DDP wraps is not seen")
    return Average(names, step, _place(facts, names, step), trained.text)


# --- what is trained ---------------------------------------------------------------------------


def _trained(names: Names, receiver: ast.expr) -> _Trained:
    """The model of an optimizer: of `opt`, made of `net.parameters()`; of `phase.opt`, beside `phase.net`."""
    if isinstance(receiver, ast.Name):
        root = _given(names, receiver)
        if root is None or len(names.bindings(root.id, root)) != 1:
            raise NoPlace("whose parameters it was given is not seen")
        return _Trained(root.id, _expanded(names, root))
    if not isinstance(receiver, ast.Attribute) or not isinstance(receiver.value, ast.Name):
        raise NoPlace("whose parameters it was given is not seen")
    record = receiver.value
    keys: set[str] = set()
    roots: list[ast.expr] = []
    for made in elements(names, record):
        optimizer = keyword(made, receiver.attr) if isinstance(made, ast.Call) else None
        root = _given(names, optimizer) if isinstance(optimizer, ast.Name) else None
        if root is None:
            raise NoPlace("whose parameters it was given is not seen")
        keys.add(_beside(names, made, root))  # type: ignore[arg-type]
        roots += _expanded(names, root)
    if len(keys) != 1 or any(names.stores.get(key) for key in (receiver.attr, *keys)):
        raise NoPlace("whose parameters it was given is not seen")
    return _Trained(f"{record.id}.{keys.pop()}", tuple(roots))


def _given(names: Names, optimizer: ast.Name) -> ast.Name | None:
    """x of the `x.parameters()` that the call which made an optimizer was given, and nothing like it."""
    last = last_binding(names, optimizer)
    made = last.value if last is not None and not last.path else None
    if not isinstance(made, ast.Call):
        return None
    given = [*made.args, *(item.value for item in made.keywords)]
    roots = [
        part.func.value
        for argument in given
        for part in ast.walk(argument)
        if isinstance(part, ast.Call) and getattr(part.func, "attr", "") == "parameters"
        if isinstance(part.func, ast.Attribute) and (part is argument) and not part.args
    ]
    mentioned = [p for argument in given for p in ast.walk(argument) if "param" in getattr(p, "attr", "")]
    only = roots[0] if len(roots) == 1 and len(mentioned) == 1 else None
    return only if isinstance(only, ast.Name) else None


def _beside(names: Names, made: ast.Call, root: ast.Name) -> str:
    """The keyword under which a record has the model, too."""
    for item in made.keywords:
        if item.arg and isinstance(item.value, ast.Name) and _same(names, item.value, root):
            return item.arg
    raise NoPlace(f"`{root.id}` is not kept")


def _same(names: Names, one: ast.Name, other: ast.Name) -> bool:
    """Whether two uses of a variable read the same thing: bound once, or by the same round of a loop."""
    if one.id != other.id or names.scope(one).owner(one.id) is not names.scope(other).owner(other.id):
        return False
    loops = (_loop_of(names, one), _loop_of(names, other))
    if loops[0] is not loops[1]:
        return False
    inside = set(names.walk(loops[0])) if loops[0] is not None else None
    bound = [b for b in names.bindings(one.id, one) if inside is None or b.node in inside]
    return len(bound) == 1


def _loop_of(names: Names, use: ast.Name) -> ast.For | None:
    """The loop around a use whose variable it is."""
    for parent in names.ancestors(use):
        if isinstance(parent, FUNCTIONS):
            break
        if isinstance(parent, ast.For) and any(
            isinstance(part, ast.Name) and part.id == use.id for part in ast.walk(parent.target)
        ):
            return parent
    return None


def _expanded(names: Names, use: ast.expr) -> tuple[ast.expr, ...]:
    """What a loop's variable stands for, where the loop goes over what is written out; else the use."""
    loop = _loop_of(names, use) if isinstance(use, ast.Name) else None
    written = loop.iter.elts if loop is not None and isinstance(loop.iter, (ast.List, ast.Tuple)) else []
    if loop is None or not written:
        return (use,)
    path = next(b.path for b in names.bindings(use.id, use) if b.node in set(ast.walk(loop.target)))  # type: ignore[attr-defined]
    found: list[ast.expr] = []
    for element in written:
        part: ast.expr | None = element
        for position in path:
            elts = part.elts if isinstance(part, (ast.Tuple, ast.List)) else []
            part = elts[position] if 0 <= position < len(elts) else None
        found.append(use if part is None else part)
    return tuple(found)


# --- what DDP averages -------------------------------------------------------------------------


def _plain(wrap: Wrap) -> None:
    """Raise NoPlace where DDP averages other than all gradients of a model over all ranks."""
    if any(is_on(keyword(wrap.node, name)) for name in MAY_BE_UNUSED):
        raise NoPlace("ranks may have gradients of different parameters, as DDP's arguments indicate")
    if any(item.arg is None for item in wrap.node.keywords):
        raise NoPlace("not all that DDP is given is seen")
    if argument := changes_average(wrap):
        raise NoPlace(f"DDP's {argument} changes what is averaged")


def _covers(names: Names, root: ast.expr, wrap: Wrap) -> bool:
    """Whether a call wraps a model, or a part of it."""
    if wrap.inner is None or wrap.names is not names or not isinstance(root, ast.Name):
        return False
    for inner in _expanded(names, wrap.inner):
        head = inner
        while isinstance(head, ast.Attribute):
            head = head.value
        if isinstance(head, ast.Name) and head.id == root.id:
            if names.scope(head).owner(head.id) is names.scope(root).owner(root.id):
                return True
    return False


# --- where -------------------------------------------------------------------------------------


def _place(facts: Facts, names: Names, step: ast.Call) -> ast.stmt:
    """The first statement below the last backward pass that looks at gradients, or the step's own.

    Above the first backward pass gradients may be looked at where each round ends with a step: what is left
    there are the averages of the round before.
    """
    gradients = GradientUse(facts)
    found = names.statement(step)
    if not isinstance(found, ast.Expr):
        raise NoPlace("its step is part of another statement")
    above, always = _above(names, found)
    passes = [i for i, statement in enumerate(above) if leads_to_backward(facts, names, statement)]
    if not passes:
        raise NoPlace("no backward pass is seen above it")
    last, first = passes[0], passes[-1]
    always = always and not any(isinstance(p, ast.Continue) for s in above[:last] for p in walk_here(s))
    for statement in above[last : first + 1 if always else None]:
        if any(gradients.looked_at(*part) for part in _inside(facts, names, statement)):
            raise NoPlace("something reads the gradients before all of them are ready")
    return next((s for s in reversed(above[:last]) if gradients.looked_at(names, s)), found)


def _above(names: Names, statement: ast.stmt) -> tuple[list[ast.stmt], bool]:
    """The statements above one up to the loop around it, from below, and whether each round comes to it."""
    found: list[ast.stmt] = []
    child: ast.AST = statement
    always = True
    while not isinstance(child, (*LOOPS, *FUNCTIONS, ast.Module)):
        block = edits.block(names, child)  # type: ignore[arg-type]
        found += reversed(block[: block.index(child)])  # type: ignore[arg-type]
        child = names.parents[child]
        always = always and isinstance(child, (ast.With, *LOOPS, *FUNCTIONS, ast.Module))
    return found, always


def _inside(facts: Facts, names: Names, statement: ast.stmt) -> Iterator[tuple[Names, ast.AST]]:
    yield names, statement
    for call in (part for part in walk_here(statement) if isinstance(part, ast.Call)):
        for where, method in by_name(facts, names, call):
            yield from ((where, part) for part in (method.body if isinstance(method.body, list) else ()))
