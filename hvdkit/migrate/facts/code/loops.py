"""The loops around each backward pass: from the batch loop outwards, through callers, to the epoch loop."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property
from typing import Union

from hvdkit.dataclass import dataclass
from hvdkit.migrate.facts.code.engines import data_of, runs_of, trainer_runs
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.values import vocabulary as words
from hvdkit.migrate.values.arguments import default, passed, spawned, unpacks
from hvdkit.migrate.values.overrides import is_parent
from hvdkit.migrate.values.value import Value
from hvdkit.source.index.names import FUNCTIONS, LOOPS, FunctionNode, Names

LoopNode = Union[ast.For, ast.AsyncFor, ast.While]
MAX_CALLERS = 12
NO_TRAINING = frozenset(("torch.autograd.Function", "unittest.TestCase"))
# What the names of functions have in them that change weights by gradients.
CHANGES = ("step", "optim", "update", "train", "apply", "sub_", "add_", "copy_")


@dataclass(frozen=True)
class Loop:
    """One loop and the file it stands in."""

    names: Names
    node: LoopNode


@dataclass(frozen=True)
class Path:
    """One way from a backward pass to the program's top.

    loops: innermost first. batch: index of the loop over a DataLoader, -1 when none was recognised, or where
    an engine of a library runs over it.
    calls: the call sites that were passed on the way out, innermost first.
    """

    names: Names
    backward: ast.Call
    loops: tuple[Loop, ...]
    batch: int
    loaders: frozenset[Value]
    calls: tuple[tuple[Names, ast.Call], ...]

    @property
    def top(self) -> ast.AST | None:
        """The function that no caller was found of; None when the path goes up to a module."""
        names, node = self.calls[-1] if self.calls else (self.names, self.backward)
        return names.function(node)

    @property
    def epoch(self) -> Loop | None:
        """The loop around the batch loop, and around one over phases: that says which loader it is."""
        outer = self.batch + 1
        while 0 < outer < len(self.loops) and _chooses(self.loops[outer], self.loops[self.batch]):
            outer += 1
        return self.loops[outer] if 0 < outer < len(self.loops) else None


class Loops:
    """All paths, computed once."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._derived: dict[ast.AST, bool] = {}

    @cached_property
    def paths(self) -> tuple[Path, ...]:
        """Every path of every backward pass after which weights may change, where some do."""
        every = self._every_path()
        training = [path for path in every if not _only_looks(path)]
        return tuple(training or every)

    def _every_path(self) -> list[Path]:
        found: list[Path] = []
        for names, call in (*backward_calls(self._facts), *library_backwards(self._facts)):
            for loops, calls in self._outward(names, call, ()):
                loaders: frozenset[Value] = frozenset()
                batch = -1
                for position, loop in enumerate(loops):
                    over = self.loaders_of(loop)
                    if over:
                        over = over & self._handed(names, call, loop, calls) or over
                        batch, loaders = position, over
                        break
                if not loaders:
                    loaders = self._run_over((names, call), *calls)
                found.append(Path(names, call, tuple(loops), batch, loaders, tuple(calls)))
        return found

    def _run_over(self, *sites: tuple[Names, ast.Call]) -> frozenset[Value]:
        """The DataLoaders that an engine is run over, on a way from a backward pass."""
        for names, call in sites:
            data = data_of(self._facts, call)
            if data is not None:
                return self.loaders_in(names, data)
        return frozenset()

    def _handed(
        self, names: Names, node: ast.AST, loop: Loop, calls: list[tuple[Names, ast.Call]]
    ) -> frozenset[Value]:
        """DataLoaders among the arguments of the call, on this very way, of the function around a loop."""
        found: frozenset[Value] = frozenset()
        for where, call in calls:
            if names is loop.names and names.function(node) is loop.names.function(loop.node):
                for argument in (*call.args, *(item.value for item in call.keywords)):
                    found |= self.loaders_in(where, argument)
                break
            names, node = where, call
        return found

    def loaders_of(self, loop: Loop) -> frozenset[Value]:
        """DataLoaders that a loop draws from: those it runs over, else those it calls next() on."""
        if not isinstance(loop.node, ast.While):
            over = self.loaders_in(loop.names, loop.node.iter)
            if over:
                return over
        found: frozenset[Value] = frozenset()
        for call in loop.names.calls.get("next", ()):
            nearest = (p for p in loop.names.ancestors(call) if isinstance(p, (*LOOPS, *FUNCTIONS)))
            drawn = drawn_from(call)
            if drawn is not None and next(nearest, None) is loop.node:
                found |= self.loaders_in(loop.names, drawn)
        return found

    def loaders_in(
        self, names: Names, expression: ast.AST, seen: set[ast.AST] | None = None
    ) -> frozenset[Value]:
        """DataLoaders among the values of an expression and of its parts: enumerate, tqdm, zip, iter ..."""
        found: set[Value] = set()
        seen = set() if seen is None else seen
        for node in names.walk(expression):
            if isinstance(node, (ast.Name, ast.Attribute, ast.Call, ast.Subscript)):
                for value in self._facts.flow.values(names, node):
                    if self._is_loader(value):
                        found.add(value)
                    elif value.kind == "made" and isinstance(value.node, ast.Call) and value.node is not node:
                        # `bar = tqdm(enumerate(loader))`: what a library call was given it may hand out.
                        for argument in value.node.args[:1] if value.node not in seen else ():
                            seen.add(value.node)
                            found |= self.loaders_in(value.names, argument, seen)
            if isinstance(node, ast.Call):
                found |= self._generated(names, node)
        return frozenset(found)

    def _made(self, names: Names, node: ast.AST) -> set[Value]:
        return {value for value in self._facts.flow.values(names, node) if self._is_loader(value)}

    def _is_loader(self, value: Value) -> bool:
        """Whether a value is a DataLoader, or an object of a project class that derives from it."""
        if value.kind != "object":
            return value.kind == "made" and value.name in words.LOADERS
        if value.node not in self._derived:
            self._derived[value.node] = words.LOADER in self._facts.flow.bases(value)
        return self._derived[value.node]

    def _generated(self, names: Names, call: ast.Call) -> frozenset[Value]:
        """DataLoaders whose batches one of the project's generators hands on, asked for this very call."""
        found: frozenset[Value] = frozenset()
        for where, function in self._facts.flow.functions(names, call):
            for iterated in yielded_from(where, function):
                for node in ast.walk(iterated):
                    if isinstance(node, ast.Attribute):
                        found |= self._made(where, node)
                    bindings = where.bindings(node.id, node) if isinstance(node, ast.Name) else []
                    if any(binding.kind == "param" for binding in bindings) and isinstance(node, ast.Name):
                        given = passed(where, function, names, call, node.id)
                        if given is not None:
                            found |= self.loaders_in(names, given)
        return found

    def _outward(
        self, names: Names, node: ast.AST, seen: tuple[ast.AST, ...]
    ) -> Iterator[tuple[list[Loop], list[tuple[Names, ast.Call]]]]:
        loops: list[Loop] = []
        child = node
        function = None
        for parent in names.ancestors(node):
            if isinstance(parent, LOOPS) and child in parent.body:
                loops.append(Loop(names, parent))
            if isinstance(parent, FUNCTIONS):
                function = parent
                break
            child = parent
        if function is None or function in seen or len(seen) > MAX_CALLERS:
            yield loops, []
            return
        sites = self._facts.flow.call_sites(names, function) or runs_of(self._facts, function)
        if not sites:
            yield loops, []
            return
        for where, call in sites:
            if not _reached(names, function, node, where, call):
                continue
            for outer, calls in self._outward(where, call, (*seen, function)):
                yield loops + outer, [(where, call), *calls]


