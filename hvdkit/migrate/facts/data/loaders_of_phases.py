"""One call that makes the loaders of all phases, those that evaluate, too.

`{phase: DataLoader(data[phase]) for phase in phases}`, and `DataLoader(data, shuffle=train)` in a function.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator

from hvdkit.dataclass import dataclass
from hvdkit.migrate.facts.code.loops import Path, training_loops
from hvdkit.migrate.facts.data.loaders import Loader, every_loader
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.values.arguments import default, passed
from hvdkit.source.index.names import FUNCTIONS, Binding, FunctionNode, Names


@dataclass(frozen=True)
class Phase:
    """The phase that trains, of those that one call makes loaders for.

    variable: what holds the phase where the loader is made. value: the phase, a text or a truth value.
    name: the same, as a literal. taken: where the loader of that phase is taken, as expressions.
    """

    variable: str
    value: object
    name: str
    taken: tuple[tuple[Names, ast.expr], ...]

    @property
    def trains(self) -> str:
        """The test that is true where the loader is to be trained on."""
        return self._asks("") if isinstance(self.value, bool) else f"{self.variable} == {self.name}"

    @property
    def evaluates(self) -> str:
        """The opposite test."""
        return self._asks("not ") if isinstance(self.value, bool) else f"{self.variable} != {self.name}"

    def _asks(self, negated: str) -> str:
        return f"{negated if self.value else 'not ' if not negated else ''}{self.variable}"


@once
def _phases(facts: Facts) -> dict[ast.Call, Phase | None]:
    return {loader.node: _by_key(facts, loader) or _by_flag(facts, loader) for loader in every_loader(facts)}


def phase_trained(facts: Facts, loader: Loader) -> Phase | None:
    """The one phase whose loader is trained on, where each pass says by a constant which it is."""
    return _phases(facts)[loader.node]


def _ways(facts: Facts, loader: Loader) -> list[Path]:
    return [path for path in training_loops(facts).paths if loader.value in path.loaders]


def _drawn(path: Path) -> Iterator[tuple[Names, ast.expr]]:
    """What a way from a backward pass goes through, and what it hands from function to function."""
    batches = path.loops[path.batch] if path.batch >= 0 else None
    if batches is not None and not isinstance(batches.node, ast.While):
        yield batches.names, batches.node.iter
    for names, call in path.calls:
        for given in (*call.args, *(keyword.value for keyword in call.keywords)):
            yield names, given


def _by_key(facts: Facts, loader: Loader) -> Phase | None:
    """The phase in a comprehension, or in a loop that fills a dictionary: `loaders["train"]` is trained."""
    variable = _variable(loader)
    if not variable:
        return None
    values: set[str | None] = set()
    taken: list[tuple[Names, ast.expr]] = []
    for path in _ways(facts, loader):
        values.add(_phase(facts, loader, path))
        taken += [(names, pick.value) for names, pick in picks(facts, loader, path)]
    value = values.pop() if len(values) == 1 else None
    return _phase_of(loader, variable, value, taken) if value is not None else None


def _by_flag(facts: Facts, loader: Loader) -> Phase | None:
    """The phase that a function is told by a constant: `loader = make_loader(data, train=True)`."""
    function = loader.names.function(loader.node)
    if not isinstance(function, ast.FunctionDef):
        return None
    sites = {call: where for where, call in facts.flow.call_sites(loader.names, function)}
    taken: list[tuple[Names, ast.expr]] = []
    trained: set[ast.Call] = set()
    for path in _ways(facts, loader):
        found = [
            (names, part, call)
            for names, drawn in _drawn(path)
            for part in names.walk(drawn)
            if isinstance(part, ast.expr)
            for call in _made_by(facts, names, part, sites)
        ]
        if not found:
            return None
        taken += [(names, part) for names, part, _ in found]
        trained.update(call for _, _, call in found)
    if not trained or trained == sites.keys():
        return None
    for arg in (*function.args.args, *function.args.kwonlyargs):
        told = {call: _told(loader.names, function, where, call, arg) for call, where in sites.items()}
        constants = {told[call] for call in trained}
        if (
            None in told.values()
            or len(constants) != 1
            or constants & {told[c] for c in told if c not in trained}
        ):
            continue
        bindings = loader.names.bindings(arg.arg, loader.node)
        if [binding.kind for binding in bindings] == ["param"]:
            return _phase_of(loader, arg.arg, constants.pop(), taken)
    return None


def _made_by(facts: Facts, names: Names, part: ast.AST, sites: Collection[ast.Call]) -> Iterator[ast.Call]:
    """The calls, of some, that an expression is, or that its variable or attribute is given."""
    held: list[ast.expr | None] = []
    if isinstance(part, ast.Call):
        held = [part]
    elif isinstance(part, ast.Name):
        held = [_unpacked(b) for b in names.bindings(part.id, part) if b.kind == "assign"]
    elif isinstance(part, ast.Attribute):
        held = [_unpacked(binding) for _, binding in facts.flow.stored(names, part)]
    return (each for each in held if isinstance(each, ast.Call) and each in sites)


def _unpacked(binding: Binding) -> ast.expr | None:
    """What is assigned: of `train, test = make(1), make(2)` its part, of `x, loader = make()` the call."""
    value = binding.value
    for position in binding.path:
        if not isinstance(value, (ast.Tuple, ast.List)) or position >= len(value.elts):
            return value
        value = value.elts[position]
    return value


def _told(
    names: Names, function: FunctionNode, where: Names, call: ast.Call, arg: ast.arg
) -> bool | str | None:
    """The text or truth value that a call gives for a parameter, or leaves to its default."""
    given = passed(names, function, where, call, arg.arg) or default(function, arg)
    value = given.value if isinstance(given, ast.Constant) else None
    return value if isinstance(value, (bool, str)) else None


def _phase_of(loader: Loader, variable: str, value: object, taken: Iterable[tuple[Names, ast.expr]]) -> Phase:
    same = (node for node in loader.names.of_kind(ast.Constant) if node.value == value)
    name = next(map(loader.names.source.segment, same), repr(value))
    return Phase(variable, value, name, tuple(taken))


def picks(facts: Facts, loader: Loader, path: Path) -> Iterator[tuple[Names, ast.Subscript]]:
    """Where a way from a backward pass takes the loader out of those of all phases: `loaders[phase]`."""
    for names, expression in _drawn(path):
        for part in names.walk(expression):
            held = [part]
            if isinstance(part, ast.Name):
                held = [b.value for b in names.bindings(part.id, part) if b.kind == "assign" and b.value]
            for each in held:
                if isinstance(each, ast.Subscript) and loader.value in facts.flow.values(names, each):
                    yield names, each


def _variable(loader: Loader) -> str:
    """What a comprehension, or a loop that fills a dictionary, calls the phase of a loader."""
    names, node = loader.names, loader.node
    around = names.parents[node]
    if isinstance(around, ast.DictComp) and around.value is node and len(around.generators) == 1:
        target, key = around.generators[0].target, around.key
        plain = not around.generators[0].ifs and _same(target, key)
        return target.id if plain and isinstance(target, ast.Name) else ""
    if isinstance(around, ast.Assign) and len(around.targets) == 1:
        place, loop = around.targets[0], names.parents[around]
        if isinstance(place, ast.Subscript) and isinstance(loop, ast.For) and _same(loop.target, place.slice):
            return loop.target.id if isinstance(loop.target, ast.Name) else ""
    return ""


def _same(one: ast.expr, other: ast.expr) -> bool:
    return isinstance(one, ast.Name) and isinstance(other, ast.Name) and one.id == other.id


def _phase(facts: Facts, loader: Loader, path: Path) -> str | None:
    """The phase of a backward pass: in `loaders["train"]`, or by a test of the phase around it."""
    found: set[str | None] = set()
    for names, pick in picks(facts, loader, path):
        if isinstance(pick.slice, ast.Constant):
            found.add(pick.slice.value if isinstance(pick.slice.value, str) else None)
        else:
            found.add(_tested(names, pick.slice, path))
    return found.pop() if len(found) == 1 else None


def _tested(names: Names, phase: ast.expr, path: Path) -> str | None:
    """What a variable is where a backward pass of its function runs: `if phase == "train":`."""
    if not isinstance(phase, ast.Name):
        return None
    places = [(path.names, path.backward), *path.calls]
    child: ast.AST | None = next(
        (node for where, node in places if where is names and names.function(node) is names.function(phase)),
        None,
    )
    for parent in names.ancestors(child) if child is not None else ():
        if isinstance(parent, ast.If) and child in parent.body:
            name = compared(names, parent.test, phase.id)
            if name is not None:
                return name
        if isinstance(parent, FUNCTIONS):
            return None
        child = parent
    return None


def compared(names: Names, test: ast.expr, variable: str) -> str | None:
    """What a test, or a variable that is one, compares a variable with: `train = phase == "train"`."""
    if isinstance(test, ast.Name):
        bound = [binding.value for binding in names.bindings(test.id, test)]
        test = bound[0] if len(bound) == 1 and bound[0] is not None else test
    if not isinstance(test, ast.Compare) or [type(op) for op in test.ops] != [ast.Eq]:
        return None
    sides = (test.left, test.comparators[0])
    constants = [
        side.value for side in sides if isinstance(side, ast.Constant) and isinstance(side.value, str)
    ]
    return (
        constants[0]
        if constants and any(isinstance(s, ast.Name) and s.id == variable for s in sides)
        else None
    )
