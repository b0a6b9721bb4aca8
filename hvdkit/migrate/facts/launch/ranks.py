"""Where a program reads its rank: the launcher's environment variables and torch.distributed's questions.

What ranks are computed from further (arguments, arithmetic, spawned processes) is launch.py's.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.dataclass import dataclass
from hvdkit.migrate.edits import following
from hvdkit.migrate.facts.code.commands import starts_launcher
from hvdkit.migrate.facts.code.environment import DEFAULTS, ENVIRONMENT, is_environment, is_gathered
from hvdkit.migrate.facts.facts import Facts
from hvdkit.source.index.names import COMPREHENSIONS, Names

QUESTIONS = {
    "torch.distributed.get_rank": "rank",
    "torch.distributed.get_world_size": "size",
    "torch.distributed.get_node_local_rank": "local_rank",
}

# What each function gives in a world of one process.
ALONE = {
    "rank": 0,
    "size": 1,
    "local_rank": 0,
    "local_size": 1,
    "cross_rank": 0,
    "cross_size": 1,
}

# Variables whose presence says that a launcher started several processes.
LAUNCHED = frozenset(name for name, function in ENVIRONMENT.items() if not function.startswith("cross"))


@dataclass(frozen=True)
class RankRead:
    """One read of a rank. node: the whole expression with its int(...); number: whether it is an int.

    function: Horovod's function of the same meaning ("rank", "size", "local_rank", ...).
    default: what the expression gives when the variable is not set, if the script says so. loop: the
    statement that looks for the first of several variables, if it is one.
    """

    names: Names
    node: ast.expr
    function: str
    number: bool
    source: str
    default: ast.expr | None = None
    loop: ast.For | None = None

    @property
    def alone(self) -> bool:
        """Whether the default is what Horovod gives in a world of one, or there is no default."""
        if self.default is None:
            return True
        value = constant(self.default)
        return value is None or str(value) == str(ALONE[self.function])


@dataclass(frozen=True)
class LaunchTest:
    """A test whether a launcher started the process: node becomes size() > 1 (or == 1 when negated)."""

    names: Names
    node: ast.expr
    negated: bool
    variable: str


def rank_reads(facts: Facts) -> Iterator[RankRead]:
    """Every read, in the environment and from torch.distributed, of a rank or a size."""
    for names in facts.files:
        yield from _environment(names)
    for site in facts.calls(*QUESTIONS):
        if not site.node.args and not site.node.keywords:
            yield RankRead(site.names, site.node, QUESTIONS[site.name], True, site.name)


def environment_reads(names: Names) -> Iterator[RankRead]:
    """Reads of the launcher's variables for their values, without those that only test for a launcher."""
    tested = {inner for test in launch_tests(names) for inner in ast.walk(test.node)}
    for read in _environment(names):
        if read.node not in tested:
            yield read


def _environment(names: Names) -> Iterator[RankRead]:
    for node, variable, default in _accesses(names):
        if variable in ENVIRONMENT:
            outer = names.parents.get(node)
            is_int = (
                isinstance(outer, ast.Call) and isinstance(outer.func, ast.Name) and outer.func.id == "int"
            )
            whole = outer if is_int and isinstance(outer, ast.Call) and len(outer.args) == 1 else node
            number = whole is not node or _is_made_int(names, node)
            yield RankRead(names, whole, ENVIRONMENT[variable], number, variable, default)
    yield from _first_set(names)


def _is_made_int(names: Names, node: ast.expr) -> bool:
    """Whether a text is the default of an option of type int: argparse makes a number of it."""
    keyword = names.parents[node]
    option = names.parents[keyword] if isinstance(keyword, ast.keyword) and keyword.arg == "default" else None
    if not isinstance(option, ast.Call) or getattr(option.func, "attr", "") != "add_argument":
        return False
    return any(
        k.arg == "type" and isinstance(k.value, ast.Name) and k.value.id == "int" for k in option.keywords
    )


def _first_set(names: Names) -> Iterator[RankRead]:
    """`for v in ("RANK", "PMI_RANK"): if v in os.environ: rank = int(os.environ[v]); break`, or `return`."""
    for loop in names.of_kind(ast.For):
        every = loop.iter.elts if isinstance(loop.iter, (ast.Tuple, ast.List)) else []
        functions = {ENVIRONMENT.get(str(constant(element)), "") for element in every}
        found = _taken(loop) if len(functions) == 1 and "" not in functions else None
        if found is None:
            continue
        value, default = found, None
        if isinstance(names.parents[value], ast.Return):
            below = following(names, loop)
            default = below.value if isinstance(below, ast.Return) else None
            if default is None or constant(default) is None:
                continue  # what the function gives without a launcher is not known
        number = isinstance(value, ast.Call)
        yield RankRead(names, value, functions.pop(), number, str(constant(every[0])), default, loop)


