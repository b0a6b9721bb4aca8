"""Where hvd.init() has to stand so that every rank read, in whatever function, comes after it.

A read is covered when a statement before it, on every way to it, initialises. Where none does, the place is
above the read in the function that initialises later; else in its callers; else at the program's start.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.dataclass import dataclass
from hvdkit.migrate.facts.code.call_graph import call_graph
from hvdkit.migrate.facts.code.console_scripts import console_script, first_statement
from hvdkit.migrate.facts.code.environment import DEFAULTS, ENVIRONMENT
from hvdkit.migrate.facts.code.main_guards import main_guard
from hvdkit.migrate.facts.code.start_tests import asks_for_start, leaves_when_started, where_none_started
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.launch.ranks import environment_stores
from hvdkit.migrate.facts.programs.programs import kinds_of, programs_of
from hvdkit.migrate.facts.programs.reached_code import runs_in, starting_sites
from hvdkit.migrate.values import vocabulary as words
from hvdkit.source.index.names import FUNCTIONS, FunctionNode, Names
from hvdkit.source.index.statements import block_of

MAX_CALLERS = 8
NEEDLESS = (*ENVIRONMENT, *DEFAULTS)  # variables that nothing reads after migration
# Calls that set something for the rest of the process.
STAYS = ("torch.cuda.set", "torch.manual_seed", "torch.cuda.manual_seed", "numpy.random.seed", "random.seed")


@dataclass(frozen=True)
class StartPlace:
    """Above a statement, or below it with after=True."""

    names: Names
    statement: ast.stmt
    after: bool = False

    @property
    def key(self) -> tuple[int, bool]:
        """Places of one block in their order."""
        return self.statement.lineno, self.after


class Order:
    """Finds the places for a list of needs: nodes that must run after Horovod is initialised."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._sites: dict[ast.AST, Names] = {
            site.node: site.names for site in facts.calls(words.INIT, *words.HVD_INIT)
        }
        self.places: list[StartPlace] = []
        self._known: dict[tuple[FunctionNode, int, tuple[StartPlace, ...]], bool] = {}

    def need(self, names: Names, node: ast.AST, after: bool = False) -> None:
        """Add the place, if any, that a node needs."""
        for place in self._raise(names, node, after, 0):
            self._add(place)

    def settle(self) -> None:
        """Drop the places that other places make superfluous for every way into their function."""
        for place in list(self.places):
            others = [other for other in self.places if other is not place]
            kept, self.places = self.places, others
            if not self._covered(place.names, place.statement, False):
                self.places = kept

    def covers(self, names: Names, node: ast.AST) -> bool:
        """Whether something initialises on every way to a node."""
        return self._covered(names, node, False)

    def initialises(self, names: Names, node: ast.AST) -> bool:
        """Whether the function around a node is one that holds an init call."""
        function = names.function(node)
        return any(where is names and names.function(site) is function for site, where in self._sites.items())

    def left_out(self, names: Names, site: ast.Call) -> ast.AST | None:
        """What the function of an init call does besides, but not if Horovod starts above its call."""
        function = names.function(site)
        if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return None
        leaving = [p.lineno for p in function.body if p.lineno < site.lineno and leaves_when_started(p)]
        told = {statement for statement, _ in environment_stores(names, *NEEDLESS)}
        below = [
            p for part in function.body if leaving and part.lineno > leaving[0] for p in names.walk(part)
        ]
        done = [part for part in below if names.statement(part) not in told and self._lasts(names, part)]
        return done[0] if done and self._begun_above(names, function) else None

    def passed_by(self, names: Names, site: ast.Call) -> ast.If | None:
        """The `if not dist.is_initialized():` around an init call that does more, if it is passed by now."""
        for parent in names.ancestors(site):
            if isinstance(parent, FUNCTIONS):
                return None
            if isinstance(parent, ast.If) and (branch := where_none_started(parent, site)):
                return parent if self._does_more(names, parent, branch, site) else None
        return None

    def _does_more(self, names: Names, test: ast.If, branch: list[ast.stmt], site: ast.Call) -> bool:
        """Whether what runs beside an init call stays done, and Horovod starts above the test around them."""
        told = {names.statement(site), *(one for one, _ in environment_stores(names, *NEEDLESS))}
        parts = (part for one in branch for part in ast.walk(one) if isinstance(part, ast.expr))
        inside = [part for part in parts if names.statement(part) not in told]
        lasting = any(self._lasts(names, part) or _read_outside(names, part, branch) for part in inside)
        function = names.function(test)
        above = Order(self._facts)
        above._sites, above.places = {}, self.places
        begun = above.covers(names, test) or (function is not None and self._begun_above(names, function))
        return lasting and begun

    def _lasts(self, names: Names, node: ast.AST) -> bool:
        """Whether something stays done: a value stored in an object, a project's call, a device, a seed."""
        if isinstance(node, (ast.Attribute, ast.Subscript)):
            return isinstance(node.ctx, ast.Store)
        if not isinstance(node, ast.Call):
            return False
        qualified = self._facts.flow.qualified(names, node.func)
        return any(name.startswith(STAYS) for name in qualified) or bool(
            self._facts.flow.functions(names, node)
        )

    def _begun_above(self, names: Names, function: FunctionNode) -> bool:
        """Whether a place for hvd.init() stands above a call of a function that initialises itself."""
        others = Order(self._facts)
        others._sites = {}
        others.places = [place for place in self.places if self._function(place) is not function]
        calls = self._facts.flow.call_sites(names, function) if others.places else []
        return any(others.covers(where, call) for where, call in calls)

    def own_place(self, names: Names, site: ast.Call) -> StartPlace | None:
        """The place in the function of an init call that stands above it, if any."""
        function = names.function(site)
        above = [
            place
            for place in self.places
            if place.names is names and names.function(place.statement) is function
            if self._before(place, names, names.statement(site))
        ]
        return min(above, key=lambda place: place.key) if above else None

    def _add(self, place: StartPlace) -> None:
        """Keep the earliest of the places that one another make superfluous."""
        if "ddp" not in kinds_of(self._facts, place.names) or self._of_one_process(place):
            return
        for other in self.places:
            same = other.names is place.names and self._function(other) is self._function(place)
            if same and (other == place or self._before(other, place.names, place.statement)):
                return
        self.places = [
            other
            for other in self.places
            if other.names is not place.names
            or self._function(other) is not self._function(place)
            or not self._before(place, other.names, other.statement)
        ]
        self.places.append(place)

    def _of_one_process(self, place: StartPlace) -> bool:
        """Whether only a script of one process runs a place, under its main guard: it starts by itself."""
        guard = main_guard(place.names)
        own = [program.kind for program in programs_of(self._facts) if program.entry is place.names]
        return own == ["single"] and any(part is guard for part in place.names.ancestors(place.statement))

    def _function(self, place: StartPlace) -> FunctionNode | None:
        return place.names.function(place.statement)

    def _before(self, place: StartPlace, names: Names, statement: ast.stmt) -> bool:
        """Whether a place stands on every way to a statement of the same function."""
        block = names.parents[place.statement]
        child: ast.AST = statement
        for parent in (statement, *names.ancestors(statement)):
            if names.parents.get(parent) is block and isinstance(parent, ast.stmt):
                if parent is place.statement:
                    return not place.after
                return _same_block(block, place.statement, parent) and parent.lineno > place.statement.lineno
            if isinstance(child, FUNCTIONS) and child is not statement:
                return False
            child = parent
        return False

    def _raise(self, names: Names, node: ast.AST, after: bool, depth: int) -> Iterator[StartPlace]:
        if self._covered(names, node, after) or depth > MAX_CALLERS:
            return
        function = names.function(node)
        statement = names.statement(node)
        while isinstance(around := names.parents.get(statement), ast.ClassDef):
            statement = around  # a class's own body runs where the class is defined
        goals = list(self._initialising(names, function))
        if goals:
            yield self._common(names, statement, after, goals)
            return
        if function is not None and function is (command := console_script(self._facts, names)):
            yield StartPlace(names, first_statement(command))
            return
        sites = self._facts.flow.call_sites(names, function) if function is not None else []
        if function is None:
            yield StartPlace(
                names, self._top(names, statement), after and names.parents[statement] is names.source.tree
            )
        for where, call in sites:
            yield from self._raise(where, call, False, depth + 1)
        guard = main_guard(names) if function is not None and not sites else None
        if guard is not None and not any(self._initialising(names, None)):
            # A script that starts nothing: who calls it is not known.
            yield StartPlace(names, self._start(names, guard))
        elif function is not None and not sites and not self._made_below(names, function):
            yield from self._starts(names, node)

    def _made_below(self, names: Names, function: FunctionNode) -> bool:
        """Whether a method that nothing calls is of objects that are made where something has started."""
        if not isinstance(names.parents.get(function), ast.ClassDef):
            return False
        ways = call_graph(self._facts).ways(names, function)
        return bool(ways) and all(self._covered(where, node, False, 1) for where, node in ways)

    def _starts(self, names: Names, node: ast.AST) -> Iterator[StartPlace]:
        """The start of each program that joins a job, and may come to code that nothing is seen to call."""
        for program in programs_of(self._facts):
            guard = main_guard(program.entry)
            if guard is not None and runs_in(self._facts, program, names, node):
                first = self._start(program.entry, guard)
                if starting_sites(self._facts, program) and not self._is_init(program.entry, first):
                    yield StartPlace(program.entry, first)

    def _start(self, names: Names, guard: ast.If) -> ast.stmt:
        """The first statement of a script, or of the function that it calls where that is a command, too."""
        command = console_script(self._facts, names)
        return guard.body[0] if command is None else first_statement(command)

    def _is_init(self, names: Names, statement: ast.stmt) -> bool:
        """Whether a statement is an init call, or holds one."""
        return any(
            where is names and names.statement(site) is statement for site, where in self._sites.items()
        )

    def _top(self, names: Names, statement: ast.stmt) -> ast.stmt:
        """The statement of the module, or of its main guard, that holds a statement."""
        for parent in (statement, *names.ancestors(statement)):
            holder = names.parents.get(parent)
            guard = isinstance(holder, ast.If) and names.parents.get(holder) is names.source.tree
            if isinstance(parent, ast.stmt) and (holder is names.source.tree or (guard and _is_main(holder))):
                return parent
        return statement

    def _common(self, names: Names, statement: ast.stmt, after: bool, goals: list[ast.stmt]) -> StartPlace:
        """The place at the innermost block around both a statement and all that initialises later."""
        around = [set(self._chain(names, goal)) for goal in goals]
        for candidate in self._chain(names, statement):
            if names.source.is_elif(candidate):
                continue
            block = names.parents[candidate]
            beside = [{other for other in chain if _same_block(block, candidate, other)} for chain in around]
            if all(beside):
                same = [other for others in beside for other in others if other.lineno < candidate.lineno]
                if same:
                    return StartPlace(names, min(same, key=lambda s: s.lineno))
                return StartPlace(names, candidate, after and candidate is statement)
        return StartPlace(names, statement, after)

    def _chain(self, names: Names, statement: ast.stmt) -> Iterator[ast.stmt]:
        """A statement and those around it, up to the function's own body."""
        yield statement
        for parent in names.ancestors(statement):
            if isinstance(parent, (*FUNCTIONS, ast.ClassDef)):
                return
            if isinstance(parent, ast.stmt):
                yield parent

    def _initialising(self, names: Names, function: FunctionNode | None) -> Iterator[ast.stmt]:
        """Statements of a function's own that initialise, themselves or through what they call."""
        for site, where in self._sites.items():
            if where is names and names.function(site) is function:
                yield names.statement(site)
        for site, where in self._sites.items():
            inner = where.function(site)
            if inner is None:
                continue
            for caller, call in self._callers(where, inner, 0):
                if caller is names and names.function(call) is function:
                    yield names.statement(call)

    def _callers(self, names: Names, function: FunctionNode, depth: int) -> Iterator[tuple[Names, ast.Call]]:
        for where, call in self._facts.flow.call_sites(names, function):
            yield where, call
            outer = where.function(call)
            if outer is not None and depth < MAX_CALLERS and outer is not function:
                yield from self._callers(where, outer, depth + 1)

    # --- covered -----------------------------------------------------------------------------------

    def _covered(self, names: Names, node: ast.AST, after: bool, depth: int = 0) -> bool:
        """Whether something initialises on every way to a node."""
        statement = names.statement(node)
        function = names.function(node)
        for place in self.places:
            if place.names is names and self._function(place) is function:
                if self._before(place, names, statement) or (
                    after and place == StartPlace(names, statement, True)
                ):
                    return True
        for current in self._chain(names, statement):
            for earlier in _earlier(names, current, after and current is statement):
                if self._runs(names, earlier, 0):
                    return True
        if function is None:
            return False
        sites = self._facts.flow.call_sites(names, function)
        if any(p.names is names and names.parents[p.statement] is names.source.tree for p in self.places):
            # Importing the file initialises before any of its functions runs that it does not call itself.
            sites = [site for site in sites if site[0] is names]
            return depth > MAX_CALLERS or all(self._covered(*site, False, depth + 1) for site in sites)
        return (
            depth <= MAX_CALLERS
            and bool(sites)
            and all(self._covered(where, call, False, depth + 1) for where, call in sites)
        )

    def _runs(self, names: Names, statement: ast.stmt, depth: int) -> bool:
        """Whether running a statement always initialises."""
        if any(p.names is names and p.statement is statement for p in self.places):
            return True
        if isinstance(statement, (ast.With, ast.Try)):
            return any(self._runs(names, inner, depth) for inner in statement.body)
        if isinstance(statement, ast.If):
            asks = any(asks_for_start(part) for part in ast.walk(statement.test))
            then = any(self._runs(names, inner, depth) for inner in statement.body)
            return then and (asks or any(self._runs(names, inner, depth) for inner in statement.orelse))
        if isinstance(statement, (ast.Expr, ast.Assign, ast.AnnAssign, ast.Return)):
            for call in names.calls_in(statement):
                if call in self._sites:
                    return True
                if depth < MAX_CALLERS and any(
                    self._always(where, function, depth + 1)
                    for where, function in self._facts.flow.functions(names, call)
                ):
                    return True
        return False

    def _always(self, names: Names, function: FunctionNode, depth: int) -> bool:
        """Whether calling a function always initialises."""
        key = (function, depth, tuple(self.places))
        if key not in self._known:
            self._known[key] = self._finds_out(names, function, depth)
        return self._known[key]

    def _finds_out(self, names: Names, function: FunctionNode, depth: int) -> bool:
        if isinstance(function, ast.Lambda):
            return False
        for statement in function.body:
            if self._runs(names, statement, depth):
                return True
            if leaves_when_started(statement):
                continue
            if any(isinstance(part, ast.Return) for part in names.walk(statement)):
                return False
        return False


def _read_outside(names: Names, part: ast.AST, branch: list[ast.stmt]) -> bool:
    """Whether a node sets a variable that is read elsewhere."""
    if not isinstance(part, ast.Name) or not isinstance(part.ctx, ast.Store):
        return False
    inside = {id(node) for one in branch for node in ast.walk(one)}
    return any(
        isinstance(other.ctx, ast.Load) and other.id == part.id and id(other) not in inside
        for other in names.of_kind(ast.Name)
        if names.function(other) is names.function(part)
    )


def _earlier(names: Names, statement: ast.stmt, itself: bool) -> list[ast.stmt]:
    """Statements before one in its block; with it, for what is to stand below it."""
    block = block_of(names, statement)
    return block[: block.index(statement) + (1 if itself else 0)] if block else []


def _same_block(parent: ast.AST, left: ast.stmt, right: ast.stmt) -> bool:
    return any(
        left in body and right in body
        for body in (getattr(parent, field, None) for field in ("body", "orelse", "finalbody"))
        if isinstance(body, list)
    )


def _is_main(node: ast.AST | None) -> bool:
    return isinstance(node, ast.If) and any(
        isinstance(part, ast.Name) and part.id == "__name__" for part in ast.walk(node.test)
    )
