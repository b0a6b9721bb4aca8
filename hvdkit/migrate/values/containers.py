"""What stands in tuples, lists and dicts: by position, by key, one by one, and in `**kwargs`."""

from __future__ import annotations

import ast

from hvdkit.migrate.values.arguments import collected, keyword, parameters
from hvdkit.migrate.values.flow_questions import Asking
from hvdkit.migrate.values.stores import Stores
from hvdkit.migrate.values.value import Value
from hvdkit.source.index.names import ANY_KEY, Binding, Names

MAX_INSIDE = 2  # tuples inside tuples told apart: `a, b = f(b, a)` in a loop doubles them with each one

PAIRS = frozenset(("?.parse_known_args",))  # calls of libraries that give a tuple, subscripted at once


class Containers:
    """What the collections of a project hold."""

    def __init__(self, flow: Asking, stores: Stores) -> None:
        self._flow = flow
        self._stores = stores

    def subscript(self, names: Names, node: ast.Subscript) -> frozenset[Value]:
        """What `x[key]` may be."""
        bases = self._flow.values(names, node.value)
        key = node.slice.value if isinstance(node.slice, ast.Constant) else None
        found: set[Value] = set()
        for base in bases:
            if isinstance(base.node, ast.Dict) and base.kind == "literal":
                for item_key, item in zip(base.node.keys, base.node.values):
                    if key is None or (isinstance(item_key, ast.Constant) and item_key.value == key):
                        found |= self._flow.values(base.names, item)
            elif base.kind == "literal" and isinstance(base.node, ast.DictComp):
                found |= self._flow.values(base.names, base.node.value)
            elif base.kind == "literal" and isinstance(key, int):
                found |= self.unpack(names, frozenset([base]), (key,))
            elif base.kind == "literal":
                found |= self.each(frozenset([base]), ())
            elif base.name in PAIRS and isinstance(key, int):
                found |= self.unpack(names, frozenset([base]), (key,))
            elif _is_container(base) and isinstance(base.node, ast.Call):
                for given in base.node.keywords:  # dict(net=net, optimizer=optimizer)
                    if given.arg is not None and key in (None, given.arg):
                        found |= self._flow.values(base.names, given.value)
        # Only what may be a dict or a list: every tensor of a project is subscripted and stored into, too.
        containers = frozenset(base for base in bases if _is_container(base))
        for stored in (f"[{key!r}]", f"[{ANY_KEY!r}]"):
            found |= self._stores.values(stored, containers)
        return frozenset(found | self.entry(names, node.value, node.slice))

    def entry(self, names: Names, collection: ast.expr, key: ast.expr) -> frozenset[Value]:
        """What callers give for an entry of `**kwargs`."""
        function = collected(names, collection)
        if function is None or not isinstance(key, ast.Constant) or not isinstance(key.value, str):
            return frozenset()
        sites = self._flow.call_sites(names, function)
        return frozenset().union(
            *(self._flow.values(where, keyword(call, key.value)) for where, call in sites)
        )

    def each_keyword(self, names: Names, binding: Binding) -> frozenset[Value]:
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
            self._flow.values(where, item.value)
            for where, call in self._flow.call_sites(names, function)
            for item in call.keywords
            if item.arg not in own
        ]
        return frozenset().union(*given)

    def unpack(self, names: Names, values: frozenset[Value], path: tuple[int, ...]) -> frozenset[Value]:
        """What stands in tuples, at a place in each of them: positions, outermost first."""
        for position in path:
            inside: set[Value] = set()
            for value in values:
                elements = getattr(value.node, "elts", None) if value.kind == "literal" else None
                if elements is not None and -len(elements) <= position < len(elements):
                    inside |= self._flow.values(value.names, elements[position])
                elif value.kind == "made" and isinstance(value.node, ast.Call):
                    inside |= self._unpacked_call(value, position)
            values = frozenset(inside)
        return values

    def _unpacked_call(self, value: Value, position: int) -> frozenset[Value]:
        """`model, optimizer = amp.initialize(model, optimizer)` hands its arguments back."""
        call = value.node
        if isinstance(call, ast.Call) and value.name == "apex.amp.initialize" and position < len(call.args):
            return self._flow.values(value.names, call.args[position])
        if value.name.count("[") >= MAX_INSIDE:
            return frozenset([value])
        return frozenset([Value("made", f"{value.name}[{position}]", call, value.names)])

    def each(self, values: frozenset[Value], path: tuple[int, ...]) -> frozenset[Value]:
        """What a loop over collections gives, unpacked."""
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
                found |= self.unpack(value.names, self._flow.values(value.names, element), path)
        return frozenset(found)


def _is_container(value: Value) -> bool:
    """Whether a value is a dict or a list that code may store into by key."""
    node = value.node
    if value.kind == "made" and isinstance(node, ast.Call):
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        return name in ("dict", "list", "OrderedDict", "defaultdict")
    return value.kind == "literal" and isinstance(node, (ast.Dict, ast.List, ast.DictComp, ast.ListComp))
