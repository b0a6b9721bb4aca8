"""What a program does with Horovod: its calls, the programs they belong to, and the optimizers it wraps.

PyTorch and TensorFlow alike; the values behind the calls are hvdkit.migrate.facts'.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.check.order import follows
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.facts import Site
from hvdkit.migrate.facts.launch.rank_kinds import rank_kinds
from hvdkit.migrate.facts.models.step_groups import Step
from hvdkit.migrate.facts.optimizers.averaging_optimizers import averaging_optimizers
from hvdkit.migrate.facts.optimizers.horovod_wraps import Wrapped as Wrapped
from hvdkit.migrate.facts.optimizers.horovod_wraps import called as called
from hvdkit.migrate.facts.optimizers.horovod_wraps import short as short
from hvdkit.migrate.facts.optimizers.horovod_wraps import wrapped_models as wrapped_models
from hvdkit.migrate.facts.optimizers.horovod_wraps import wraps as wraps
from hvdkit.migrate.facts.optimizers.step_calls import step_calls
from hvdkit.migrate.facts.programs.programs import ProgramFacts, programs_of
from hvdkit.migrate.values import vocabulary as words
from hvdkit.migrate.values.arguments import keyword, unpacks
from hvdkit.migrate.values.value import Value
from hvdkit.source.index.names import FUNCTIONS, Names

# Every rank has to come to each of these, in the same order.
COLLECTIVES = (
    "allreduce",
    "allreduce_",
    "grouped_allreduce",
    "grouped_allreduce_",
    "allgather",
    "allgather_object",
    "grouped_allgather",
    "alltoall",
    "reducescatter",
    "grouped_reducescatter",
    "broadcast",
    "broadcast_",
    "broadcast_object",
    "broadcast_object_fn",
    "broadcast_parameters",
    "broadcast_optimizer_state",
    "broadcast_variables",
    "broadcast_global_variables",
    "barrier",
    "join",
)
# ... and these give every rank the same values.
BROADCASTS = tuple(name for name in COLLECTIVES if name.startswith("broadcast"))
WRAPPED = frozenset(f"{module}.DistributedOptimizer" for module in words.HOROVOD)
HOROVOD = frozenset(("horovod.torch.DistributedOptimizer",))  # hvdkit.torch sees to some things itself


def programs(facts: Facts) -> list[ProgramFacts]:
    """The programs that start Horovod."""
    started = {site.names for site in called(facts, "init")}
    return [program for program in programs_of(facts) if program.files & started]


def horovod_files(facts: Facts) -> frozenset[Names]:
    """The files of the programs that start Horovod."""
    return frozenset().union(*(program.files for program in programs(facts)))


def calls_in(facts: Facts, program: ProgramFacts, *names: str) -> list[Site]:
    """`called`, in the files of one program."""
    return [site for site in called(facts, *names) if site.names in program.files]


def mentioned(program: ProgramFacts, *words_: str) -> bool:
    """Whether any file of a program holds one of the words at all: for proving that something is absent."""
    return any(word in names.source.text for names in program.files for word in words_)


def is_wrapped(facts: Facts, names: Names, node: ast.AST, by: frozenset[str] = WRAPPED) -> bool:
    """Whether an expression is one of Horovod's optimizers, and nothing else.

    A function that reads a variable sees all that it ever holds: `x = SGD(...)`, then
    `x = DistributedOptimizer(x)`. The first does not count where the second always follows.
    """
    values = facts.flow.values(names, node)
    around = [wrap for wrap in wraps(facts) if wrap.value in values]
    if not around or any(wrap.value.name not in by for wrap in around):
        return False
    replaced = frozenset().union(*(wrap.optimizers for wrap in around if _replaces(wrap)))
    return values - {wrap.value for wrap in around} <= replaced


def wrapped_under(facts: Facts, names: Names, node: ast.AST) -> list[ast.expr]:
    """The tests under which an expression becomes one of horovod.torch's optimizers; none where it always is.

    `if use_horovod: x = DistributedOptimizer(x)`: whatever else it may be is what is wrapped.
    """
    values = facts.flow.values(names, node)
    around = [wrap for wrap in wraps(facts) if wrap.value in values]
    rest = values - {wrap.value for wrap in around}
    inner = frozenset[Value]().union(*(wrap.optimizers for wrap in around))
    if not rest or not rest <= inner or any(wrap.value.name not in HOROVOD for wrap in around):
        return []
    return [
        parent.test
        for wrap in around
        for parent in wrap.names.ancestors(wrap.node)
        if isinstance(parent, ast.If)
    ]


def _replaces(wrap: Wrapped) -> bool:
    """`x = hvd.DistributedOptimizer(x)`, always run after whatever else x is assigned in its function."""
    names, statement = wrap.names, wrap.names.statement(wrap.node)
    if wrap.given is None or not isinstance(statement, ast.Assign) or statement.value is not wrap.node:
        return False
    assigned = statement.targets[0]
    if ast.dump(assigned).replace("Store()", "Load()") != ast.dump(wrap.given):
        return False
    if isinstance(assigned, ast.Name):
        owner = names.scope(assigned).owner(assigned.id)
        others = [binding.node for binding in owner.names[assigned.id]] if owner else []
    elif isinstance(assigned, ast.Attribute):
        others = [binding.node for _, binding in names.stores.get(assigned.attr, ())]
    else:
        return False
    return all(follows(names, other, statement) for other in others if other is not assigned)


def wrapped_steps(facts: Facts) -> Iterator[Step]:
    """The steps of optimizers that horovod.torch itself wraps."""
    for step in step_calls(facts).steps:
        if is_wrapped(facts, step.names, step.target, HOROVOD):
            yield step


def discarded(names: Names, call: ast.Call) -> ast.Expr | None:
    """The statement that a call is, all alone, so that its result is lost."""
    parent = names.parents.get(call)
    return parent if isinstance(parent, ast.Expr) else None


def argument(call: ast.Call, position: int, name: str) -> ast.expr | None:
    """What a call of a library gives for a parameter."""
    if len(call.args) > position and not any(isinstance(a, ast.Starred) for a in call.args[: position + 1]):
        return call.args[position]
    return keyword(call, name)


def averages(facts: Facts, site: Site) -> bool:
    """Whether an allreduce certainly averages: nothing is said, or op=hvd.Average, or average=True."""
    op, average = keyword(site.node, "op"), argument(site.node, 1, "average")
    if unpacks(site.node):
        return False
    if op is not None:
        return any(name.endswith(".Average") for name in facts.flow.qualified(site.names, op))
    return average is None or (isinstance(average, ast.Constant) and average.value in (True, None))


def target(node: ast.AST) -> bool:
    """Whether an expression is a plain variable or attribute, which can be written twice."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def optimizer_loads(facts: Facts) -> Iterator[tuple[Names, ast.Call, frozenset[Value]]]:
    """`optimizer.load_state_dict(...)` with what the optimizer may be, wrappers kept."""
    known = {optimizer.value for optimizer in averaging_optimizers(facts)}
    for names, call, receiver in facts.methods("load_state_dict"):
        values = facts.flow.values(names, receiver)
        if facts.flow.unwrap(values) & known:
            yield names, call, values