def _taken(loop: ast.For) -> ast.expr | None:
    """What such a loop assigns or returns."""
    test, name = loop.body[0], ast.unparse(loop.target)
    if not isinstance(test, ast.If) or ast.unparse(test.test) != f"{name} in os.environ":
        return None
    taken, ends = test.body[0], test.body[1:]
    assigns = isinstance(taken, ast.Assign) and len(taken.targets) == 1
    plain = len(ends) == 1 and isinstance(ends[0], ast.Break) if assigns else not ends
    if loop.body[1:] or loop.orelse or test.orelse or not plain:
        return None
    if not isinstance(taken, (ast.Assign, ast.Return)) or taken.value is None:
        return None
    read = ast.unparse(taken.value) in (f"os.environ[{name}]", f"int(os.environ[{name}])")
    return taken.value if read else None


def launch_tests(names: Names) -> Iterator[LaunchTest]:
    """Tests that a launcher set its variables: `"RANK" in os.environ`, `get("RANK", -1) != -1`, and truth."""
    found: list[LaunchTest] = []
    for literal in _literals(names):
        variable = str(literal.value)
        parent = names.parents.get(literal)
        if variable in LAUNCHED and isinstance(parent, ast.Compare) and parent.left is literal:
            if len(parent.ops) == 1 and isinstance(parent.ops[0], (ast.In, ast.NotIn)):
                if is_environment(names, parent.comparators[0]):
                    negated = isinstance(parent.ops[0], ast.NotIn)
                    found.append(LaunchTest(names, parent, negated, variable))
    for node, variable, default in _accesses(names):
        if variable in LAUNCHED and isinstance(node, ast.Call):
            test = _of_value(names, node, variable, default)
            if test is not None:
                found.append(test)
    found += [LaunchTest(names, call, False, variable) for call, variable in _all_set(names)]
    yield from _joined(names, found)


def _all_set(names: Names) -> Iterator[tuple[ast.Call, str]]:
    """`all(name in os.environ for name in ("RANK", "WORLD_SIZE"))`, `any` too, with the first variable."""
    for call in (*names.calls.get("all", ()), *names.calls.get("any", ())):
        made = call.args[0] if len(call.args) == 1 else None
        if not isinstance(made, (ast.GeneratorExp, ast.ListComp)) or len(made.generators) != 1:
            continue
        loop = made.generators[0]
        every = loop.iter.elts if isinstance(loop.iter, (ast.Tuple, ast.List)) else []
        variables = [str(constant(element)) for element in every]
        plain = ast.unparse(made.elt) == f"{ast.unparse(loop.target)} in os.environ" and not loop.ifs
        if plain and variables and LAUNCHED.issuperset(variables):
            yield call, variables[0]


def _of_value(names: Names, node: ast.expr, variable: str, default: ast.expr | None) -> LaunchTest | None:
    """`int(os.environ.get("RANK", -1)) != -1`, `os.environ.get("RANK") is None`, `if os.getenv("RANK")`."""
    outer = names.parents.get(node)
    if isinstance(outer, ast.Call) and isinstance(outer.func, ast.Name) and outer.func.id == "int":
        node, outer = outer, names.parents.get(outer)
    if isinstance(outer, ast.Compare) and outer.left is node and len(outer.ops) == 1:
        right, operator = constant(outer.comparators[0]), outer.ops[0]
        absent = constant(default) if default is not None else None
        same = outer.comparators[0] if default is None else default
        is_default = right is not None and absent is not None and str(right) == str(absent)
        is_none = default is None and isinstance(same, ast.Constant) and same.value is None
        if default is not None and str(absent) == str(ALONE[ENVIRONMENT[variable]]):
            return None  # a comparison with what a single process would read anyway
        if is_default and isinstance(operator, (ast.NotEq, ast.Eq, ast.Gt)):
            return LaunchTest(names, outer, isinstance(operator, ast.Eq), variable)
        if is_none and isinstance(operator, (ast.IsNot, ast.NotEq, ast.Is, ast.Eq)):
            return LaunchTest(names, outer, isinstance(operator, (ast.Is, ast.Eq)), variable)
        if str(absent) == "-1" and right == 0 and isinstance(operator, (ast.GtE, ast.Lt)):
            return LaunchTest(names, outer, isinstance(operator, ast.Lt), variable)
        return None
    # The text "0" is true: only a read without a default says by its truth that the variable is set.
    if isinstance(node, ast.Call) and default is None and _is_truth(outer, node):
        return LaunchTest(names, node, False, variable)
    return None


