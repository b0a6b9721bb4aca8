"""Where the project's functions are called from: every call that may matter is asked once what it runs."""

from __future__ import annotations

import ast
from collections import defaultdict
from functools import cached_property

from hvdkit.migrate.values.arguments import fits, is_property, starting_calls
from hvdkit.migrate.values.flow_questions import Asking
from hvdkit.migrate.values.lookups import looked_up_in, may_look_up
from hvdkit.migrate.values.memo import Memo
from hvdkit.migrate.values.value import CallSite, Value
from hvdkit.source.index.names import FUNCTIONS, FunctionNode, Names


class Callers:
    """The call sites of each function, filled while the flow is asked for them."""

    def __init__(self, flow: Asking, memo: Memo[Value]) -> None:
        self._flow = flow
        self._memo = memo
        self._sites: dict[ast.AST, dict[ast.Call, Names]] = defaultdict(dict)

    def of(self, names: Names, function: FunctionNode) -> list[CallSite]:
        """Calls in the project that may run a function, spawning calls included, in file order."""
        names.count(function)
        self._memo.ask(("sites", function), self._look, names, function)
        sites = [(where, call) for call, where in self._sites[function].items()]
        if len(sites) < 2:
            return sites
        return sorted(sites, key=lambda site: (str(site[0].source.path), site[1].lineno, site[1].col_offset))

    def _look(self, names: Names, function: FunctionNode) -> frozenset[Value]:
        """Ask every call that may run the function. The answer is in the table, so nothing is given back."""
        name = getattr(function, "name", None)
        owner = names.parents.get(function)
        if _is_forward(names, function):
            return frozenset()  # a module's call: the receivers are too many to ask, and no fact needs them
        if isinstance(owner, ast.ClassDef) and name == "__call__":
            return self._memo.ask("instance calls", self._ask_instances)
        wanted = [name] if name else []
        if isinstance(owner, ast.ClassDef) and name == "__init__":
            wanted = [owner.name, "__init__"]
            if owner.name in self._held:
                self._memo.ask("instance calls", self._ask_instances)
        if name in self._handed_on:
            self._memo.ask("parameter calls", self._ask_parameters)
            self._memo.ask("attribute calls", self._ask_attributes)
        if name in self._returned:
            self._memo.ask("made calls", self._ask_made)
        for key in wanted:
            self._memo.ask(("calls", key), self._ask_named, key)
        if owner is names.source.tree:
            self._memo.ask("looked up", self._ask_looked_up)
        return self._memo.ask("starters", self._ask_starters)

    def _ask_named(self, name: str) -> frozenset[Value]:
        for names, alias in self._known_as.get(name, ()):
            for call in names.calls.get(alias, ()):
                self._ask_call(names, call)
        return frozenset()

    def _ask_starters(self) -> frozenset[Value]:
        for names in self._files:
            for call, target in starting_calls(names):
                self._memo.ask(("starts", call), self._ask_started, names, call, target)
        return frozenset()

    def _ask_instances(self) -> frozenset[Value]:
        """Calls of variables and attributes that may hold an instance with a __call__."""
        for names in self._files:
            for call in names.variable_calls:
                self._ask_call(names, call)
        return frozenset()

    def _ask_parameters(self) -> frozenset[Value]:
        """Calls of parameters, which may hold a function."""
        for names in self._files:
            for call in names.variable_calls:
                bindings = names.bindings(call.func.id, call.func) if isinstance(call.func, ast.Name) else ()
                if any(binding.kind == "param" for binding in bindings):
                    self._ask_call(names, call)
        return frozenset()

    def _ask_made(self) -> frozenset[Value]:
        """Calls of variables that another call gave, which may hold a function: `step = make_step(net)`."""
        for names in self._files:
            for call in names.variable_calls:
                bindings = names.bindings(call.func.id, call.func) if isinstance(call.func, ast.Name) else ()
                if any(
                    binding.kind == "assign" and isinstance(binding.value, ast.Call) for binding in bindings
                ):
                    self._ask_call(names, call)
        return frozenset()

    def _ask_attributes(self) -> frozenset[Value]:
        """Calls of attributes that may hold a function: given by a parameter or a call, and properties."""
        holding = {
            attribute
            for names in self._files
            for attribute, stored in names.stores.items()
            if any(isinstance(binding.value, (ast.Name, ast.Call)) for _, binding in stored)
        }
        holding |= {d.name for names in self._files for d in names.of_kind(ast.FunctionDef) if is_property(d)}
        for names in self._files:
            for attribute in holding & names.calls.keys():
                for call in names.calls[attribute]:
                    if isinstance(call.func, ast.Attribute):
                        self._ask_call(names, call)
        return frozenset()

    def _ask_looked_up(self) -> frozenset[Value]:
        """Calls of what a text chooses in a module of the project: `models.__dict__[args.arch](data)`."""
        for names in self._files:
            for call in names.of_kind(ast.Call):
                module = looked_up_in(call.func) if isinstance(call, ast.Call) else None
                if module is not None and isinstance(call, ast.Call):
                    self._memo.ask(("looked up", call), self._run_looked_up, names, call, module)
        return frozenset()

    def _run_looked_up(self, names: Names, call: ast.Call, module: ast.expr) -> frozenset[Value]:
        for value in self._flow.values(names, module):
            if value.kind != "module":
                continue
            for name, bindings in value.names.module.names.items():
                if not may_look_up(call.func, name):
                    continue
                for held in (one for b in bindings for one in self._flow.bound(value.names, b)):
                    if held.kind == "function" and isinstance(held.node, FUNCTIONS) and fits(held.node, call):
                        self._found(held.node, names, call)
        return frozenset()

    def _ask_call(self, names: Names, call: ast.Call) -> None:
        self._memo.ask(("runs", call), self._run, names, call)

    def _run(self, names: Names, call: ast.Call) -> frozenset[Value]:
        for _, function in self._flow.functions(names, call):
            if not _is_forward(_, function):
                self._found(function, names, call)
        return frozenset()

    def _ask_started(self, names: Names, call: ast.Call, target: ast.expr) -> frozenset[Value]:
        for value in self._flow.values(names, target):
            for _, function in self._flow.run_by(value):
                self._found(function, names, call)
        return frozenset()

    def _found(self, function: ast.AST, names: Names, call: ast.Call) -> None:
        if call not in self._sites[function]:
            self._sites[function][call] = names
            self._memo.grown(("sites", function))

    @cached_property
    def _files(self) -> list[Names]:
        return list(self._flow.project.files.values())

    @cached_property
    def _handed_on(self) -> set[str]:
        """Names that are given to calls, kept or returned: what holds them may be called in their stead."""
        values = (
            value
            for names in self._files
            for node in names.of_kind(ast.Call, ast.keyword, ast.Assign, ast.Return)
            for value in (node.args if isinstance(node, ast.Call) else [getattr(node, "value", None)])
        )
        return {getattr(value, "attr", getattr(value, "id", "")) for value in values}

    @cached_property
    def _returned(self) -> set[str]:
        """Names of functions that another function defines and gives back."""
        return {
            getattr(node.value, "id", "")
            for names in self._files
            for node in names.of_kind(ast.Return)
            if isinstance(node.value, ast.Name)
            if any(binding.kind == "def" for binding in names.bindings(node.value.id, node.value))
        }

    @cached_property
    def _held(self) -> set[str]:
        """Names in tables, and those that variables are given: `Trainer = {"detect": Detector}[kind]`."""
        values: list[ast.expr] = []
        for names in self._files:
            values += (value for node in names.of_kind(ast.Dict) for value in node.values)
            values += (node.value for node in names.of_kind(ast.Assign))
        for value in list(values):
            values += (value.body, value.orelse) if isinstance(value, ast.IfExp) else ()
        return {getattr(value, "attr", getattr(value, "id", "")) for value in values}

    @cached_property
    def _known_as(self) -> dict[str, list[tuple[Names, str]]]:
        """By the name of a function: the names under which each file may call it."""
        found: dict[str, dict[tuple[Names, str], None]] = defaultdict(dict)
        for names in self._files:
            for name in names.calls:
                found[name][names, name] = None
            for alias, bindings in names.module.names.items():
                for binding in bindings:
                    if binding.kind == "import" and alias in names.calls:
                        found[binding.qualified.rpartition(".")[2]][names, alias] = None
        return {name: list(places) for name, places in found.items()}


def _is_forward(names: Names, function: FunctionNode) -> bool:
    """Whether a function is a module's forward."""
    return getattr(function, "name", "") == "forward" and isinstance(
        names.parents.get(function), ast.ClassDef
    )
