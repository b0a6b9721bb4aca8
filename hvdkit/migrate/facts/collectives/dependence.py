"""What an expression depends on: what it is made of, and the tests under which it is made."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.values.arguments import passed
from hvdkit.migrate.values.binding_order import held_at
from hvdkit.migrate.values.vocabulary import EVERY_HOROVOD
from hvdkit.source.index.names import FUNCTIONS, Binding, Names, Scope

# Horovod's functions that give every rank the same; a name with more behind these is a variant of one.
AGREES = ("allreduce", "grouped_allreduce", "sparse_allreduce", "allgather", "grouped_allgather", "broadcast")
# torch.distributed's leave it in their first argument.
FILLS = tuple(f"torch.distributed.{name}" for name in ("all_reduce", "all_gather", "broadcast"))
AGREED = (*(f"{module}.{name}" for module in EVERY_HOROVOD for name in AGREES), *FILLS)
MAX_CALLS = 3


class _Ways(NamedTuple):
    """What a variable may be bound by, and the parts that an expression is made of."""

    bindings: list[tuple[Names, Binding]]
    parts: Sequence[tuple[Names, ast.AST]]


class Dependence:
    """Whether an expression depends on something, by values or by the tests above them.

    `if loss < best: waited = 0` and `else: waited += 1` make `waited` depend on the loss. What one of
    Horovod's collectives gives is the same on every rank, and depends on nothing.
    """

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self._clear: set[ast.AST] = set()  # what earlier answers went through, each of them "no"
        self._known: set[ast.AST] = set()  # and what was found to be "yes"
        self._ways: dict[ast.AST, _Ways | None] = {}  # by expression: they share most of what they come from
        self._given: dict[ast.AST, list[tuple[Names, ast.expr]]] = {}  # by what binds

    def at(self, names: Names, part: ast.AST) -> bool | None:
        """Whether an expression is what is asked for, or certainly is not; None where its parts say."""
        raise NotImplementedError

    def over(self, names: Names, iterated: ast.expr) -> bool | None:
        """The same of an element of what a loop runs over."""
        return None

    def bindings(self, names: Names, part: ast.AST) -> list[tuple[Names, Binding]]:
        """Where what a variable or an attribute holds at a use may come from."""
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
            return [(names, binding) for binding in held_at(names, part)]
        return bindings_of(self.facts, names, part)

    def holds(self, names: Names, expression: ast.AST) -> bool:
        """The answer for an expression and all that it comes from."""
        seen: set[ast.AST] = set()
        found = self._of(names, expression, seen)
        if not found:
            self._clear |= seen
        return found

    def forget_known(self) -> None:
        """Look again at what was found to be "yes": for a search that notes what it finds."""
        self._known.clear()

    def _of(self, names: Names, part: ast.AST, seen: set[ast.AST]) -> bool:
        if part in self._known:
            return True
        if part in seen or part in self._clear:
            return False
        seen.add(part)
        found = self._follow(names, part, seen)
        if found:
            self._known.add(part)
        return found

    def _follow(self, names: Names, part: ast.AST, seen: set[ast.AST]) -> bool:
        if part not in self._ways:
            self._ways[part] = self._leads_to(names, part)
        ways = self._ways[part]
        if ways is None:
            return False
        answer = self.at(names, part)
        if answer is not None:
            return answer
        for where, binding in ways.bindings:
            if binding.node not in seen:
                seen.add(binding.node)
                if self._by_binding(where, binding, seen):
                    return True
        return any(self._of(where, each, seen) for where, each in ways.parts)

    def _leads_to(self, names: Names, part: ast.AST) -> _Ways | None:
        """Where an expression comes from; None where it is what ranks agreed on."""
        if is_agreed(self.facts, names, part):
            return None
        bindings = self.bindings(names, part)
        if bindings and _agreed_variable(self.facts, names, part, bindings):
            return None
        if isinstance(part, ast.Call):
            functions = self.facts.flow.functions(names, part)
            returned = [(where, result) for where, f in functions for result in where.returns.get(f, ())]
            if returned:  # what it is given counts where a result is made of its parameter
                return _Ways([], returned)
        parts: list[tuple[Names, ast.AST]] = [(names, each) for each in _put_into(self.facts, names, part)]
        if not (isinstance(part, ast.Attribute) and bindings):
            parts += ((names, child) for child in _made_of(part))
        # Else what is stored there says it, not what the thing around it is.
        return _Ways(bindings, parts)

    def _by_binding(self, names: Names, binding: Binding, seen: set[ast.AST]) -> bool:
        """Whether what a binding gives, or whether it is come to, depends on it."""
        over = getattr(getattr(binding.value, "func", None), "id", "")
        if binding.kind == "each" and binding.value is not None:
            if over == "enumerate" and binding.path[:1] == (0,):
                return False
            answer = self.over(names, binding.value) if over != "range" else None
            if answer is not None:
                return answer
        if binding.node not in self._given:
            self._given[binding.node] = self._given_to(names, binding)
        return any(self._of(where, value, seen) for where, value in self._given[binding.node])

    def _given_to(self, names: Names, binding: Binding) -> list[tuple[Names, ast.expr]]:
        """What a binding gets, and the tests above it."""
        given: list[tuple[Names, ast.expr]] = [(names, test) for test in tests_above(names, binding.node)]
        changed = names.parents.get(binding.node)
        if isinstance(changed, ast.AugAssign):
            given.append((names, changed.value))
        elif binding.kind == "param" and isinstance(binding.node, ast.arg):
            given += from_callers(self.facts, names, binding.node)
        elif binding.kind == "each" and binding.value is not None:
            given.append((names, binding.value))
        elif binding.kind in ("assign", "with") and binding.value is not None:
            given += _part_of(self.facts, names, binding.value, binding.path)
        return given


def _made_of(part: ast.AST) -> Iterator[ast.AST]:
    """The parts of an expression; of a comprehension its elements and its tests, not what it runs over."""
    for child in ast.iter_child_nodes(part):
        if isinstance(child, ast.comprehension):
            yield from child.ifs
        else:
            yield child


def is_agreed(facts: Facts, names: Names, part: ast.AST) -> bool:
    """Whether an expression is what one of Horovod's collectives gives, in whatever form: `.item()`, say."""
    while isinstance(part, ast.Call):
        if any(name.startswith(AGREED) for name in facts.flow.qualified(names, part.func)):
            return True
        if not isinstance(part.func, ast.Attribute) or names.qualified(part.func):
            return False
        part = part.func.value
    return False


