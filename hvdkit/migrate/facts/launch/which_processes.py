"""Which processes run some code: by tests around it, early returns, decorators, or all of its callers."""

from __future__ import annotations

import ast
from enum import IntEnum

from hvdkit.migrate.facts.code.call_graph import call_graph
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.launch.launch import launch_of
from hvdkit.migrate.facts.launch.rank_kinds import CONSTANT, UNKNOWN, rank_kinds
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.facts.programs.reached_code import trained_by
from hvdkit.migrate.index.names import FUNCTIONS, Binding, FunctionNode, Names
from hvdkit.migrate.index.statements import statements_above, statements_below
from hvdkit.migrate.values.arguments import passed
from hvdkit.migrate.values.vocabulary import EVERY_HOROVOD

MAX_CALLERS = 6
_LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)
# A size compared so, with this number, says that there is one process, or that there are several.
_ONE: dict[type, int] = {ast.Eq: 1, ast.LtE: 1, ast.Lt: 2}
_SEVERAL: dict[type, int] = {ast.NotEq: 1, ast.Gt: 1, ast.GtE: 2}
ASKS_FOR_CARDS = frozenset(("torch.cuda.is_available", "torch.accelerator.is_available"))
_STARTED = frozenset(("torch.distributed.is_initialized", *(f"{m}.is_initialized" for m in EVERY_HOROVOD)))

NO_ERRORS = ("KeyboardInterrupt", "SystemExit", "GeneratorExit")


class Where(IntEnum):
    """The processes that reach some code; of several guards the narrowest counts."""

    ALL = 0
    ONE_PER_NODE = 1
    RANK_0 = 2


def where_runs(facts: Facts, names: Names, node: ast.AST, depth: int = 0, training: bool = False) -> Where:
    """The processes that reach a node; with `training` by calls in programs that train, if there are any."""
    best = Where.ALL
    child = node
    for parent in names.ancestors(node):
        if isinstance(parent, (ast.If, ast.IfExp)) and child is not parent.test:
            inside = parent.body is child or (isinstance(parent, ast.If) and child in parent.body)
            best = max(best, processes_of_test(facts, names, parent.test, inside))
        elif isinstance(parent, ast.BoolOp) and child in parent.values:
            before = parent.values[: parent.values.index(child)]
            best = max(
                [best, *(processes_of_test(facts, names, v, isinstance(parent.op, ast.And)) for v in before)]
            )
        best = max(best, _left_above(facts, names, child))
        if best is Where.RANK_0:
            return best
        if isinstance(parent, FUNCTIONS):
            return max(best, _of_function(facts, names, parent, depth, training))
        child = parent
    return best


def caught(names: Names, node: ast.AST) -> bool:
    """Whether an error of a node is dealt with by a `try` around it: not by one for Ctrl-C."""
    child = node
    for parent in names.ancestors(node):
        if isinstance(parent, ast.Try) and child in parent.body and any(map(_for_errors, parent.handlers)):
            return True
        child = parent
    return False


def _for_errors(handler: ast.ExceptHandler) -> bool:
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(kind is None or getattr(kind, "id", "") not in NO_ERRORS for kind in kinds)


def sometimes_alone(facts: Facts, names: Names, node: ast.AST, depth: int = 0) -> bool:
    """Whether some way to a node is one that fewer than all processes take: no place for a collective."""
    if where_runs(facts, names, node, MAX_CALLERS) is not Where.ALL:
        return True
    function = names.function(node) if depth < MAX_CALLERS else None
    if function is None:
        return False
    # A method that nothing is seen to call may be what `self.test()` runs in its base class.
    sites = facts.flow.call_sites(names, function) or call_graph(facts).ways(names, function)
    return any(sometimes_alone(facts, where, call, depth + 1) for where, call in sites)


def _of_function(facts: Facts, names: Names, function: FunctionNode, depth: int, training: bool) -> Where:
    """The processes that run a function: those of its decorator, or of the widest of its calls."""
    for decorator in getattr(function, "decorator_list", ()):
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        if any(name.endswith(".rank_zero_only") for name in names.qualified(called)):
            return Where.RANK_0
        for value in facts.flow.values(names, called):
            if value.kind == "function" and _calls_on_rank_0(facts, value.names, value.node):
                return Where.RANK_0
    if depth >= MAX_CALLERS:
        return Where.ALL
    sites = facts.flow.call_sites(names, function)
    if training:
        sites = [site for site in sites if trained_by(facts, *site)] or sites
    return min((where_runs(facts, *site, depth + 1, training) for site in sites), default=Where.ALL)