def model_loads(facts: Facts) -> Iterator[tuple[Names, ast.Call, frozenset[Value]]]:
    """`model.load_state_dict(...)` of models that an optimizer trains."""
    trained = frozenset().union(*(optimizer.models for optimizer in averaging_optimizers(facts)))
    for names, call, receiver in facts.methods("load_state_dict"):
        values = facts.flow.unwrap(facts.flow.values(names, receiver))
        if values & trained:
            yield names, call, values


def number(node: ast.AST | None) -> float | None:
    """The number that an expression is written as."""
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        return float(node.value)
    return None


MAX_CALLERS = 6


def every_rank_certainly(facts: Facts, names: Names, node: ast.AST, depth: int = 0) -> bool:
    """Whether nothing hints that a node runs on some ranks only, or only without Horovod.

    Hints: a test made from a rank, or from what is called one, around it or a caller; another branch that
    uses Horovod; no known caller; a caller whose object may be another one, as the writer of
    `writer = Writer() if rank == 0 else Silent()`.
    """
    child = node
    for parent in names.ancestors(node):
        if isinstance(parent, (ast.If, ast.IfExp)) and child is not parent.test:
            if any(rank_kinds(facts).inside(names, parent.test, kind) for kind in ("rank", "local_rank")):
                return False
            if any("rank" in word for word in words_of(parent.test)):  # args.rank, whose origin is not seen
                return False
            if any(_may_hold_rank(facts, names, part) for part in ast.walk(parent.test)):
                return False
            other = parent.orelse if _within(parent.body, child) else parent.body
            if _uses_horovod(facts, names, other):
                return False
        if isinstance(parent, FUNCTIONS):
            sites = facts.flow.call_sites(names, parent) if depth < MAX_CALLERS else []
            return bool(sites) and all(
                _one_receiver(facts, where, call) and every_rank_certainly(facts, where, call, depth + 1)
                for where, call in sites
            )
        child = parent
    return True


def _may_hold_rank(facts: Facts, names: Names, part: ast.AST) -> bool:
    """Whether an attribute has the name of one that is made from a rank, on whatever object."""
    if not isinstance(part, ast.Attribute):
        return False
    stored = [(file, binding.value) for file in facts.files for _, binding in file.stores.get(part.attr, ())]
    return any(value is not None and rank_kinds(facts).inside(file, value) for file, value in stored)


def words_of(node: ast.AST) -> Iterator[str]:
    """The variables and attributes that an expression names."""
    for part in ast.walk(node):
        if isinstance(part, (ast.Name, ast.Attribute)):
            yield part.id if isinstance(part, ast.Name) else part.attr


def _one_receiver(facts: Facts, names: Names, call: ast.Call) -> bool:
    return not isinstance(call.func, ast.Attribute) or len(facts.flow.values(names, call.func.value)) < 2


def _within(part: object, child: ast.AST) -> bool:
    return child in part if isinstance(part, list) else part is child


def _uses_horovod(facts: Facts, names: Names, part: object) -> bool:
    """Whether a branch calls anything of Horovod's, itself or in the functions that it calls."""
    nodes = part if isinstance(part, list) else [part]
    waiting = [(names, node) for node in nodes if isinstance(node, ast.AST)]
    for where, node in waiting:  # grows
        for call in (inner for inner in ast.walk(node) if isinstance(inner, ast.Call)):
            if any(
                name.startswith(("horovod.", "hvdkit.")) for name in facts.flow.qualified(where, call.func)
            ):
                return True
            waiting += [own for own in facts.flow.functions(where, call) if own not in waiting]
    return False
