"""What calls give: objects, what a library makes, and what the project's own functions return."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate.values import vocabulary as words
from hvdkit.migrate.values.arguments import attribute_asked, passed
from hvdkit.migrate.values.containers import Containers
from hvdkit.migrate.values.flow_questions import Asking
from hvdkit.migrate.values.handed_out import HandedBack, calls_handed_out, handed_back, made_for_callers
from hvdkit.migrate.values.loader_classes import is_loader
from hvdkit.migrate.values.lookups import module_asked
from hvdkit.migrate.values.memo import Memo
from hvdkit.migrate.values.records import NAMED_TUPLE, fields, record
from hvdkit.migrate.values.value import Value
from hvdkit.migrate.values.wrappers import RETURNS_SELF
from hvdkit.source.index.import_texts import HOLE, module_text
from hvdkit.source.index.names import FUNCTIONS, FunctionNode, Names

PARTIAL = "functools.partial"


class Calls:
    """What the calls of a project give. places: the names of the places in tuples that namedtuples make."""

    def __init__(self, flow: Asking, containers: Containers, memo: Memo[Value]) -> None:
        self._flow = flow
        self._containers = containers
        self._memo = memo
        self.places: dict[ast.AST, tuple[str, ...]] = {}
        self._records: dict[ast.Call, ast.Tuple | None] = {}  # the tuples that calls of their classes make
        self._loaders: dict[ast.AST, bool] = {}
        self._handing: dict[ast.AST, tuple[HandedBack | None, tuple[ast.Call, ...]]] = {}

    def of(self, names: Names, node: ast.Call) -> frozenset[Value]:
        """Everything that a call may give."""
        found: set[Value] = set()
        function = node.func
        asked = attribute_asked(names, node)
        if asked is not None:  # with a default that it may be instead
            found |= self._flow.attribute(names, node.args[0], asked).union(
                *(self._flow.values(names, other) for other in node.args[2:])
            )
        if isinstance(function, ast.Attribute) and function.attr in ("get", "pop") and node.args:
            found |= self._containers.entry(names, function.value, node.args[0])
        if isinstance(function, ast.Attribute) and function.attr in RETURNS_SELF:
            receiver = self._flow.values(names, function.value)
            kept = {value for value in receiver if value.kind in ("made", "object", "param", "literal")}
            if kept:
                return frozenset(kept)
        if isinstance(function, ast.Name) and function.id == "super" and not names.bindings("super", node):
            return self._parents(names, node)
        for name in set(names.qualified(function)) & words.OPTIMIZER_FACTORIES.keys():
            return frozenset([Value("made", name, node, names)])  # another one with each call
        for value in self._flow.values(names, function):
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
                modules = self._imported_by_name(names, node, value)
                found.update(modules or [Value("made", value.name, node, names)])
        label = function.attr if isinstance(function, ast.Attribute) else "?"
        unknown = Value("made", f"?.{label}", node, names)
        return self._memo.otherwise(frozenset(found), lambda: frozenset([unknown]))

    def _record(self, names: Names, node: ast.Call, made_by: ast.AST) -> Iterator[Value]:
        """What a call of a namedtuple's class gives: the same tuple whenever it is asked."""
        if node not in self._records:
            self._records[node] = record(node, fields(made_by))
        made = self._records[node]
        if made is not None:
            self.places[made] = tuple(fields(made_by))
            yield Value("literal", "Tuple", made, names)

    def _sampler(self, names: Names, node: ast.Call, partial: Value) -> Iterator[Value]:
        """The sampler that a call of `partial(DistributedSampler, shuffle=False)` makes."""
        bound = partial.node.args[:1] if isinstance(partial.node, ast.Call) else []
        for value in self._flow.values(partial.names, bound[0]) if bound else ():
            if value.kind == "name" and value.name in words.SAMPLERS:
                yield Value("made", value.name, node, names)

    def _parents(self, names: Names, node: ast.Call) -> frozenset[Value]:
        """What `super()` or `super(Class, self)` is: an object of the project's classes above its own."""
        owner = names.class_around(node)
        of = [(names, owner)] if owner is not None else []
        if node.args:
            given = self._flow.values(names, node.args[0])
            of = [(value.names, value.node) for value in given if isinstance(value.node, ast.ClassDef)]
        above = [value for where, one in of for base in one.bases for value in self._flow.values(where, base)]
        return frozenset(value._replace(kind="object") for value in above if value.kind == "class")

    def _imported_by_name(self, names: Names, node: ast.Call, function: Value) -> list[Value]:
        """The project files that `import_module("run.train")` or `import_module("nets." + name)` gives."""
        if function.name != "importlib.import_module":
            return []
        asked = module_text(names, node)
        found = self._flow.project.asked_for(names, node)
        known = ((module, asked if HOLE not in asked else module.source.path.stem) for module in found)
        return [Value("module", name, module.source.tree, module) for module, name in known]

    def _is_loader(self, value: Value) -> bool:
        if value.node not in self._loaders:
            self._loaders[value.node] = is_loader(self._flow, value.names, value.node)
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
            made = made_for_callers(self._flow, function.names, calls)
            for result in function.names.returns.get(function.node, ()):
                for value in self._flow.values(function.names, result):
                    yield value._replace(call=(names, node)) if value in made else value
            return
        for asked in self._flow.values(names, passed(function.names, function.node, names, node, module)):
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
        values = self._flow.values(names, given)
        yield from values
        if back.bare:
            yield from self._flow.unwrap(values)
        for wrap in back.wraps:
            for value in self._flow.values(function.names, wrap):
                if value.node is wrap:
                    yield value._replace(call=(names, call))