def _chooses(outer: Loop, batches: Loop) -> bool:
    """Whether a loop says which loader another goes through: `for x in loaders[phase]`, by its phase."""
    if (
        outer.names is not batches.names
        or isinstance(outer.node, ast.While)
        or isinstance(batches.node, ast.While)
    ):
        return False
    drawn = list(outer.names.walk(batches.node.iter))
    for part in [part for part in drawn if isinstance(part, ast.Name)]:
        drawn += [b.value for b in outer.names.bindings(part.id, part) if b.kind == "assign" and b.value]
    keys = (part.slice for part in drawn if isinstance(part, ast.Subscript))
    target = outer.node.target
    return any(
        isinstance(key, ast.Name) and isinstance(target, ast.Name) and key.id == target.id for key in keys
    )


def _only_looks(path: Path) -> bool:
    """Whether a function reads gradients of a loader's batches, and nothing in it can change weights.

    So the importance of heads is added up, before a model is pruned: no rank may see its own share only.
    """
    function = path.names.function(path.backward)
    batches = path.loops[path.batch] if path.batch >= 0 else None
    if function is None or batches is None or batches.names.function(batches.node) is not function:
        return False
    parts = list(path.names.walk(function))
    if any(_may_change(part) for part in parts):
        return False
    read = (part for part in parts if isinstance(part, ast.Attribute) and part.attr == "grad")
    return any(isinstance(part.ctx, ast.Load) for part in read)


