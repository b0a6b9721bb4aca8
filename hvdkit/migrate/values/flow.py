"""What each expression may be: values followed through assignments, attributes, tuples, calls and returns.

Demand-driven and flow-insensitive: `values(expr)` asks where the expression's value can come from, through
the project's own functions, classes and modules. A value is a place of creation, so two models never get
mixed up by their names, and renaming a variable changes nothing. What cannot be followed is `unknown`.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from hvdkit.migrate.values.arguments import default, is_property, passed
from hvdkit.migrate.values.binding_order import reaching
from hvdkit.migrate.values.callers import Callers
from hvdkit.migrate.values.calls import Calls
from hvdkit.migrate.values.containers import Containers
from hvdkit.migrate.values.handed_out import innermost_variable
from hvdkit.migrate.values.memo import Memo
from hvdkit.migrate.values.overrides import Overrides, is_parent
from hvdkit.migrate.values.stores import Stores
from hvdkit.migrate.values.value import CallSite, Value
from hvdkit.migrate.values.wrappers import is_wrapper
from hvdkit.source.index.canonical import canonical
from hvdkit.source.index.indexing import index
from hvdkit.source.index.names import FUNCTIONS, Binding, FunctionNode, Names, Scope
from hvdkit.source.project.files import Project
from hvdkit.source.read.source import Source

MAX_NAME = 12  # steps followed into what a library gives: `node = node.next` has no end
MAX_VAGUE = 100  # results of calls of nothing known, and parts of results, told apart in one answer


class _Variable(NamedTuple):
    """A variable with those of its bindings that can have happened where it is used."""

    names: Names
    owner: Scope | None
    name: str
    bindings: tuple[Binding, ...]


class Flow:
    """The values of a project's expressions, remembered."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._memo: Memo[Value] = Memo(self._shortened)
        self._anything = Value("made", "?", ast.Pass(), index(Source(Path(), "", "utf-8", ast.parse(""), [])))
        self._callers = Callers(self, self._memo)
        self._stores = Stores(self, self._memo)
        self._containers = Containers(self, self._stores)
        self._calls = Calls(self, self._containers, self._memo)
        self._overrides = Overrides(self, self._memo)
        self._names: set[str] = set()
        self._read = 0
        self._own: dict[tuple[Names, str], bool] = {}
        self._lineages: dict[ast.AST, list[tuple[Names, ast.ClassDef]]] = {}
        self._variables: dict[_Variable, _Variable] = {}  # each once, so that its id says which it is
        self._seen_from: dict[tuple[str, ast.AST], _Variable] = {}

    # --- questions -----------------------------------------------------------------------------

    def values(self, names: Names, node: ast.AST | None) -> frozenset[Value]:
        """Everything that an expression may be, as far as it can be followed."""
        if node is None:
            return frozenset()
        names.count(node)
        if isinstance(node, ast.Name):
            return self.named(names, node.id, node)
        return self._memo.ask(node, self._expression, names, node)

    def named(self, names: Names, name: str, at: ast.AST) -> frozenset[Value]:
        """Everything that a variable, seen from a node, may be."""
        variable = self._seen_from.get((name, at))
        if variable is None:
            seen = _Variable(names, names.scope(at).owner(name), name, reaching(names, name, at))
            variable = self._seen_from[name, at] = self._variables.setdefault(seen, seen)
        return self._memo.ask(id(variable), self._name, variable)

    def made(self, names: Names, node: ast.AST | None) -> set[str]:
        """Qualified names of the library calls that may have made an expression's value."""
        return {value.name for value in self.values(names, node) if value.kind == "made"}

    def qualified(self, names: Names, node: ast.AST) -> frozenset[str]:
        """Qualified names of an expression, through the project's own modules too."""
        direct = names.qualified(node)
        if direct and not any(name.startswith(".") for name in direct):
            if not any(self.is_own(names, name.partition(".")[0]) for name in direct):
                return frozenset(direct)
        return frozenset(value.name for value in self.values(names, node) if value.kind == "name")

    def is_own(self, names: Names, top: str) -> bool:
        """Whether a module that a file imports is the project's own."""
        if (names, top) not in self._own:
            self._own[names, top] = self.project.find(top, names.source.path) is not None
        return self._own[names, top]

    def functions(self, names: Names, call: ast.Call) -> list[tuple[Names, FunctionNode]]:
        """The project's functions that a call may run; calling an instance runs its forward or __call__."""
        if isinstance(call.func, ast.Attribute) and call.func.attr not in self._bound():
            return []  # a library's method: nothing of that name is defined or stored here
        return [function for value in self.values(names, call.func) for function in self.run_by(value)]

    def run_by(self, value: Value) -> list[tuple[Names, FunctionNode]]:
        """The project's functions that calling a value runs: its own, its class's __init__ or __call__."""
        if value.kind == "function" and isinstance(value.node, FUNCTIONS):
            return [(value.names, value.node)]
        if value.kind == "class":
            return self.methods(value, "__init__")
        if value.kind == "object":
            return self.methods(value, "__call__") or self.methods(value, "forward")
        return []

    def _bound(self) -> set[str]:
        """The names that the project binds or stores; a wrapper's .module is its model."""
        files = self.project.files
        if len(files) != self._read:  # following a name may load a file
            self._read = len(files)
            self._names = {"module"}.union(*(names.bound for names in files.values()))
        return self._names

    def call_sites(self, names: Names, function: FunctionNode) -> list[CallSite]:
        """The calls in the project that may run a function."""
        return self._callers.of(names, function)

    def stored(self, names: Names, node: ast.Attribute) -> list[tuple[Names, Binding]]:
        """The assignments `x.attribute = value` in the project that an attribute may read."""
        return self.stored_under(node.attr, self.values(names, node.value))

    def stored_under(self, key: str, holders: Iterable[Value]) -> list[tuple[Names, Binding]]:
        """The assignments to an attribute, or to an entry `["key"]`, of what may be one of some values."""
        return self._stores.bindings(key, holders)

    # --- the walk ------------------------------------------------------------------------------

    def _expression(self, names: Names, node: ast.AST) -> frozenset[Value]:
        if isinstance(node, ast.Attribute):
            return self.attribute(names, node.value, node.attr)
        if isinstance(node, ast.Call):
            return self._calls.of(names, node)
        if isinstance(node, ast.IfExp):
            return self.values(names, node.body) | self.values(names, node.orelse)
        if isinstance(node, ast.BoolOp):
            return frozenset().union(*(self.values(names, value) for value in node.values))
        if isinstance(node, ast.NamedExpr):
            return self.values(names, node.value)
        if isinstance(node, (ast.Await, ast.Starred)):
            return self.values(names, node.value)
        if isinstance(node, ast.Subscript):
            return self._containers.subscript(names, node)
        if isinstance(node, ast.Lambda):
            return frozenset([Value("function", "<lambda>", node, names)])
        if isinstance(node, (ast.Tuple, ast.List, ast.Dict, ast.Set, ast.Constant)):
            return frozenset([Value("literal", type(node).__name__, node, names)])
        if isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)):
            return frozenset([Value("literal", "List", node, names)])
        return frozenset()

    def _name(self, variable: _Variable) -> frozenset[Value]:
        names, owner, name, bindings = variable
        if not bindings:
            return self._starred(names, name)
        found = frozenset().union(*(self.bound(names, binding) for binding in bindings))
        if owner is names.module:  # which `module.name = value` in another file may set
            module = Value("module", "", names.source.tree, names)
            found |= self._stores.values(name, [module])
        return found

    def _shortened(self, values: frozenset[Value]) -> frozenset[Value]:
        """Values, those that say nothing as one where they are too many: a large library's tensors."""
        if self._anything not in values and len(values) <= MAX_VAGUE:
            return values
        vague = {value for value in values if value.kind == "made" and _is_vague(value.name)}
        if self._anything not in vague and len(vague) <= MAX_VAGUE:
            return values
        return values - vague | {self._anything}

    def _starred(self, names: Names, name: str) -> frozenset[Value]:
        """A name that `from x import *` may bring: of the project's own modules, else of any library's."""
        found: set[Value] = set()
        libraries: set[Value] = set()
        for star in names.stars if not hasattr(builtins, name) else ():
            module = self.project.module(star, names.source.path)
            if module is not None and module is not names:
                found |= self._member(module, name)
            elif module is None and not star.startswith("."):
                libraries.add(Value("name", canonical(f"{star}.{name}"), names.source.tree, names))
        return frozenset(found or libraries)

    def bound(self, names: Names, binding: Binding) -> frozenset[Value]:
        """Everything that a variable may be by one of its bindings."""
        if binding.kind == "import":
            return self._imported(names, binding)
        if binding.kind == "assign":
            return self._containers.unpack(names, self.values(names, binding.value), binding.path)
        if binding.kind == "each":
            found = self._containers.each(self.values(names, binding.value), binding.path)
            return found | self._containers.each_keyword(names, binding)
        if binding.kind == "with":
            return self.values(names, binding.value)
        if binding.kind == "def":
            return frozenset([Value("function", getattr(binding.node, "name", ""), binding.node, names)])
        if binding.kind == "class":
            return frozenset([Value("class", getattr(binding.node, "name", ""), binding.node, names)])
        parameter = binding.node
        if binding.kind == "param" and isinstance(parameter, ast.arg):
            return self._memo.ask(parameter, self._parameter, names, parameter)
        return frozenset()

    def _imported(self, names: Names, binding: Binding) -> frozenset[Value]:
        name = binding.qualified
        path = names.source.path
        module = self.project.module(name, path)
        head, _, member = name.rpartition(".")
        if name.startswith(".") and not head.strip("."):
            head = "." * (len(name) - len(name.lstrip(".")))
        parent = self.project.module(head, path) if head else None
        # In Unet/train.py `from Unet import Unet` is a name in Unet/Unet.py, not that file in a package Unet;
        # where core/__init__.py has `from .launch import launch`, `from core import launch` is that function.
        given = parent is not None and parent is not names and bool(parent.module.names.get(member))
        if module is not None and module is not parent and not given:
            return frozenset([Value("module", name, module.source.tree, module)])
        if parent is not None and parent is not names:
            return self._member(parent, member)
        if name.startswith("."):
            return frozenset()
        return frozenset([Value("name", canonical(name), binding.node, names)])

    def _member(self, module: Names, name: str) -> frozenset[Value]:
        """A module-level name of a project file."""
        return self._memo.ask((module, name), self._in_module, module, name)

    def _in_module(self, module: Names, name: str) -> frozenset[Value]:
        bindings = module.module.names.get(name)
        if bindings:
            return frozenset().union(*(self.bound(module, binding) for binding in bindings))
        return self._starred(module, name)

    def attribute(self, names: Names, holder: ast.expr, attribute: str) -> frozenset[Value]:
        found: set[Value] = set()
        bases = self.values(names, holder)
        for base in bases:
            if base.kind == "module":
                found |= self._member(base.names, attribute)
                if not base.names.module.names.get(attribute) and not attribute.startswith("_"):
                    below = self.project.module(f"{base.name}.{attribute}", names.source.path)
                    if below is not None:
                        found.add(Value("module", f"{base.name}.{attribute}", below.source.tree, below))
            elif base.kind == "name" and base.name.count(".") < MAX_NAME:
                whole = f"{base.name}.{attribute}"
                # `import data.scans`, where the folder data has no __init__.py, and is no module itself.
                inside = self.project.module(whole, names.source.path) if whole in names.modules else None
                if inside is not None:
                    found.add(Value("module", whole, inside.source.tree, inside))
                else:
                    found.add(Value("name", canonical(whole), base.node, base.names))
            elif base.kind in ("object", "class"):
                own = self.methods(base, attribute)
                others = [] if is_parent(holder) else self._overrides.of(base, attribute, own)
                for where, method in (*own, *others):
                    if base.kind == "object" and is_property(method):
                        for result in where.returns.get(method, ()):
                            found |= self.values(where, result)
                    else:
                        found.add(Value("function", attribute, method, where))
                for where, owner in self.classes(base):
                    for binding in where.scopes[owner].names.get(attribute, ()):
                        if binding.kind == "assign":
                            found |= self.bound(where, binding)
            elif base.kind == "made" and attribute == "module" and is_wrapper(base.name):
                found |= self.inner(base)
            elif attribute in (places := self._calls.places.get(base.node, ())):
                found |= self._containers.unpack(names, frozenset([base]), (places.index(attribute),))
        return frozenset(found | self._stores.values(attribute, bases))

    def _parameter(self, names: Names, arg: ast.arg) -> frozenset[Value]:
        holder = names.parents[names.parents[arg]]
        if not isinstance(holder, FUNCTIONS):
            return frozenset()
        owner = names.parents.get(holder)
        order = [item.arg for item in (*holder.args.posonlyargs, *holder.args.args)]
        decorators = {getattr(item, "id", "") for item in getattr(holder, "decorator_list", ())}
        if isinstance(owner, ast.ClassDef) and order[:1] == [arg.arg] and "staticmethod" not in decorators:
            kind = "class" if "classmethod" in decorators else "object"
            return frozenset([Value(kind, owner.name, owner, names)])
        found: set[Value] = set()
        sites = self.call_sites(names, holder)
        for where, call in sites:
            given = passed(names, holder, where, call, arg.arg)
            if given is not None:
                found |= self.values(where, given)
        unless_given = default(holder, arg)
        if unless_given is not None and not isinstance(unless_given, ast.Constant):
            found |= self.values(names, unless_given)
        if sites:
            return frozenset(found)
        unknown = Value("param", arg.arg, arg, names)
        return self._memo.otherwise(frozenset(), lambda: frozenset([unknown])) | found

    def classes(self, value: Value) -> list[tuple[Names, ast.ClassDef]]:
        """The class of a value and its project base classes."""
        return self._memo.remembered(self._lineages, value.node, partial(self._lineage, value))

    def _lineage(self, value: Value) -> list[tuple[Names, ast.ClassDef]]:
        found: list[tuple[Names, ast.ClassDef]] = []
        waiting = [(value.names, value.node)]
        while waiting:
            where, node = waiting.pop()
            if not isinstance(node, ast.ClassDef) or any(node is seen for _, seen in found):
                continue
            found.append((where, node))
            for base in node.bases:
                waiting.extend((v.names, v.node) for v in self.values(where, base) if v.kind == "class")
        return found

    def methods(self, value: Value, name: str) -> list[tuple[Names, FunctionNode]]:
        """The method of a project class (or of an instance) by name, inherited ones too."""
        for where, owner in self.classes(value):
            for binding in where.scopes[owner].names.get(name, ()):
                if binding.kind == "def" and isinstance(binding.node, FUNCTIONS):
                    return [(where, binding.node)]
        return []

    def bases(self, value: Value) -> set[str]:
        """Qualified names of the library classes that a project class (or an instance) derives from."""
        found: set[str] = set()
        for where, owner in self.classes(value):
            for base in owner.bases:
                found |= {v.name for v in self.values(where, base) if v.kind == "name"}
        return found

    def inner(self, value: Value) -> frozenset[Value]:
        """What a wrapping call (DDP, DataParallel, compile ...) was given, wrappers inside removed too."""
        call = value.node
        if not isinstance(call, ast.Call):
            return frozenset()
        first = (
            call.args[0]
            if call.args
            else next((k.value for k in call.keywords if k.arg in ("module", "optimizer")), None)
        )
        return self.unwrap(self.values(*self._in_call(value, first)))

    def _in_call(self, value: Value, wrapped: ast.expr | None) -> tuple[Names, ast.expr | None]:
        """What a wrap is around: for the wrap of one call, the argument that the call gives."""
        function, root = value.names.function(value.node), innermost_variable(value.names, wrapped)
        if value.call is None or function is None or root is None:
            return value.names, wrapped
        return value.call[0], passed(value.names, function, *value.call, root.id)

    def unwrap(self, values: Iterable[Value]) -> frozenset[Value]:
        """Values with every wrapper replaced by what it wraps."""

        found: set[Value] = set()
        for value in values:
            if value.kind == "made" and is_wrapper(value.name):
                found |= self._memo.ask(("inner", value), self.inner, value)
            else:
                found.add(value)
        return frozenset(found)


def _is_vague(name: str) -> bool:
    return name.startswith("?") or name.endswith("]")