def _agreed_variable(
    facts: Facts, names: Names, part: ast.AST, bindings: list[tuple[Names, Binding]]
) -> bool:
    """Whether a variable gets what a collective gives, or is given to one, or belongs to what calls one."""
    if any(_from_agreed(facts, where, binding) for where, binding in bindings):
        return True
    for use in same_uses(names, part):
        call = names.parents[use]
        if isinstance(call, ast.Call) and use in call.args:
            filling = [n for n in facts.flow.qualified(names, call.func) if n.startswith(AGREED)]
            if any(name.endswith("_") or name.startswith(FILLS) for name in filling):
                return True
            if any(_holds_collective(facts, *own) for own in facts.flow.functions(names, call)):
                return True
    return False


def _from_agreed(facts: Facts, names: Names, binding: Binding) -> bool:
    """Whether a variable is assigned something that is made of what a collective gives, in a few steps."""
    known = _agreed_bindings(facts)
    if binding.node not in known:
        seen: set[tuple[Names, Scope | None, str]] = set()
        level = [(names, binding)]
        for _ in range(MAX_CALLS):
            if any(_gives_agreed(facts, *each) for each in level):
                break
            level = [behind for each in level for behind in _behind(facts, *each, seen)]
        known[binding.node] = any(_gives_agreed(facts, *each) for each in level)
    return known[binding.node]


@once
def _agreed_bindings(facts: Facts) -> dict[ast.AST, bool]:
    """What was found so far: variables of large functions are asked about again and again."""
    return {}


@once
def _gives_agreed(facts: Facts, names: Names, binding: Binding) -> bool:
    """Whether what a variable is assigned contains a collective's result."""
    return any(is_agreed(facts, names, call) for call in _assigned(names, binding, ast.Call))


def _behind(
    facts: Facts, names: Names, binding: Binding, seen: set[tuple[Names, Scope | None, str]]
) -> Iterator[tuple[Names, Binding]]:
    """Where the variables in what a variable is assigned get theirs, each variable once."""
    for part in _assigned(names, binding, ast.Name):
        if isinstance(part, ast.Name):
            variable = (names, names.scope(part).owner(part.id), part.id)
            if variable not in seen:
                seen.add(variable)
                yield from bindings_of(facts, names, part)


def _assigned(names: Names, binding: Binding, kind: type[ast.AST]) -> Iterator[ast.AST]:
    if binding.kind == "assign" and binding.value is not None:
        yield from (part for part in names.walk(binding.value) if isinstance(part, kind))