def _may_change(node: ast.AST) -> bool:
    """Whether a node may change weights: by a call of such a name, `w -= rate * w.grad`, `w.data = ...`."""
    if isinstance(node, ast.Call):
        name = getattr(node.func, "attr", getattr(node.func, "id", "")).lower()
        return any(text in name for text in CHANGES)
    if isinstance(node, ast.AugAssign):
        return isinstance(node.op, ast.Sub)
    return isinstance(node, ast.Attribute) and node.attr == "data" and isinstance(node.ctx, ast.Store)


def _reached(names: Names, function: FunctionNode, node: ast.AST, where: Names, call: ast.Call) -> bool:
    """Whether a call lets its function come to a node: `run(loader, train=False)` leaves `if train:` out."""
    child = node
    for parent in names.ancestors(node):
        if parent is function:
            return True
        if isinstance(parent, ast.If) and child is not parent.test:
            answer = _answer(names, function, where, call, parent.test)
            if answer is not None and answer is not (child in parent.body):
                return False
        child = parent
    return True


def _answer(
    names: Names, function: FunctionNode, where: Names, call: ast.Call, test: ast.expr
) -> bool | None:
    """What a test of parameters gives where a call passes constants: `if train:`, `if phase == "train":`."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        answer = _answer(names, function, where, call, test.operand)
        return None if answer is None else not answer
    if isinstance(test, ast.BoolOp):
        answers = {_answer(names, function, where, call, part) for part in test.values}
        decides = isinstance(test.op, ast.Or)
        return decides if decides in answers else None if None in answers else not decides
    if not isinstance(test, ast.Compare):
        value = _passed_constant(names, function, where, call, test)
        return None if value is None else bool(value.value)
    if len(test.ops) != 1:
        return None
    sides = [test.left, test.comparators[0]]
    given = [_passed_constant(names, function, where, call, side) for side in sides]
    return (
        _compared(test.ops[0], *(value or side for value, side in zip(given, sides))) if any(given) else None
    )


def _compared(operator: ast.cmpop, left: ast.expr, right: ast.expr) -> bool | None:
    """What a comparison of two constants, or of one with those of a list, gives."""
    same = isinstance(operator, (ast.Eq, ast.Is, ast.In))
    if isinstance(operator, (ast.In, ast.NotIn)):
        every = right.elts if isinstance(right, (ast.Tuple, ast.List, ast.Set)) else []
    else:
        every = [right] if isinstance(operator, (ast.Eq, ast.NotEq, ast.Is, ast.IsNot)) else []
    constants = [each.value for each in every if isinstance(each, ast.Constant)]
    if not isinstance(left, ast.Constant) or not every or len(constants) < len(every):
        return None
    return (left.value in constants) is same


def _passed_constant(
    names: Names, function: FunctionNode, where: Names, call: ast.Call, asked: ast.expr
) -> ast.Constant | None:
    """The constant that a call passes, or leaves to its default, for a parameter that is never set again."""
    bound = names.bindings(asked.id, asked) if isinstance(asked, ast.Name) else []
    arg = bound[0].node if len(bound) == 1 else None
    if not isinstance(arg, ast.arg) or names.function(asked) is not function:
        return None
    value = passed(names, function, where, call, arg.arg)
    if value is None and not unpacks(call) and spawned(where, call) is None:
        value = default(function, arg)
    return value if isinstance(value, ast.Constant) else None


def _hands_on(facts: Facts, names: Names, call: ast.Call) -> bool:
    """`self.backward(loss)` of the project's own class, whose body calls another thing's backward()."""
    functions = facts.flow.functions(names, call)
    return bool(functions) and all(
        any(
            isinstance(part, ast.Call)
            and isinstance(part.func, ast.Attribute)
            and part.func.attr == "backward"
            and not is_parent(part.func.value)
            for part in ast.walk(function)
        )
        for _, function in functions
    )


def _trains_nothing(facts: Facts, names: Names, call: ast.Call) -> bool:
    """Whether a backward pass is a part of another, in a Function of the project, or belongs to a test."""
    if any(site.names is names for site in facts.calls("unittest.main")):
        return True
    owners = (parent for parent in names.ancestors(call) if isinstance(parent, ast.ClassDef))
    return any(NO_TRAINING & facts.flow.bases(Value("class", owner.name, owner, names)) for owner in owners)


@once
def backward_calls(facts: Facts) -> list[tuple[Names, ast.Call]]:
    """Calls of `x.backward(...)` that start a backward pass themselves, not through a method of that name."""
    methods = [
        (names, call)
        for names, call, receiver in facts.methods("backward")
        if not is_parent(receiver)
        and not _hands_on(facts, names, call)
        and not _trains_nothing(facts, names, call)
    ]
    return methods + [(site.names, site.node) for site in facts.calls("torch.autograd.backward")]


@once
def backward_files(facts: Facts) -> dict[ast.Call, Names]:
    """Each backward pass, and the file that it is in."""
    return {call: names for names, call in backward_calls(facts)}


@once
def library_backwards(facts: Facts) -> list[tuple[Names, ast.Call]]:
    """Calls of library objects that run the backward pass themselves: `loss_scaler(loss, optimizer)`."""
    return trainer_runs(facts) + [
        (names, call)
        for names in (facts.files if facts.calls(*words.BACKWARD_CALLS) else ())
        for call in names.of_kind(ast.Call)
        if call.args and facts.flow.made(names, call.func) & words.BACKWARD_CALLS
    ]


def yielded_from(names: Names, function: FunctionNode) -> Iterator[ast.expr]:
    """What a generator runs over while it yields: `for x in iterable: yield x`, `yield from iterable`."""
    for node in names.walk(function):
        if isinstance(node, ast.YieldFrom) and names.function(node) is function:
            yield node.value
        elif isinstance(node, ast.Yield) and names.function(node) is function:
            for parent in names.ancestors(node):
                if isinstance(parent, (ast.For, ast.AsyncFor)):
                    yield parent.iter
                if parent is function:
                    break


def drawn_from(call: ast.Call) -> ast.expr | None:
    """The iterator of `next(it)`, and of `it.next()`, which DataLoaders' have had."""
    if isinstance(call.func, ast.Attribute):
        return None if call.args or call.keywords else call.func.value
    return call.args[0] if call.args else None


@once
def training_loops(facts: Facts) -> Loops:
    """Batch loops and epoch loops around every backward pass."""
    return Loops(facts)
