"""What `x.key = value` and `x["key"] = value` leave behind, found again by what x is.

Every store of a key is asked once which objects it may be on. Two instances of one class count as the same
thing, and so do those of a class and of one that inherits from it; those of two classes that inherit from a
third do not.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable
from typing import Union

from hvdkit.migrate.values.flow_questions import Asking
from hvdkit.migrate.values.memo import Memo
from hvdkit.migrate.values.value import Value
from hvdkit.source.index.names import Binding, Names

# A value; the class of an object; or a class and all that inherit from it.
Thing = Union[Value, ast.AST, tuple[str, ast.AST]]

BELOW = "below"


class Stores:
    """Stores by key and by the thing stored into, filled while the flow is asked for them."""

    def __init__(self, flow: Asking, memo: Memo[Value]) -> None:
        self._flow = flow
        self._memo = memo
        self._table: dict[tuple[str, Thing], dict[Binding, Names]] = defaultdict(dict)
        self._keys: set[str] = set()
        self._read = 0

    def values(self, key: str, bases: Iterable[Value]) -> frozenset[Value]:
        """Everything stored under a key in what may be one of the bases."""
        if not self._known(key):
            return frozenset()
        return frozenset().union(*(self._at(key, thing) for thing in self._things(bases)))

    def bindings(self, key: str, bases: Iterable[Value]) -> list[tuple[Names, Binding]]:
        """The stores themselves."""
        if not self._known(key):
            return []
        found: dict[Binding, Names] = {}
        for thing in self._things(bases):
            self._at(key, thing)
            found.update(self._table[key, thing])
        return [(names, binding) for binding, names in found.items()]

    def _known(self, key: str) -> bool:
        files = self._flow.project.files
        if len(files) != self._read:  # following a name may load a file
            self._read = len(files)
            self._keys = set().union(*(names.stores for names in files.values()))
        return key in self._keys

    def _at(self, key: str, thing: Thing) -> frozenset[Value]:
        return self._memo.ask(("stored", key, thing), self._stored, key, thing)

    def _stored(self, key: str, thing: Thing) -> frozenset[Value]:
        self._memo.ask(("stores", key), self._look, key)
        stored = list(self._table[key, thing].items())
        return frozenset().union(*(self._flow.bound(names, binding) for binding, names in stored))

    def _look(self, key: str) -> frozenset[Value]:
        for names in list(self._flow.project.files.values()):  # following a name may load a file
            for target, binding in names.stores.get(key, ()):
                self._memo.ask(("store", binding.node), self._ask_store, key, names, target, binding)
        return frozenset()

    def _ask_store(self, key: str, names: Names, target: ast.expr, binding: Binding) -> frozenset[Value]:
        for thing in self._things(self._flow.values(names, target), stored=True):
            if binding not in self._table[key, thing]:
                self._table[key, thing][binding] = names
                self._memo.grown(("stored", key, thing))
        return frozenset()

    def _things(self, values: Iterable[Value], stored: bool = False) -> set[Thing]:
        """What a store is on; or else what holds the stores that objects may have.

        An object has those on itself as its class or one above it, and those on itself as one below.
        """
        found: set[Thing] = set()
        for value in values:
            if value.kind == "object":
                lineage = [owner for _, owner in self._flow.classes(value)]
                found.update(lineage[:1] if stored else lineage)
                found.update((BELOW, owner) for owner in (lineage if stored else lineage[:1]))
            elif value.kind == "module":
                found.add(value.node)  # under whichever name it is imported
            else:
                found.add(value)
        return found