@once
def _holds_collective(facts: Facts, names: Names, function: ast.AST) -> bool:
    """Whether a function of the project, or one that it calls, reaches one of Horovod's collectives."""
    seen, level = {function}, [(names, function)]
    for _ in range(MAX_CALLS + 1):
        calls = [(where, call) for where, each in level for call in where.calls_in(each)]
        if any(is_agreed(facts, *call) for call in calls):
            return True
        level = [own for call in calls for own in facts.flow.functions(*call) if own[1] not in seen]
        seen |= {each for _, each in level}
    return False


def _part_of(
    facts: Facts, names: Names, value: ast.expr, path: tuple[int, ...]
) -> list[tuple[Names, ast.expr]]:
    """What a variable gets of a value that is unpacked: its own one of the results of a function."""
    if len(path) == 1 and path[0] >= 0:
        results = [(names, value)]
        if isinstance(value, ast.Call):
            functions = facts.flow.functions(names, value)
            results = [(where, result) for where, f in functions for result in where.returns.get(f, ())]
        parts = [
            (where, result.elts[path[0]])
            for where, result in results
            if isinstance(result, (ast.Tuple, ast.List)) and path[0] < len(result.elts)
        ]
        if parts and len(parts) == len(results):
            return parts
    return [(names, value)]


def same_uses(names: Names, part: ast.AST) -> list[ast.expr]:
    """The uses of the same variable, or of an attribute or entry written the same way, in a file."""
    if not isinstance(getattr(part, "ctx", None), ast.Load):
        return []
    if isinstance(part, (ast.Name, ast.Attribute)):
        return names.same_uses(part)
    if isinstance(part, ast.Subscript) and isinstance(part.slice, ast.Constant):
        entries = (names.parents[use] for use in same_uses(names, part.value))
        return [
            entry
            for entry in entries
            if isinstance(entry, ast.Subscript) and ast.dump(entry.slice) == ast.dump(part.slice)
        ]
    return []


def _put_into(facts: Facts, names: Names, part: ast.AST) -> Iterator[ast.expr]:
    """What a file puts into the thing that a variable, an attribute or an entry holds, and the tests above:
    `losses.append(loss.item())`, `meter.update(loss)`, `scores[epoch] = score`.

    A library's module holds nothing: `os.remove(old)`.
    """
    if names.qualified(part) and not any(v.kind == "module" for v in facts.flow.values(names, part)):
        return
    for use in same_uses(names, part):
        around = names.parents[use]
        changed = names.parents.get(around)
        if isinstance(around, ast.Attribute) and isinstance(changed, ast.Call) and changed.func is around:
            own = facts.flow.functions(names, changed)
            if isinstance(names.parents[changed], ast.Expr):
                if not any(_holds_collective(facts, *method) for method in own):
                    yield from (*changed.args, *(item.value for item in changed.keywords))
                    yield from tests_above(names, use)
        elif isinstance(around, ast.Subscript) and isinstance(around.ctx, ast.Store):
            if isinstance(changed, (ast.Assign, ast.AugAssign)):
                yield changed.value
                yield from tests_above(names, use)


def bindings_of(facts: Facts, names: Names, part: ast.AST) -> list[tuple[Names, Binding]]:
    """Where what a variable or an attribute holds at a use may come from, each with its file."""
    if not isinstance(getattr(part, "ctx", None), ast.Load):
        return []
    if isinstance(part, ast.Name):
        return [(names, binding) for binding in names.bindings(part.id, part)]
    return facts.flow.stored(names, part) if isinstance(part, ast.Attribute) else []


def tests_above(names: Names, node: ast.AST) -> Iterator[ast.expr]:
    """The tests of the `if` and `while` statements of its function that a node stands under."""
    for parent in names.ancestors(node):
        if isinstance(parent, FUNCTIONS):
            return
        if isinstance(parent, (ast.If, ast.While)) and node not in ast.walk(parent.test):
            yield parent.test


def from_callers(facts: Facts, names: Names, arg: ast.arg) -> list[tuple[Names, ast.expr]]:
    """What the calls of a function give for one of its parameters."""
    function = names.parents[names.parents[arg]]
    if not isinstance(function, FUNCTIONS):
        return []
    sites = facts.flow.call_sites(names, function)
    given = [(where, passed(names, function, where, call, arg.arg)) for where, call in sites]
    return [(where, value) for where, value in given if value is not None]