def _is_truth(outer: ast.AST | None, node: ast.expr) -> bool:
    if isinstance(outer, (ast.If, ast.IfExp, ast.While)):
        return outer.test is node
    return isinstance(outer, ast.UnaryOp) and isinstance(outer.op, ast.Not)


def _joined(names: Names, tests: list[LaunchTest]) -> Iterator[LaunchTest]:
    """Tests, those that fill a whole `and` or `or` taken together."""
    by_node = {test.node: test for test in tests}
    done: set[ast.AST] = set()
    for test in tests:
        parent = names.parents.get(test.node)
        whole = isinstance(parent, ast.BoolOp) and all(
            value in by_node and by_node[value].negated == test.negated for value in parent.values
        )
        node = parent if whole and isinstance(parent, ast.BoolOp) else test.node
        if node not in done:
            done.add(node)
            yield LaunchTest(names, node, test.negated, test.variable)


def _accesses(names: Names) -> Iterator[tuple[ast.expr, str, ast.expr | None]]:
    """Reads of one named variable: the expression, the variable, and the default it gives."""
    for literal in _literals(names):
        parent = names.parents.get(literal)
        if isinstance(parent, ast.Subscript) and parent.slice is literal:
            if isinstance(parent.ctx, ast.Load) and (
                is_environment(names, parent.value)
                or (literal.value in ENVIRONMENT and is_gathered(names, parent.value))
            ):
                yield parent, str(literal.value), None
        elif isinstance(parent, ast.Call) and parent.args[:1] == [literal]:
            default = parent.args[1] if len(parent.args) > 1 else None
            default = next((k.value for k in parent.keywords if k.arg == "default"), default)
            if isinstance(default, ast.Constant) and default.value is None:
                default = None
            if "os.getenv" in names.qualified(parent.func):
                yield parent, str(literal.value), default
            elif isinstance(parent.func, ast.Attribute) and parent.func.attr == "get":
                if is_environment(names, parent.func.value):
                    yield parent, str(literal.value), default


def gathered_reads(names: Names) -> Iterator[ast.expr]:
    """Comprehensions that read launcher variables by a loop: `{k: os.environ[k] for k in ("RANK", ...)}`."""
    found: dict[ast.expr, None] = {}
    tested = {call.args[0] for call, _ in _all_set(names)}
    for variable in ENVIRONMENT:
        for literal in names.texts.get(variable, ()):
            for parent in names.ancestors(literal):
                if isinstance(parent, COMPREHENSIONS) and parent not in tested:
                    if any(is_environment(names, part) for part in ast.walk(parent) if part is not literal):
                        found[parent] = None
                if isinstance(parent, ast.stmt):
                    break
    yield from found


def environment_accesses(names: Names, *variables: str) -> Iterator[tuple[ast.expr, str, ast.expr | None]]:
    """Reads of the given variables: the expression, the variable, and the default it gives, if any."""
    for node, variable, default in _accesses(names):
        if variable in variables:
            yield node, variable, default


def environment_stores(names: Names, *variables: str) -> Iterator[tuple[ast.stmt, str]]:
    """Statements that set the given variables: `os.environ[x] = y` and `os.environ.setdefault(x, y)`."""
    for variable in variables if not starts_launcher(names) else ():
        for literal in names.texts.get(variable, ()):
            parent = names.parents.get(literal)
            statement = names.statement(literal)
            if isinstance(parent, ast.Subscript) and isinstance(parent.ctx, ast.Store):
                if isinstance(statement, ast.Assign) and is_environment(names, parent.value):
                    yield statement, variable
            elif isinstance(parent, ast.Call) and isinstance(parent.func, ast.Attribute):
                whole = isinstance(statement, ast.Expr) and statement.value is parent
                if whole and parent.func.attr == "setdefault" and is_environment(names, parent.func.value):
                    yield statement, variable


def _literals(names: Names) -> list[ast.Constant]:
    """Texts in the source that are names of launcher variables, where they may say a rank."""
    if starts_launcher(names):
        return []  # mpirun starts it once a host: its rank is the host's number
    return [literal for variable in _KNOWN for literal in names.texts.get(variable, ())]


NODE_LISTS = ("SLURM_NODELIST", "SLURM_JOB_NODELIST", "SLURM_STEP_NODELIST")
JOBS = ("SLURM_JOB_ID", "SLURM_JOBID")
_KNOWN = (*ENVIRONMENT, *DEFAULTS, *NODE_LISTS, *JOBS)


def constant(node: ast.expr | None) -> object:
    """The value of a constant, -1 included; None for anything else."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = constant(node.operand)
        return -inner if isinstance(inner, (int, float)) else None
    return node.value if isinstance(node, ast.Constant) else None
