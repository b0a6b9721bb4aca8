"""What a program's ranks say to each other through mpi4py's COMM_WORLD, and what of it Horovod can say.

COMM_WORLD is followed through variables, attributes, parameters and returned values. A use that Horovod has
no counterpart of, or that is not followed, is a problem: of a program that has one, no use is rewritten.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field

from hvdkit.dataclass import dataclass
from hvdkit.migrate.facts.code.complete_values import is_complete, left_at_none, may_only_be
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.facts.programs.programs import kinds_of, programs_of
from hvdkit.migrate.index.names import FUNCTIONS, Binding, FunctionNode, Names, Scope
from hvdkit.migrate.values.arguments import default, passed, unpacks
from hvdkit.migrate.values.value import Value

LIBRARY = "mpi4py"
MODULE = f"{LIBRARY}.MPI"
WORLD = f"{MODULE}.COMM_WORLD"
ATTRIBUTES = {"rank": "rank", "size": "size"}
QUESTIONS = {"Get_rank": "rank", "Get_size": "size"}
# The methods that send objects, and their parameters by position (mpi4py/MPI.src/Comm.pyx).
SIGNATURES: dict[str, tuple[str, ...]] = {
    "Barrier": (),
    "barrier": (),
    "bcast": ("obj", "root"),
    "gather": ("sendobj", "root"),
    "allgather": ("sendobj",),
    "allreduce": ("sendobj", "op"),
}
# What allreduce does with the objects of all ranks -> the built-in function that does it to a list of them.
REDUCTIONS = {f"{MODULE}.SUM": "sum", f"{MODULE}.MAX": "max", f"{MODULE}.MIN": "min"}
KINDS = frozenset(("ddp", "single"))  # the programs whose ranks Horovod would start


@dataclass(frozen=True)
class Talk:
    """One use of COMM_WORLD. node: what is to be replaced. does: "rank", "size", or the method's name."""

    names: Names
    node: ast.expr
    does: str
    given: Mapping[str, ast.expr] = field(default_factory=dict)


@dataclass(frozen=True)
class Handed:
    """`MPI.COMM_WORLD` as a value. assigned: the assignment to a variable that nothing but talk reads."""

    names: Names
    node: ast.expr
    assigned: ast.Assign | None


@dataclass(frozen=True)
class Problem:
    """A use that Horovod has no counterpart of, or that is not followed."""

    names: Names
    node: ast.AST
    reason: str


@dataclass(frozen=True)
class Mpi:
    """What a project's files do with mpi4py."""

    talks: tuple[Talk, ...]
    handed: tuple[Handed, ...]
    problems: tuple[Problem, ...]


@once
def mpi(facts: Facts) -> Mpi:
    """Every use of mpi4py's MPI in the project."""
    return _Walk(facts).mpi()


def translated(facts: Facts, names: Names) -> bool:
    """Whether mpi4py's talk in a file becomes Horovod's: all of it, in every program that the file is in."""
    if not facts.options.allows("HVD512") or kinds_of(facts, names) & KINDS != {"ddp"}:
        return False
    failing = {problem.names for problem in mpi(facts).problems}
    return not any(names in program.files and program.files & failing for program in programs_of(facts))


def mpi_reads(facts: Facts) -> Iterator[Talk]:
    """The questions for a rank or a size that become Horovod's."""
    for talk in mpi(facts).talks:
        if talk.does in ATTRIBUTES and translated(facts, talk.names):
            yield talk


