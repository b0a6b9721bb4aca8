"""What each expression may be: values followed through assignments, attributes, tuples, calls and returns.

Demand-driven and flow-insensitive: `values(expr)` asks where the expression's value can come from, through
the project's own functions, classes and modules. A value is a place of creation, so two models never get
mixed up by their names, and renaming a variable changes nothing. What cannot be followed is `unknown`.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from hvdkit.migrate.canonical import canonical
from hvdkit.migrate.facts import vocabulary as words
from hvdkit.migrate.facts.data.loader_classes import is_loader
from hvdkit.migrate.facts.values.arguments import (
    attribute_asked,
    collected,
    default,
    is_property,
    keyword,
    parameters,
    passed,
)
from hvdkit.migrate.facts.values.callers import Callers, CallSite
from hvdkit.migrate.facts.values.handed_out import (
    HandedBack,
    calls_handed_out,
    handed_back,
    made_for_callers,
    whole,
)
from hvdkit.migrate.facts.values.lookups import module_asked
from hvdkit.migrate.facts.values.memo import Memo
from hvdkit.migrate.facts.values.order import reaching
from hvdkit.migrate.facts.values.overrides import Overrides, is_parent
from hvdkit.migrate.facts.values.records import NAMED_TUPLE, fields, record
from hvdkit.migrate.facts.values.stores import Stores
from hvdkit.migrate.facts.values.wrappers import RETURNS_SELF, is_wrapper
from hvdkit.migrate.import_texts import module_text
from hvdkit.migrate.names import ANY_KEY, FUNCTIONS, Binding, FunctionNode, Names, Scope, index
from hvdkit.migrate.project import Project
from hvdkit.migrate.source import Source

PARTIAL = "functools.partial"
MAX_NAME = 12  # steps followed into what a library gives: `node = node.next` has no end
MAX_VAGUE = 100  # results of calls of nothing known, and parts of results, told apart in one answer
MAX_INSIDE = 2  # tuples inside tuples told apart: `a, b = f(b, a)` in a loop doubles them with each one


class Value(NamedTuple):
    """One thing that an expression may be. Nodes are compared by identity.

    kind: "name" (a library's object, by qualified name), "made" (what a call of `name` gave),
    "function", "class", "module" (the project's own), "object" (an instance of node, a ClassDef),
    "literal" (a tuple, list, dict or constant in the source), "param" (a parameter no call was found for).
    call: what a function of the project makes, or wraps, for its callers: the call that this one is for.
    """

    kind: str
    name: str
    node: ast.AST
    names: Names
    call: CallSite | None = None

    @property
    def is_none(self) -> bool:
        return isinstance(self.node, ast.Constant) and self.node.value is None

    @property
    def unknown(self) -> bool:
        """Whether nothing is known of it: a parameter without a call, or what the source does not name."""
        return self.kind == "param" or self.name.startswith("?")


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
        self._overrides = Overrides(self)
        self._names: set[str] = set()
        self._read = 0
        self._own: dict[tuple[Names, str], bool] = {}
        self._loaders: dict[ast.AST, bool] = {}
        self._handing: dict[ast.AST, tuple[HandedBack | None, tuple[ast.Call, ...]]] = {}
        # The tuples that calls of namedtuples' classes make, and the names of their places.
        self._records: dict[ast.Call, ast.Tuple | None] = {}
        self._places: dict[ast.AST, tuple[str, ...]] = {}
        self._variables: dict[_Variable, _Variable] = {}  # each once, so that its id says which it is
        self._seen_from: dict[tuple[str, ast.AST], _Variable] = {}

    # --- questions -----------------------------------------------------------------------------

    def values(self, names: Names, node: ast.AST | None) -> frozenset[Value]:
        """Everything that an expression may be, as far as it can be followed."""
        if node is None:
            return frozenset()
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
            return self._attribute(names, node.value, node.attr)
        if isinstance(node, ast.Call):
            return self._call(names, node)
        if isinstance(node, ast.IfExp):
            return self.values(names, node.body) | self.values(names, node.orelse)
        if isinstance(node, ast.BoolOp):
            return frozenset().union(*(self.values(names, value) for value in node.values))
        if isinstance(node, ast.NamedExpr):
            return self.values(names, node.value)
        if isinstance(node, (ast.Await, ast.Starred)):
            return self.values(names, node.value)
        if isinstance(node, ast.Subscript):
            return self._subscript(names, node)
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
            return self._unpack(names, self.values(names, binding.value), binding.path)
        if binding.kind == "each":
            found = self._each(self.values(names, binding.value), binding.path)
            return found | self._each_keyword(names, binding)
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

    def _attribute(self, names: Names, holder: ast.expr, attribute: str) -> frozenset[Value]:
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
            elif attribute in (places := self._places.get(base.node, ())):
                found |= self._unpack(names, frozenset([base]), (places.index(attribute),))
        return frozenset(found | self._stores.values(attribute, bases))

    def _call(self, names: Names, node: ast.Call) -> frozenset[Value]:
        found: set[Value] = set()
        function = node.func
        asked = attribute_asked(names, node)
        if asked is not None:  # with a default that it may be instead
            found |= self._attribute(names, node.args[0], asked).union(
                *(self.values(names, other) for other in node.args[2:])
            )
        if isinstance(function, ast.Attribute) and function.attr in ("get", "pop") and node.args:
            found |= self._keyword(names, function.value, node.args[0])
        if isinstance(function, ast.Attribute) and function.attr in RETURNS_SELF:
            receiver = self.values(names, function.value)
            kept = {value for value in receiver if value.kind in ("made", "object", "param", "literal")}
            if kept:
                return frozenset(kept)
        if isinstance(function, ast.Name) and function.id == "super" and not names.bindings("super", node):
            return self._parents(names, node)
        for name in set(names.qualified(function)) & words.OPTIMIZER_FACTORIES.keys():
            return frozenset([Value("made", name, node, names)])  # another one with each call
        for value in self.values(names, function):
            if value.kind == "function":
                found.update(self._returned(names, node, value))
            elif value.kind == "class" and self._is_loader(value):
                found.add(Value("made", words.LOADER, node, names))
            elif value.kind == "class":
                found.add(Value("object", value.name, value.node, value.names))
            elif value.kind == "made" and value.name == NAMED_TUPLE:
                found.update(self._record(names, node, value.node))
            elif value.kind == "made" and value.name == PARTIAL:
                found.update(self._sampler(names, node, value))
            elif value.kind == "name":
                module = self._imported_by_name(names, node, value)
                found.add(module or Value("made", value.name, node, names))
        label = function.attr if isinstance(function, ast.Attribute) else "?"
        unknown = Value("made", f"?.{label}", node, names)
        return self._memo.otherwise(frozenset(found), lambda: frozenset([unknown]))

    def _record(self, names: Names, node: ast.Call, made_by: ast.AST) -> Iterator[Value]:
        """What a call of a namedtuple's class gives: the same tuple whenever it is asked."""
        if node not in self._records:
            self._records[node] = record(node, fields(made_by))
        made = self._records[node]
        if made is not None:
            self._places[made] = tuple(fields(made_by))
            yield Value("literal", "Tuple", made, names)

    def _sampler(self, names: Names, node: ast.Call, partial: Value) -> Iterator[Value]:
        """The sampler that a call of `partial(DistributedSampler, shuffle=False)` makes."""
        bound = partial.node.args[:1] if isinstance(partial.node, ast.Call) else []
        for value in self.values(partial.names, bound[0]) if bound else ():
            if value.kind == "name" and value.name in words.SAMPLERS:
                yield Value("made", value.name, node, names)

    def _parents(self, names: Names, node: ast.Call) -> frozenset[Value]:
        """What `super()` or `super(Class, self)` is: an object of the project's classes above its own."""
        owner = next((p for p in names.ancestors(node) if isinstance(p, ast.ClassDef)), None)
        of = [(names, owner)] if owner is not None else []
        if node.args:
            given = self.values(names, node.args[0])
            of = [(value.names, value.node) for value in given if isinstance(value.node, ast.ClassDef)]
        above = [value for where, one in of for base in one.bases for value in self.values(where, base)]
        return frozenset(value._replace(kind="object") for value in above if value.kind == "class")

    def _imported_by_name(self, names: Names, node: ast.Call, function: Value) -> Value | None:
        """The file of the project that `import_module("train.run")` gives."""
        module = self.project.named(names, node) if function.name == "importlib.import_module" else None
        return Value("module", module_text(names, node), module.source.tree, module) if module else None

    def _is_loader(self, value: Value) -> bool:
        if value.node not in self._loaders:
            self._loaders[value.node] = is_loader(self, value.names, value.node)
        return self._loaders[value.node]

    def _returned(self, names: Names, node: ast.Call, function: Value) -> Iterator[Value]:
        """What a call of a function of the project gives."""
        assert isinstance(function.node, FUNCTIONS)
        module = module_asked(function.names, function.node)
        if module is None:
            back, calls = self._hands_out(function.names, function.node)
            if back is not None:
                given = passed(function.names, function.node, names, node, back.parameter)
                if given is not None:
                    yield from self._handed_back(names, node, given, function, back)
                    return
            made = made_for_callers(self, function.names, calls)
            for result in function.names.returns.get(function.node, ()):
                for value in self.values(function.names, result):
                    yield value._replace(call=(names, node)) if value in made else value
            return
        for asked in self.values(names, passed(function.names, function.node, names, node, module)):
            if asked.kind == "name":
                yield Value("made", f"{asked.name}.?", node, names)  # another one with each call

    def _hands_out(
        self, names: Names, function: FunctionNode
    ) -> tuple[HandedBack | None, tuple[ast.Call, ...]]:
        """What a function gives back of its parameters, and the calls whose results it only returns."""
        if function not in self._handing:
            calls = tuple(calls_handed_out(names, function))
            self._handing[function] = (handed_back(names, function), calls)
        return self._handing[function]

    def _handed_back(
        self, names: Names, call: ast.Call, given: ast.expr, function: Value, back: HandedBack
    ) -> Iterator[Value]:
        """What a call gets back of what it gives to a function."""
        values = self.values(names, given)
        yield from values
        if back.bare:
            yield from self.unwrap(values)
        for wrap in back.wraps:
            for value in self.values(function.names, wrap):
                if value.node is wrap:
                    yield value._replace(call=(names, call))

    def _subscript(self, names: Names, node: ast.Subscript) -> frozenset[Value]:
        bases = self.values(names, node.value)
        key = node.slice.value if isinstance(node.slice, ast.Constant) else None
        found: set[Value] = set()
        for base in bases:
            if isinstance(base.node, ast.Dict) and base.kind == "literal":
                for item_key, item in zip(base.node.keys, base.node.values):
                    if key is None or (isinstance(item_key, ast.Constant) and item_key.value == key):
                        found |= self.values(base.names, item)
            elif base.kind == "literal" and isinstance(base.node, ast.DictComp):
                found |= self.values(base.names, base.node.value)
            elif base.kind == "literal" and isinstance(key, int):
                found |= self._unpack(names, frozenset([base]), (key,))
            elif base.kind == "literal":
                found |= self._each(frozenset([base]), ())
        # Only what may be a dict or a list: every tensor of a project is subscripted and stored into, too.
        containers = frozenset(base for base in bases if _is_container(base))
        for stored in (f"[{key!r}]", f"[{ANY_KEY!r}]"):
            found |= self._stores.values(stored, containers)
        return frozenset(found | self._keyword(names, node.value, node.slice))

    def _keyword(self, names: Names, collection: ast.expr, key: ast.expr) -> frozenset[Value]:
        """What callers give for an entry of `**kwargs`."""
        function = collected(names, collection)
        if function is None or not isinstance(key, ast.Constant) or not isinstance(key.value, str):
            return frozenset()
        sites = self.call_sites(names, function)
        return frozenset().union(*(self.values(where, keyword(call, key.value)) for where, call in sites))

    def _each_keyword(self, names: Names, binding: Binding) -> frozenset[Value]:
        """What callers give by keyword, in a loop over `kwargs.values()`, or over `kwargs.items()`."""
        method = binding.value.func if isinstance(binding.value, ast.Call) else None
        place = {"values": (), "items": (1,)}.get(getattr(method, "attr", ""))
        if not isinstance(method, ast.Attribute) or place != binding.path:
            return frozenset()
        function = collected(names, method.value)
        if function is None:
            return frozenset()
        own = parameters(function)
        given = [
            self.values(where, item.value)
            for where, call in self.call_sites(names, function)
            for item in call.keywords
            if item.arg not in own
        ]
        return frozenset().union(*given)

    def _unpack(self, names: Names, values: frozenset[Value], path: tuple[int, ...]) -> frozenset[Value]:
        for position in path:
            inside: set[Value] = set()
            for value in values:
                elements = getattr(value.node, "elts", None) if value.kind == "literal" else None
                if elements is not None and -len(elements) <= position < len(elements):
                    inside |= self.values(value.names, elements[position])
                elif value.kind == "made" and isinstance(value.node, ast.Call):
                    inside |= self._unpacked_call(value, position)
            values = frozenset(inside)
        return values

    def _unpacked_call(self, value: Value, position: int) -> frozenset[Value]:
        """`model, optimizer = amp.initialize(model, optimizer)` hands its arguments back."""
        call = value.node
        if isinstance(call, ast.Call) and value.name == "apex.amp.initialize" and position < len(call.args):
            return self.values(value.names, call.args[position])
        if value.name.count("[") >= MAX_INSIDE:
            return frozenset([value])
        return frozenset([Value("made", f"{value.name}[{position}]", call, value.names)])

    def _each(self, values: frozenset[Value], path: tuple[int, ...]) -> frozenset[Value]:
        found: set[Value] = set()
        for value in values:
            if value.kind != "literal":
                continue
            node = value.node
            elements: list[ast.expr] = []
            if isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp)):
                elements = [node.elt]
            elif isinstance(node, (ast.Tuple, ast.List, ast.Set)):
                elements = node.elts
            for element in elements:
                found |= self._unpack(value.names, self.values(value.names, element), path)
        return frozenset(found)

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
        function, root = value.names.function(value.node), whole(value.names, wrapped)
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


def _is_container(value: Value) -> bool:
    """Whether a value is a dict or a list that code may store into by key."""
    node = value.node
    if value.kind == "made" and isinstance(node, ast.Call):
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        return name in ("dict", "list", "OrderedDict", "defaultdict")
    return value.kind == "literal" and isinstance(node, (ast.Dict, ast.List, ast.DictComp, ast.ListComp))
