"""Which code may run when a program runs: a function runs with what calls it or hands it on.

Whose method a call runs cannot always be followed: on something unknown it may be any class's, by its name.
"""

from __future__ import annotations

import ast
from functools import cached_property

from hvdkit.library.methods import CALLED_BY_BASES
from hvdkit.migrate.facts.code.main_guards import main_guard
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.values.arguments import fits
from hvdkit.migrate.values.lookups import looked_up_in, name_looked_up
from hvdkit.migrate.values.value import Value
from hvdkit.source.index.names import FunctionNode, Names
from hvdkit.source.project.files import does_more_than_define

Way = tuple[Names, ast.AST]
ONLY_WRAPS = (
    "torch.",
    "contextlib.",
)  # libraries whose decorators give a function back to its own name alone


class CallGraph:
    """The ways to each function, looked for when they are asked for."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._ways: dict[ast.AST, list[Way]] = {}
        self._runs: dict[tuple[Names, frozenset[Names], ast.AST], bool] = {}
        self._dead: dict[ast.AST, bool] = {}
        self._in_dead: dict[ast.AST, bool] = {}

    def runs(self, entry: Names, files: frozenset[Names], names: Names, node: ast.AST) -> bool:
        """Whether a node may run in the program of an entry script and these files."""
        key = (entry, files, names.function(node) or node)
        if key not in self._runs:
            self._runs[key] = self._is_reached(entry, files, names, node)
        return self._runs[key]

    def _is_reached(self, entry: Names, files: frozenset[Names], names: Names, node: ast.AST) -> bool:
        seen: set[ast.AST] = set()
        waiting: list[Way] = [(names, node)]
        while waiting:
            where, place = waiting.pop()
            function = where.function(place)
            if where not in files or function in seen:
                continue
            if function is None:
                if begins_in(entry, where, place):
                    return True
                continue
            seen.add(function)
            ways = self.ways(where, function)
            if self._is_given(entry, where, function, ways):
                return True
            waiting += ways
        return False

    def _is_given(self, entry: Names, names: Names, function: FunctionNode, ways: list[Way]) -> bool:
        """Whether others may run a function: a package's console script, or what a library's file has."""
        owner = names.parents[function]
        whole = owner if isinstance(owner, ast.ClassDef) else function
        name = getattr(whole, "name", "")
        bindings = entry.module.names.get(name, ())
        if not any(v.node is whole for binding in bindings for v in self._facts.flow.bound(entry, binding)):
            return False
        if whole is function:
            return not does_more_than_define(entry) or (not ways and main_guard(entry) is None)
        return not does_more_than_define(entry) or not any(name in where.uses for where in self._facts.files)

    def ways(self, names: Names, function: FunctionNode) -> list[Way]:
        """Calls that may run a function, and other places that name it; none where only a person may run it.

        What Python or a library calls, and a method that nothing names, runs where its class is named.
        """
        if function not in self._ways:
            self._ways[function] = self._find(names, function)
        return self._ways[function]

    def _find(self, names: Names, function: FunctionNode) -> list[Way]:
        name = getattr(function, "name", "")
        owner = names.parents[function]
        if not name:
            return [(names, function)]
        if not isinstance(owner, ast.ClassDef):
            asked = self._looked_up(names, name)
            named = [
                *self._named(names, function, name),
                *(way for way in asked if _may_call(*way, function)),
            ]
            return named or _decorated(names, function)
        if name == "forward" or (name.startswith("__") and name != "__init__"):
            return self._class_named(names, owner)
        named = self._named(names, function, name)
        if named or self.is_dead(names, function):
            return named
        return self._class_named(names, owner)

    def may_be_lost(self, names: Names, node: ast.AST) -> bool:
        """Whether what runs a node may have been missed: what nothing names may be chosen by a configuration.

        A method of a class whose objects are known is not: all that may call it is known.
        """
        return any(
            function is not None and not self.is_dead(at, function)
            for at, function in self._roots(names, node)
        )

    def in_dead_code(self, names: Names, node: ast.AST) -> bool:
        """Whether only methods that can never run lead to a node."""
        key = names.function(node)
        if key is None:
            return False
        if key not in self._in_dead:
            roots = self._roots(names, node)
            alive = (function is None or not self.is_dead(at, function) for at, function in roots)
            self._in_dead[key] = bool(roots) and not any(alive)
        return self._in_dead[key]

    def _roots(self, names: Names, node: ast.AST) -> list[tuple[Names, FunctionNode | None]]:
        """The functions that nothing runs on the ways to a node; None for what runs as its file does."""
        roots: list[tuple[Names, FunctionNode | None]] = []
        seen: set[ast.AST] = set()
        waiting: list[Way] = [(names, node)]
        while waiting:
            where, place = waiting.pop()
            function = where.function(place)
            if function in seen:
                continue
            ways = self.ways(where, function) if function is not None else []
            if not ways:
                roots.append((where, function))
            if function is not None:
                seen.add(function)
            waiting += ways
        return roots

    def is_dead(self, names: Names, function: FunctionNode) -> bool:
        """Whether a method can run nowhere: objects of its class are made, and nothing names the method.

        That of a base class in a library may be called by the library, as may any of an object that it is
        handed, and that of an object which is asked for a name that is computed.
        """
        owner, name = names.parents[function], getattr(function, "name", "")
        if not isinstance(owner, ast.ClassDef) or name.startswith("__") or function.decorator_list:  # type: ignore[union-attr]
            return False
        if function not in self._dead:
            unnamed = not self._named(names, function, name)
            self._dead[function] = unnamed and self._is_closed(names, owner, name)
        return self._dead[function]

    def _is_closed(self, names: Names, owner: ast.ClassDef, name: str) -> bool:
        """Whether all that may call a method of a class names it: no library does, and no computed name."""
        flow, made = self._facts.flow, Value("class", owner.name, owner, names)
        family = {base for _, base in flow.classes(made)}
        for where, base in flow.classes(made):
            bases = [flow.values(where, parent) for parent in base.bases]
            if base.keywords or base.decorator_list or not all(map(_is_known, bases)):
                return False
        inherits = flow.bases(made) - {"object", "abc.ABC"}
        if any(name in CALLED_BY_BASES.get(base, (name,)) for base in inherits):
            return False
        asked = (at for at in self._asked_by_text if at[3] in (None, name))
        holders = (flow.values(where, holder) for where, _, holder, _ in asked)
        may = (not values or any(v.unknown or v.node in family for v in values) for values in holders)
        return self._is_made(names, owner, bool(inherits)) and not any(may)

    def _is_made(self, names: Names, owner: ast.ClassDef, inherits: bool) -> bool:
        """Whether a class is used to make objects and to derive from it, and else named nowhere.

        inherits: what is handed the objects knows them by a base class, and calls what that has.
        """
        made = False
        for where in self._mentioning(owner.name):
            for node in (*where.uses.get(owner.name, ()), *where.attributes.get(owner.name, ())):
                parent = where.parents[node]
                if isinstance(parent, ast.Call) and parent.func is node:
                    if not inherits and not self._stays(where, parent):
                        return False
                    made = True
                elif not isinstance(parent, ast.ClassDef) and owner not in where.ancestors(node):
                    return False
        return made

    def _stays(self, where: Names, call: ast.Call) -> bool:
        """Whether an object that a call makes is handed to nothing: it is asked for attributes alone."""
        parent = where.parents[call]
        if isinstance(parent, (ast.Attribute, ast.Expr)):
            return True
        target = parent.targets[0] if isinstance(parent, ast.Assign) and len(parent.targets) == 1 else None
        uses: list[tuple[Names, ast.expr]]
        if isinstance(target, ast.Name):
            uses = [(where, node) for node in where.uses.get(target.id, ())]
        elif isinstance(target, ast.Attribute):
            name = target.attr
            uses = [(at, node) for at in self._mentioning(name) for node in at.attributes.get(name, ())]
        else:
            return False
        return all(isinstance(at.parents[node], ast.Attribute) or node is target for at, node in uses)

    def _class_named(self, names: Names, owner: ast.ClassDef) -> list[Way]:
        """Where a class is named, or defined if a decorator may hand it on.

        One that nothing names may be looked up by a text in its own script; a library's is for others.
        """
        if owner.decorator_list:
            return [(names, owner)]
        known = [(where, owner.name) for where in self._mentioning(owner.name)]
        places: list[Way] = [
            (where, node)
            for where, name in (*known, *self._renamed.get(owner.name, ()))
            for node in (*where.uses.get(name, ()), *where.attributes.get(name, ()))
            if owner not in where.ancestors(node)
            and any(value.node is owner for value in self._facts.flow.values(where, node))
        ]
        places = places or self._looked_up(names, owner.name)
        return places or ([] if names in self._for_others else [(names, owner)])

    @cached_property
    def _for_others(self) -> set[Names]:
        """The files that others import, and that start nothing themselves."""
        imported = {file for names in self._facts.files for file in self._facts.project.imports(names)}
        return {names for names in imported if main_guard(names) is None}

    def _mentioning(self, name: str) -> list[Names]:
        """The files that may mean something by a name, or by an attribute of that name."""
        return self._mentions.get(name, [])

    @cached_property
    def _mentions(self) -> dict[str, list[Names]]:
        found: dict[str, list[Names]] = {}
        for where in self._facts.files:
            for name in {*where.uses, *where.attributes}:
                found.setdefault(name, []).append(where)
        return found

    @cached_property
    def _renamed(self) -> dict[str, list[tuple[Names, str]]]:
        """The files that import a name under another, with that."""
        found: dict[str, list[tuple[Names, str]]] = {}
        for where in self._facts.files:
            for item in where.of_kind(ast.alias):
                if item.asname is not None and item.asname != item.name:
                    found.setdefault(item.name, []).append((where, item.asname))
        return found

    def _named(self, names: Names, function: FunctionNode, name: str) -> list[Way]:
        named: dict[ast.AST, Names] = {}
        for where, call in self._facts.flow.call_sites(names, function):
            named[call] = where
        for where in self._mentioning(name) if name != "__init__" else ():
            for node in (*where.uses.get(name, ()), *where.attributes.get(name, ())):
                parent = where.parents[node]
                place = parent if isinstance(parent, ast.Call) and parent.func is node else node
                if place not in named and self._may_mean(where, node, names, function):
                    named[place] = where
        return [(where, node) for node, where in named.items()]

    def _looked_up(self, names: Names, name: str) -> list[Way]:
        """Where a module is asked for a name: `getattr(module, "run")`, `module.__dict__[chosen]`."""
        return [
            (where, node)
            for where, node, holder, text in self._asked_by_text
            if name == text or (text is None and not name.startswith("_"))
            if any(
                value.kind == "module" and self._has(value.names, names, name)
                for value in self._facts.flow.values(where, holder)
            )
        ]

    @cached_property
    def _asked_by_text(self) -> list[tuple[Names, ast.expr, ast.expr, str | None]]:
        """What looks something up in a module: where, the module and the text; None for a computed one."""
        found: list[tuple[Names, ast.expr, ast.expr, str | None]] = []
        for where in self._facts.files:
            inside = (*where.calls.get("vars", ()), *where.attributes.get("__dict__", ()))
            for asks in (*where.calls.get("getattr", ()), *(where.parents[node] for node in inside)):
                if isinstance(asks, (ast.Call, ast.Subscript)) and (holder := looked_up_in(asks)) is not None:
                    found.append((where, asks, holder, name_looked_up(asks)))
        return found

    def _has(self, holder: Names, names: Names, name: str) -> bool:
        """Whether a module is a file, or takes a name from it."""
        if holder is names:
            return True
        takes = name in holder.module.names or bool(holder.stars)
        return takes and names in self._facts.project.imports(holder)

    def _may_mean(self, where: Names, node: ast.expr, names: Names, function: FunctionNode) -> bool:
        flow = self._facts.flow
        if any(value.node is function for value in flow.values(where, node)):
            return True
        owner = names.parents[function]
        if not isinstance(node, ast.Attribute) or not isinstance(owner, ast.ClassDef):
            return False
        receiver = flow.values(where, node.value)
        family = {base for _, base in flow.classes(Value("class", owner.name, owner, names))}
        return all(value.unknown for value in receiver) or any(value.node in family for value in receiver)


def _is_known(values: frozenset[Value]) -> bool:
    """Whether a base class is one of the project's, or a library's that has a name."""
    return bool(values) and all(value.kind in ("class", "name") for value in values)


def _may_call(names: Names, asks: ast.AST, function: FunctionNode) -> bool:
    """Whether a lookup may give a function: what is called at once has to get the arguments that it takes."""
    call = names.parents[asks]
    return not isinstance(call, ast.Call) or call.func is not asks or fits(function, call)


def _decorated(names: Names, function: FunctionNode) -> list[Way]:
    """Where a function is defined, if what decorates it may hand it on: torch.no_grad() does not."""
    for decorator in getattr(function, "decorator_list", ()):
        made_by = names.qualified(decorator.func if isinstance(decorator, ast.Call) else decorator)
        if not any(name.startswith(ONLY_WRAPS) for name in made_by):
            return [(names, function)]
    return []


def begins_in(entry: Names, names: Names, node: ast.AST) -> bool:
    """Whether module-level code of a program's file runs in it: not under another script's main guard."""
    guard = main_guard(names)
    return names is entry or guard is None or guard not in names.ancestors(node)


@once
def call_graph(facts: Facts) -> CallGraph:
    """Which code may run in which program."""
    return CallGraph(facts)