class _Walk:
    """From each reading of an import of mpi4py to wherever COMM_WORLD goes from there."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._talks: dict[ast.expr, Talk] = {}
        self._problems: dict[ast.AST, Problem] = {}
        self._seen: set[object] = set()
        self._others: list[tuple[Names, ast.expr]] = []  # MPI.SUM, MPI.Status, MPI itself
        self._operations: set[ast.expr] = set()
        self._worlds: list[tuple[Names, ast.expr]] = []

    def mpi(self) -> Mpi:
        """Everything found."""
        known = set().union(*(names.imported(LIBRARY) for names in self._facts.files))
        for names in self._facts.files:
            for name in sorted(names.imported(LIBRARY)):
                for whole, qualified in names.readings(name):
                    self._reading(names, whole, qualified)
            if known:
                self._borrowed(names, known)
        for names, node in self._others:
            if node not in self._operations:
                self._problem(names, node, f"{ast.unparse(node)} has no counterpart in Horovod")
        handed = (Handed(names, node, self._assigned(names, node)) for names, node in self._worlds)
        return Mpi(tuple(self._talks.values()), tuple(handed), tuple(self._problems.values()))

    def _problem(self, names: Names, node: ast.AST, reason: str) -> None:
        self._problems.setdefault(node, Problem(names, node, reason))

    def _reading(self, names: Names, whole: ast.expr, qualified: str) -> None:
        if not _is_mpi(qualified):
            return
        if len(names.qualified(whole)) > 1:
            self._problem(names, whole, f"{ast.unparse(whole)} may be another library's")
        elif qualified == WORLD:
            self._worlds.append((names, whole))
            self._carried(names, whole)
        elif qualified.startswith(f"{WORLD}."):
            inner = whole
            for _ in qualified.removeprefix(f"{WORLD}.").split(".")[1:]:
                assert isinstance(inner, ast.Attribute)
                inner = inner.value
            assert isinstance(inner, ast.Attribute)
            self._used(names, inner)
        else:
            self._others.append((names, whole))

    def _borrowed(self, names: Names, known: set[str]) -> None:
        """`from start import MPI`, where start.py imports it from mpi4py: such a name is not followed.

        known: the names under which files of the project import something of mpi4py.
        """
        flow = self._facts.flow
        for name, binding in names.imports:
            if binding.qualified.rpartition(".")[2] in known and not _is_mpi(binding.qualified):
                if any(_is_mpi(value.name) for value in flow.bound(names, binding)):
                    self._problem(names, binding.node, f"{name} is taken from another file")
        others = [a for name in sorted(known) for a in names.attributes.get(name, ())]
        starred = [use for name in sorted(known) if names.stars for use in names.uses.get(name, ())]
        for node in (*others, *starred):
            given = map(_is_mpi, flow.qualified(names, node))
            if any(given) and not any(map(_is_mpi, names.qualified(node))):
                self._problem(names, node, f"{ast.unparse(node)} is taken from another file")

    # --- uses ----------------------------------------------------------------------------------

    def _used(self, names: Names, attribute: ast.Attribute) -> None:
        """`x.attribute`, x being the world."""
        call = names.parents[attribute]
        does = attribute.attr
        if does in ATTRIBUTES:
            self._talks[attribute] = Talk(names, attribute, ATTRIBUTES[does])
        elif not isinstance(call, ast.Call) or call.func is not attribute:
            self._problem(names, attribute, f"its {does} has no counterpart in Horovod")
        elif does in QUESTIONS and not call.args and not call.keywords:
            self._talks[call] = Talk(names, call, QUESTIONS[does])
        elif does in SIGNATURES:
            self._sends(names, call, does)
        else:
            self._problem(names, attribute, f"its {does} has no counterpart in Horovod")

    def _sends(self, names: Names, call: ast.Call, does: str) -> None:
        order = SIGNATURES[does]
        given = dict(zip(order, call.args))
        given.update({item.arg: item.value for item in call.keywords if item.arg})
        if unpacks(call) or len(call.args) > len(order) or not set(order[:1]) <= set(given) <= set(order):
            self._problem(names, call, f"the arguments of {does} were not understood")
            return
        if does == "allreduce":
            operation = given.get("op")
            names_of = set(names.qualified(operation)) if operation is not None else {f"{MODULE}.SUM"}
            if not names_of or not names_of <= REDUCTIONS.keys():
                self._problem(names, call, "its allreduce is not SUM, MAX or MIN")
                return
            if not _is_number(names, given["sendobj"], set()):
                self._problem(names, call, "the operand of its allreduce is not known to be a number")
                return
            if operation is not None:
                self._operations.add(operation)
        self._talks[call] = Talk(names, call, does.lower(), given)

    # --- where the world goes ------------------------------------------------------------------

    def _carried(self, names: Names, node: ast.expr) -> None:
        """An expression that is the world."""
        if node in self._seen:
            return
        self._seen.add(node)
        parent = names.parents[node]
        if isinstance(parent, ast.Attribute):
            self._used(names, parent)
        elif isinstance(parent, (ast.Assign, ast.AnnAssign)) and parent.value is node:
            for target in parent.targets if isinstance(parent, ast.Assign) else [parent.target]:
                self._assigned_to(names, target)
        elif isinstance(parent, (ast.IfExp, ast.BoolOp)) and node is not getattr(parent, "test", None):
            if not isinstance(names.parents[parent], (ast.If, ast.While)):
                self._carried(names, parent)
        elif isinstance(parent, ast.arguments):
            function = names.parents[parent]
            assert isinstance(function, FUNCTIONS)
            for arg in (*parent.posonlyargs, *parent.args, *parent.kwonlyargs):
                if default(function, arg) is node:
                    self._named(names, arg.arg, names.scopes[function])
        elif isinstance(parent, (ast.Call, ast.keyword)):
            call = parent if isinstance(parent, ast.Call) else names.parents[parent]
            if not isinstance(call, ast.Call) or not self._passed(names, call, node):
                self._problem(names, node, "it is passed to code that cannot be followed")
        elif isinstance(parent, ast.Return):
            self._returned(names, names.function(parent))
        elif not _only_tested(parent, node):
            self._problem(names, node, "it is stored where it cannot be followed")

    def _returned(self, names: Names, function: FunctionNode | None) -> None:
        """The calls of a function that gives the world, and the reads of a property."""
        for where, call in self._facts.flow.call_sites(names, function) if function is not None else ():
            self._carried(where, call)
        if isinstance(names.parents.get(function), ast.ClassDef):  # type: ignore[arg-type]
            self._stored(function.name)  # type: ignore[union-attr]

    def _passed(self, names: Names, call: ast.Call, node: ast.expr) -> bool:
        """Follow an argument into the project's functions; whether there is one that takes it."""
        taken = False
        for where, function in self._facts.flow.functions(names, call):
            for arg in _parameters(function):
                if passed(where, function, names, call, arg) is node:
                    self._named(where, arg, where.scopes[function])
                    taken = True
        return taken

    def _assigned_to(self, names: Names, target: ast.expr) -> None:
        if isinstance(target, ast.Name):
            owner = names.scope(target).owner(target.id)
            assert owner is not None
            self._named(names, target.id, owner)
            if owner is names.module:
                self._read_elsewhere(names, target.id)
            elif isinstance(owner.node, ast.ClassDef):
                self._stored(target.id)
        elif isinstance(target, ast.Attribute):
            self._stored(target.attr)
        else:
            self._problem(names, target, "it is stored where it cannot be followed")

    def _named(self, names: Names, name: str, owner: Scope) -> None:
        """A variable that is the world by one of its bindings."""
        if (name, owner) in self._seen:
            return
        self._seen.add((name, owner))
        uses = (use for use in names.uses.get(name, ()) if names.scope(use).owner(name) is owner)
        self._read_as(names, (use for use in uses if isinstance(use.ctx, ast.Load)))

    def _read_elsewhere(self, names: Names, name: str) -> None:
        """A module's variable, in the files that import it."""
        for where in self._facts.files:
            if where is not names:
                taken = {a for a, binding in where.imports if binding.qualified.rpartition(".")[2] == name}
                for alias in sorted(taken | ({name} if where.stars else set())):
                    self._read_as(where, where.uses.get(alias, ()))
        self._stored(name)

    def _stored(self, attribute: str) -> None:
        if attribute in self._seen:
            return
        self._seen.add(attribute)
        for names in self._facts.files:
            reads = (use for use in names.attributes.get(attribute, ()) if isinstance(use.ctx, ast.Load))
            self._read_as(names, reads)
            for text in names.texts.get(attribute, ()):
                if getattr(getattr(names.parents[text], "func", None), "id", "") == "getattr":
                    self._problem(names, text, f"{attribute} is looked up by name")

    def _read_as(self, names: Names, uses: Iterable[ast.expr]) -> None:
        """Follow those of some uses that are the world."""
        for use in uses:
            values = self._facts.flow.values(names, use)
            if any(value.name == WORLD for value in values):
                accepts = may_only_be(
                    self._facts, names, use, lambda value: value.is_none or value.name == WORLD
                )
                if accepts:
                    self._carried(names, use)
                else:
                    self._problem(names, use, f"{ast.unparse(use)} may also be a different communicator")
            elif self._may_be_anything(names, use, values):
                self._problem(names, use, f"whether {ast.unparse(use)} is COMM_WORLD is not known")

    def _may_be_anything(self, names: Names, use: ast.expr, values: frozenset[Value]) -> bool:
        if not values:  # a constant that nobody gives another value, None say, is no value either
            return not (isinstance(use, ast.Name) and is_complete(self._facts, names, use))
        return any(value.unknown and not left_at_none(self._facts, value) for value in values)

    def _assigned(self, names: Names, node: ast.expr) -> ast.Assign | None:
        """The assignment of the world to one variable of a function that is read for what it says alone."""
        statement = names.parents[node]
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            return None
        target = statement.targets[0]
        owner = names.scope(target).owner(target.id) if isinstance(target, ast.Name) else None
        if not isinstance(target, ast.Name) or owner is None or not isinstance(owner.node, FUNCTIONS):
            return None
        reads = [
            use
            for use in names.uses[target.id]
            if not isinstance(use.ctx, ast.Store) and names.scope(use).owner(target.id) is owner
        ]
        spoken = {*self._talks, *(getattr(node, "func", None) for node in self._talks)}
        return statement if all(names.parents[use] in spoken for use in reads) else None