def _calls_on_rank_0(facts: Facts, names: Names, decorator: ast.AST) -> bool:
    """Whether a decorator's inner function calls what it was given on rank 0 only."""
    given = decorator.args.args[:1] if isinstance(decorator, (ast.FunctionDef, ast.Lambda)) else []
    calls = [
        call
        for call in (names.calls.get(given[0].arg, ()) if given else ())
        if decorator in names.ancestors(call)
    ]
    return bool(calls) and all(where_runs(facts, names, call, MAX_CALLERS) is Where.RANK_0 for call in calls)


def _left_above(facts: Facts, names: Names, child: ast.AST) -> Where:
    """`if rank != 0: return` (continue, raise ...) above, in the same block."""
    best = Where.ALL
    for statement in statements_above(names, child):
        if isinstance(statement, ast.If) and leaves(names, statement.body[-1]):
            best = max(best, processes_of_test(facts, names, statement.test, False))
    return best


def leaves(names: Names, statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        return bool({"sys.exit", "os._exit"} & set(names.qualified(statement.value.func)))
    return isinstance(statement, _LEAVES)


def processes_of_test(facts: Facts, names: Names, test: ast.AST, holds: bool = True, depth: int = 0) -> Where:
    """The processes on which a test can come out as `holds`, when they are fewer than all."""
    known, key = _tests_answered(facts), (test, holds)
    if key not in known:
        if depth > MAX_CALLERS:
            return Where.ALL
        known[key] = Where.ALL  # what a test that leads back to itself says of itself
        known[key] = _tests(facts, names, test, holds, depth)
    return known[key]


@once
def _tests_answered(facts: Facts) -> dict[tuple[ast.AST, bool], Where]:
    """What was answered so far; a test that is being looked at is answered with all processes meanwhile."""
    return {}


def _tests(facts: Facts, names: Names, test: ast.AST, holds: bool, depth: int) -> Where:
    if isinstance(test, ast.BoolOp):
        parts = [processes_of_test(facts, names, value, holds, depth) for value in test.values]
        if isinstance(test.op, ast.And) == holds:
            return max(parts)
        left = [
            part
            for part, value in zip(parts, test.values)
            if not lone_where(facts, names, value, holds) and not (holds and _otherwise(test, value))
        ]
        return min(left, default=Where.ALL)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        if not holds or not _is_number(facts, names, test.operand):
            return processes_of_test(facts, names, test.operand, not holds, depth)
        return _rank(facts, names, test.operand)  # `if not rank`
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        return _compared(facts, names, test, holds)
    if isinstance(test, ast.Call):
        return _of_call(facts, names, test, holds, depth)
    if isinstance(test, (ast.Name, ast.Attribute)):
        return _held(facts, names, test, holds, depth)
    return Where.ALL


def _otherwise(test: ast.BoolOp, part: ast.expr) -> bool:
    """Whether a part is the `not flag` of `not flag or (flag and rank == 0)`: the flag says who is asked."""
    if not isinstance(part, ast.UnaryOp) or not isinstance(part.op, ast.Not):
        return False
    flag = ast.dump(part.operand)
    return any(
        isinstance(other, ast.BoolOp)
        and isinstance(other.op, ast.And)
        and any(ast.dump(value) == flag for value in other.values)
        for other in test.values
    )


def _compared(facts: Facts, names: Names, test: ast.Compare, holds: bool) -> Where:
    left, operator, right = test.left, test.ops[0], test.comparators[0]
    if isinstance(left, ast.Constant) and isinstance(operator, (ast.Eq, ast.NotEq)):
        left, right = right, left
    if isinstance(operator, ast.In) and holds and isinstance(right, (ast.List, ast.Tuple, ast.Set)):
        numbers = [_number(item) for item in right.elts]
        return _rank(facts, names, left) if {*numbers} <= {-1, 0} and 0 in numbers else Where.ALL
    if isinstance(operator, ast.NotIn) and not holds:
        return _compared(facts, names, ast.Compare(left, [ast.In()], [right]), True)
    equal = isinstance(operator, ast.Eq if holds else (ast.NotEq, ast.Gt))
    below_one = isinstance(operator, ast.Lt if holds else ast.GtE) and _number(right) == 1
    if (equal and _number(right) == 0) or below_one:
        return _rank(facts, names, left)
    return Where.ALL


def _of_call(facts: Facts, names: Names, call: ast.Call, holds: bool, depth: int) -> Where:
    """`is_main_process()`: what the project's own function returns."""
    functions = facts.flow.functions(names, call)
    results = [
        processes_of_test(facts, where, result, holds, depth + 1)
        for where, function in functions
        for result in where.returns.get(function, ())
        if not (isinstance(result, ast.Constant) and without_job(facts, where, result))
    ]
    return min(results, default=Where.ALL)


def _held(facts: Facts, names: Names, test: ast.Name | ast.Attribute, holds: bool, depth: int) -> Where:
    """`master_process = rank == 0` above; `= True` counts where it is the branch of a job of one."""
    if isinstance(test, ast.Name):
        bindings = [(names, b) for b in names.bindings(test.id, test)]
    else:
        bindings = facts.flow.stored(names, test)
    found: list[Where] = []
    for where, binding in bindings:
        value = _given_to(binding)
        if binding.kind == "param" and isinstance(binding.node, ast.arg):
            found.append(_passed(facts, where, binding.node, holds, depth))
        elif value is None or value is test:
            return Where.ALL
        elif not (isinstance(value, ast.Constant) and _not_in_a_job(facts, where, binding, bindings)):
            found.append(processes_of_test(facts, where, value, holds, depth + 1))
    return min(found, default=Where.ALL)


def _given_to(binding: Binding) -> ast.expr | None:
    """What an assignment gives a variable, of a tuple that is written out: `first, size = True, 1`."""
    value = binding.value if binding.kind == "assign" else None
    for position in binding.path:
        elements = value.elts if isinstance(value, (ast.Tuple, ast.List)) else []
        if position >= len(elements) or any(isinstance(one, ast.Starred) for one in elements):
            return None
        value = elements[position]
    return value


def _not_in_a_job(facts: Facts, names: Names, binding: Binding, others: list[tuple[Names, Binding]]) -> bool:
    """Whether a job never sees a value: it is a lone process's, or set again where there are several.

    `first = True`, and below it `if distributed: first = rank == 0`.
    """
    if without_job(facts, names, binding.node):
        return True
    statement = names.statement(binding.node)
    below = statements_below(names, statement)
    return any(
        where is names
        and names.statement(other.node) in choice.body
        and says_distributed(facts, names, choice.test)
        for choice in below
        if isinstance(choice, ast.If)
        for where, other in others
    )


def _passed(facts: Facts, names: Names, arg: ast.arg, holds: bool, depth: int) -> Where:
    function = names.parents[names.parents[arg]]
    if not isinstance(function, FUNCTIONS):
        return Where.ALL
    found = []
    for where, call in facts.flow.call_sites(names, function):
        given = passed(names, function, where, call, arg.arg)
        found.append(
            processes_of_test(facts, where, given, holds, depth + 1) if given is not None else Where.ALL
        )
    return min(found, default=Where.ALL)


def without_job(facts: Facts, names: Names, node: ast.AST) -> bool:
    """Whether code runs only where the program is not distributed: under `not` of a flag for that."""
    child = node
    for parent in names.ancestors(node):
        if isinstance(parent, ast.If) and child is not parent.test:
            if lone_where(facts, names, parent.test, child in parent.body):
                return True
        if isinstance(parent, ast.IfExp) and child is not parent.test:
            if lone_where(facts, names, parent.test, child is parent.body):
                return True
        for field in ("body", "orelse"):
            block = getattr(parent, field, None)
            if isinstance(block, list) and child in block and isinstance(parent, FUNCTIONS):
                for above in block[: block.index(child)]:
                    if isinstance(above, ast.If) and leaves(names, above.body[-1]):
                        if lone_where(facts, names, above.test, False):
                            return True
        child = parent
    return False


def lone_where(facts: Facts, names: Names, test: ast.AST, holds: bool) -> bool:
    """Whether a test comes out as `holds` only in a program of one process."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return lone_where(facts, names, test.operand, not holds)
    if isinstance(test, ast.BoolOp):
        alone = [lone_where(facts, names, value, holds) for value in test.values]
        return any(alone) if isinstance(test.op, ast.And) == holds else all(alone)
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and "size" in _kinds(facts, names, test.left):
        bound = (_ONE if holds else _SEVERAL).get(type(test.ops[0]))
        return bound is not None and _number(test.comparators[0]) == bound
    return not holds and says_distributed(facts, names, test)


def _asks_for_cards(names: Names, test: ast.AST) -> bool:
    """Whether a test asks whether this machine has a GPU."""
    return isinstance(test, ast.Call) and bool(ASKS_FOR_CARDS & set(names.qualified(test.func)))


@once
def says_distributed(facts: Facts, names: Names, test: ast.AST, depth: int = 0) -> bool:
    """Whether a flag says that there are several processes: by what it was computed from."""
    return depth <= 3 and _says_distributed(facts, names, test, depth)


def _says_distributed(facts: Facts, names: Names, test: ast.AST, depth: int) -> bool:
    if test in rank_kinds(facts).launch_tests:
        return True
    if isinstance(test, ast.Call):
        if _STARTED & set(facts.flow.qualified(names, test.func)):
            return True
        return any(
            says_distributed(facts, where, result, depth + 1)
            for where, function in facts.flow.functions(names, test)
            for result in where.returns.get(function, ())
        ) or any(_tests_started(facts, w, f) for w, f in facts.flow.functions(names, test))
    if isinstance(test, ast.Compare):
        return bool({"size", "rank", "local_rank"} & rank_kinds(facts).of(names, test.left))
    if isinstance(test, ast.BoolOp):
        if isinstance(test.op, ast.And) and any(_asks_for_cards(names, value) for value in test.values):
            return False  # a job on CPUs has several processes, too
        return any(says_distributed(facts, names, value, depth) for value in test.values)
    if isinstance(test, ast.Name):
        bindings = [(names, b) for b in names.bindings(test.id, test)]
    elif isinstance(test, ast.Attribute):
        bindings = facts.flow.stored(names, test)
    else:
        return False
    return any(
        b.kind == "assign" and b.value is not None and says_distributed(facts, where, b.value, depth + 1)
        for where, b in bindings
    ) or any(_set_at_start(facts, where, b.value, b.node) for where, b in bindings)


@once
def _tests_started(facts: Facts, names: Names, function: ast.AST) -> bool:
    """`def is_dist_avail_and_initialized()`: it asks whether the job was started."""
    return any(
        isinstance(node, ast.Call) and bool(_STARTED & set(names.qualified(node.func)))
        for node in ast.walk(function)
    )


def _set_at_start(facts: Facts, names: Names, value: ast.expr | None, node: ast.AST) -> bool:
    """`args.distributed = True` in the function that starts the job."""
    function = names.function(node)
    if not isinstance(value, ast.Constant) or value.value is not True or function is None:
        return False
    starts = ("torch.distributed.init_process_group", *(f"{module}.init" for module in EVERY_HOROVOD))
    return any(site.names is names and names.function(site.node) is function for site in facts.calls(*starts))


def _rank(facts: Facts, names: Names, node: ast.AST) -> Where:
    kinds = _kinds(facts, names, node)
    if kinds == {"rank"}:
        return Where.RANK_0
    return Where.ONE_PER_NODE if kinds and kinds <= {"rank", "local_rank"} else Where.ALL


def _kinds(facts: Facts, names: Names, node: ast.AST) -> frozenset[str]:
    """What a number counts: a rank, a size."""
    kinds = rank_kinds(facts).of(names, node) - {CONSTANT}
    if UNKNOWN in kinds and isinstance(node, ast.expr):
        return frozenset(launch_of(facts).meaning(names, node))  # it goes into init_process_group, say
    return kinds


def _is_number(facts: Facts, names: Names, node: ast.AST) -> bool:
    return bool(rank_kinds(facts).of(names, node) & {"rank", "local_rank"})


def _number(node: ast.AST) -> int | None:
    if (
        isinstance(node, ast.UnaryOp)
        and isinstance(node.op, ast.USub)
        and isinstance(node.operand, ast.Constant)
    ):
        value = node.operand.value
        return -value if isinstance(value, int) else None
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, int) else None