def _is_mpi(name: str) -> bool:
    return name == MODULE or name.startswith(f"{MODULE}.")


def _only_tested(parent: ast.AST, node: ast.expr) -> bool:
    """Whether a value is only asked for being there: `if comm`, `comm is None`."""
    if isinstance(parent, ast.Compare):
        sides = [parent.left, *parent.comparators]
        others = [side for side in sides if side is not node]
        asked = all(isinstance(operator, (ast.Is, ast.IsNot)) for operator in parent.ops)
        return asked and all(isinstance(side, ast.Constant) and side.value is None for side in others)
    if isinstance(parent, (ast.If, ast.While, ast.IfExp)):
        return parent.test is node
    return isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not)


def _parameters(function: FunctionNode) -> list[str]:
    args = function.args
    return [arg.arg for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs)]


def _is_number(names: Names, node: ast.expr, seen: set[ast.AST]) -> bool:
    """Whether an expression is one of Python's numbers, which Python's own functions add up as MPI does."""
    if node in seen:
        return True
    seen.add(node)
    if isinstance(node, ast.Constant):
        return isinstance(node.value, (int, float))
    if isinstance(node, ast.BinOp):
        return _is_number(names, node.left, seen) and _is_number(names, node.right, seen)
    if isinstance(node, ast.UnaryOp):
        return not isinstance(node.op, ast.Not) and _is_number(names, node.operand, seen)
    if isinstance(node, ast.Call):
        function = node.func
        made = isinstance(function, ast.Name) and function.id in ("int", "float", "len")
        plain = made and not names.bindings(function.id, node)  # type: ignore[attr-defined]
        return plain or (isinstance(function, ast.Attribute) and function.attr == "item" and not node.args)
    if isinstance(node, ast.Name):
        values = [_given(names, binding) for binding in names.bindings(node.id, node)]
        return bool(values) and all(value is not None and _is_number(names, value, seen) for value in values)
    return False


def _given(names: Names, binding: Binding) -> ast.expr | None:
    """What a variable is given, `x += value` too; None where it is no plain assignment."""
    parent = names.parents.get(binding.node)
    if isinstance(parent, ast.AugAssign):
        return parent.value
    return binding.value if binding.kind == "assign" and not binding.path else None
