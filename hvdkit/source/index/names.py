"""What a name means in one file: scopes, bindings, import aliases and qualified names.

Nothing here looks at other files or follows values; see values/flow.py for that. An index is made in
indexing.py.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import field
from functools import cached_property, reduce
from itertools import chain, takewhile
from typing import Any, TypeVar, Union

from hvdkit.dataclass import dataclass
from hvdkit.source.edits import Place, address
from hvdkit.source.index.canonical import canonical
from hvdkit.source.read.room import TooManyQuestions
from hvdkit.source.read.source import Source

FunctionNode = Union[ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda]
N = TypeVar("N", bound=ast.AST)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
LOOPS = (ast.For, ast.AsyncFor, ast.While)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
# How often the values in a file may be asked for, for each of its nodes: programs need up to 11.
MOST_QUESTIONS = 400
MOST_ALIASES = 4  # `a = torch`, `b = a.nn`, ...
SMALL = 1000  # nodes of a file that is taken for no smaller
ANY_KEY = "*"  # a subscript whose key is not written out


@dataclass(eq=False)
class Binding:
    """One place where a name gets a value.

    kind: "import" (qualified), "assign" (value; path when unpacked), "each" (an element of value),
    "with", "param" (node is the ast.arg), "def", "class", "other".
    path: positions to follow into a tuple value, outermost first; a starred target ends it with -1.
    """

    kind: str
    node: ast.AST
    value: ast.expr | None = None
    path: tuple[int, ...] = ()
    qualified: str = ""


@dataclass(eq=False)
class Scope:
    """The module, a class body, a function or a comprehension."""

    node: ast.AST
    parent: Scope | None
    names: dict[str, list[Binding]] = field(default_factory=lambda: defaultdict(list))
    elsewhere: dict[str, str] = field(default_factory=dict)  # name -> "global" or "nonlocal"

    def owner(self, name: str) -> Scope | None:
        """The scope whose binding a use of `name` here means; None for builtins and unknowns."""
        scope: Scope | None = self
        first = True
        while scope is not None:
            where = scope.elsewhere.get(name)
            if where == "global":
                while scope.parent is not None:
                    scope = scope.parent
                return scope if name in scope.names else None
            # A class body's names are not seen from the functions inside it.
            visible = first or not isinstance(scope.node, ast.ClassDef)
            if visible and where is None and name in scope.names:
                return scope
            scope, first = scope.parent, False
        return None


@dataclass(eq=False)
class Names:
    """The index of one file. Node-keyed dicts use identity."""

    source: Source
    module: Scope
    scopes: dict[ast.AST, Scope] = field(default_factory=dict)  # scope node -> scope
    within: dict[ast.AST, Scope] = field(default_factory=dict)  # node -> the scope that evaluates it
    parents: dict[ast.AST, ast.AST] = field(default_factory=dict)
    calls: dict[str, list[ast.Call]] = field(default_factory=lambda: defaultdict(list))
    attributes: dict[str, list[ast.Attribute]] = field(default_factory=lambda: defaultdict(list))
    stores: dict[str, list[tuple[ast.expr, Binding]]] = field(default_factory=lambda: defaultdict(list))
    returns: dict[ast.AST, list[ast.expr]] = field(default_factory=lambda: defaultdict(list))
    uses: dict[str, list[ast.Name]] = field(default_factory=lambda: defaultdict(list))
    texts: dict[str, list[ast.Constant]] = field(default_factory=lambda: defaultdict(list))  # identifiers
    loops: list[ast.For | ast.AsyncFor | ast.While] = field(default_factory=list)
    stars: list[str] = field(default_factory=list)  # modules imported with *
    imports: list[tuple[str, Binding]] = field(default_factory=list)  # in any scope, by the name they bind
    nodes: list[ast.AST] = field(default_factory=list)  # every one, each before what is inside it
    _qualified: dict[ast.AST, tuple[str, ...]] = field(default_factory=dict)
    kinds: dict[type, list[Any]] = field(default_factory=lambda: defaultdict(list))
    _readings: dict[str, list[tuple[ast.expr, str]]] = field(default_factory=dict)
    _calls_in: dict[ast.AST, list[ast.Call]] = field(default_factory=dict)
    _texts: dict[object, int] = field(default_factory=dict)
    asked: int = 0  # how often its values were asked for, in one run

    @cached_property
    def _places(self) -> dict[ast.AST, int]:
        return {node: place for place, node in enumerate(self.nodes)}

    def walk(self, node: ast.AST) -> list[ast.AST]:
        """A node and everything inside it, in the order of the file; also one that hvdkit made up."""
        if node not in self._places:
            return [*ast.walk(node)]
        last = node
        while inside := children(last):
            last = inside[-1]
        return self.nodes[self._places[node] : self._places[last] + 1]

    def of_kind(self, *kinds: type[N]) -> list[N]:
        """Every node of exactly these kinds: kind by kind, each in the order of the file."""
        return [node for kind in kinds for node in self.kinds.get(kind, ())]

    def calls_in(self, node: ast.AST) -> list[ast.Call]:
        """Every call inside a node, itself included."""
        if node not in self._calls_in:
            self._calls_in[node] = [part for part in self.walk(node) if isinstance(part, ast.Call)]
        return self._calls_in[node]

    def same_uses(self, part: ast.Name | ast.Attribute) -> list[ast.expr]:
        """The uses of the same variable, or of an attribute that is written the same way."""
        return self._alike[self._written(part)] if part in self.parents else []

    @cached_property
    def _alike(self) -> dict[object, list[ast.expr]]:
        found: dict[object, list[ast.expr]] = defaultdict(list)
        uses: Iterator[ast.Name | ast.Attribute] = chain(*self.uses.values(), *self.attributes.values())
        for use in uses:
            found[self._written(use)].append(use)
        return found

    def _written(self, part: ast.Name | ast.Attribute) -> object:
        return (self.scope(part).owner(part.id), part.id) if isinstance(part, ast.Name) else self._text(part)

    def _text(self, node: ast.expr) -> object:
        """A number that expressions written the same way share: texts of all links of a chain take long."""
        if node in self._texts:
            return self._texts[node]
        if isinstance(node, ast.Attribute):
            key: object = node.attr, self._text(node.value)
        elif isinstance(node, ast.Call):
            given = [(item.arg, self._text(item.value)) for item in node.keywords]
            key = self._text(node.func), *(self._text(each) for each in node.args), *given
        else:
            key = ast.unparse(node)
        self._texts[node] = self._texts.setdefault(key, len(self._texts))
        return self._texts[node]

    @cached_property
    def bound(self) -> set[str]:
        """Every name that some scope binds, and every attribute that is stored."""
        return {*self.stores, *(name for scope in self.scopes.values() for name in scope.names)}

    @cached_property
    def modules(self) -> set[str]:
        """Every module name that the file may import, `from a import b` giving both a and a.b."""
        found = set(self.stars)
        for _, binding in self.imports:
            found.add(binding.qualified)
            if isinstance(binding.node, ast.alias) and "." in binding.node.name:
                found.add(binding.node.name)  # `import a.b` binds a, and loads a.b
            head = binding.qualified.rpartition(".")[0]
            if head.strip("."):
                found.add(head)
            elif binding.qualified.startswith("."):
                found.add("." * (len(binding.qualified) - len(binding.qualified.lstrip("."))))
        return found

    @cached_property
    def named_calls(self) -> list[tuple[ast.Call, tuple[str, ...]]]:
        """The calls of what is imported, or an alias of it, with the qualified names."""
        every = ((call, self.qualified(call.func)) for call in self.of_kind(ast.Call))
        return [(call, qualified) for call, qualified in every if qualified]

    @cached_property
    def library_calls(self) -> list[ast.Call]:
        """The calls of what may be a library's: of what is imported, and of what an `import *` may bring."""
        if not self.stars:
            return [call for call, _ in self.named_calls]
        return [
            call for call in self.of_kind(ast.Call) if self.qualified(call.func) or self._unbound(call.func)
        ]

    def _unbound(self, node: ast.expr) -> bool:
        """Whether the name that an a.b.c begins with has no value in the file."""
        while isinstance(node, ast.Attribute):
            node = node.value
        return isinstance(node, ast.Name) and not self.bindings(node.id, node)

    @cached_property
    def class_calls(self) -> list[ast.Call]:
        """The calls of what has a class's name: a capital first."""
        return [call for name, calls in self.calls.items() if name[:1].isupper() for call in calls]

    @cached_property
    def variable_calls(self) -> list[ast.Call]:
        """The calls of variables, and of attributes that the file stores."""
        kinds = {"assign", "param", "each", "with"}
        return [
            call
            for name, calls in self.calls.items()
            for call in calls
            if (
                any(binding.kind in kinds for binding in self.bindings(name, call.func))
                if isinstance(call.func, ast.Name)
                else name in self.stores
            )
        ]

    @cached_property
    def _imported(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = defaultdict(set)
        for name, binding in self.imports:
            found[binding.qualified.partition(".")[0]].add(name)
        return found

    def imported(self, top: str) -> set[str]:
        """Names that some scope imports from a package."""
        return self._imported.get(top, set())

    def readings(self, name: str) -> list[tuple[ast.expr, str]]:
        """Every whole a.b.c that is read, a being the name, with what it stands for by the imports."""
        if name not in self._readings:
            uses = (use for use in self.uses.get(name, ()) if isinstance(use.ctx, ast.Load))
            self._readings[name] = [
                (whole, qualified) for whole in map(self._whole, uses) for qualified in self.qualified(whole)
            ]
        return self._readings[name]

    def _whole(self, node: ast.expr) -> ast.expr:
        """The longest a.b.c that begins with a name."""
        while isinstance(parent := self.parents[node], ast.Attribute):
            node = parent
        return node

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes around a node, innermost first."""
        while node in self.parents:
            node = self.parents[node]
            yield node

    def scope(self, node: ast.AST) -> Scope:
        """The scope in which a node is evaluated (decorators, defaults and bases belong outside)."""
        return self.within.get(node, self.module)

    def function(self, node: ast.AST) -> FunctionNode | None:
        """The innermost function around a node."""
        scope: Scope | None = self.scope(node)
        while scope is not None:
            if isinstance(scope.node, FUNCTIONS):
                return scope.node
            scope = scope.parent
        return None

    def class_around(self, node: ast.AST) -> ast.ClassDef | None:
        """The innermost class around a node, in whatever function."""
        return next((parent for parent in self.ancestors(node) if isinstance(parent, ast.ClassDef)), None)

    def at(self, node: ast.AST) -> Place:
        """The address of a node."""
        return Place(self.source.path, self.source.cell_line(getattr(node, "lineno", 1))[0], node)

    def place(self, node: ast.AST) -> str:
        """Where a node is, in the words of the report: `train.py:12`, `train.ipynb:cell 2:3`."""
        cell, line = self.source.cell_line(getattr(node, "lineno", 1))
        return address(self.source.path.name, line, cell)

    def line(self, node: ast.AST) -> str:
        """The line that a node begins in, for a sentence about its own file: `12`, `3 of cell 2`."""
        cell, line = self.source.cell_line(getattr(node, "lineno", 1))
        return f"{line} of cell {cell}" if cell else str(line)

    def in_loop(self, node: ast.AST) -> bool:
        """Whether a loop of the innermost function around a node holds it."""
        function = self.function(node)
        around = takewhile(lambda parent: parent is not function, self.ancestors(node))
        return any(isinstance(parent, LOOPS) for parent in around)

    def statement(self, node: ast.AST) -> ast.stmt:
        """The statement that holds a node."""
        if isinstance(node, ast.stmt):
            return node
        return next(parent for parent in self.ancestors(node) if isinstance(parent, ast.stmt))

    def count(self, node: ast.AST) -> None:
        """Count a question about a value. Raises TooManyQuestions: a search does not end in a useful time."""
        self.asked += 1
        if self.asked > MOST_QUESTIONS * max(len(self.nodes), SMALL):
            raise TooManyQuestions(self.source.path, getattr(node, "lineno", 1))

    def bindings(self, name: str, at: ast.AST) -> list[Binding]:
        """All bindings that a use of `name` at a node may mean."""
        self.count(at)
        owner = self.scope(at).owner(name)
        return owner.names[name] if owner else []

    def qualified(self, node: ast.AST) -> tuple[str, ...]:
        """Qualified names that an expression stands for, by imports and plain aliases; () when it is a value.

        `DDP` after `from torch.nn.parallel import DistributedDataParallel as DDP` is
        ("torch.nn.parallel.DistributedDataParallel",); a try/except import gives both.
        """
        if node not in self._qualified:
            self._qualified[node] = self._qualify(node)
        return self._qualified[node]

    @cached_property
    def _standing_for(self) -> set[str]:
        """Names that some scope imports, or binds to a class or another name."""
        return {
            name
            for scope in self.scopes.values()
            for name, bindings in scope.names.items()
            for binding in bindings
            if binding.kind in ("import", "class") or _is_alias(binding)
        }

    def _qualify(self, node: ast.AST) -> tuple[str, ...]:
        found: dict[str, None] = {}
        seen: set[object] = set()
        level: list[tuple[ast.AST, tuple[str, ...]]] = [(node, ())]
        for _ in range(MOST_ALIASES + 1):
            level = [alias for one in level for alias in self._aliases(*one, seen, found)]
        return tuple(found)

    def _aliases(
        self, node: ast.AST, tails: tuple[str, ...], seen: set[object], found: dict[str, None]
    ) -> Iterator[tuple[ast.AST, tuple[str, ...]]]:
        """What a name is an alias of, each once; what it is imported as is put in found."""
        tail = ""
        while isinstance(node, ast.Attribute):
            tail = f".{node.attr}{tail}"
            node = node.value
        if not isinstance(node, ast.Name) or node.id not in self._standing_for:
            return
        tails = (tail, *tails)
        if (alias := (self.scope(node).owner(node.id), node.id, tails)) in seen:
            return
        seen.add(alias)
        for binding in self.bindings(node.id, node):
            if binding.kind == "import":
                found.setdefault(reduce(lambda name, each: canonical(name + each), tails, binding.qualified))
            elif binding.value is not None and binding.value is not node and _is_alias(binding):
                yield binding.value, tails


def _is_alias(binding: Binding) -> bool:
    """`name = other.name`."""
    plain = binding.kind == "assign" and not binding.path
    return plain and isinstance(binding.value, (ast.Name, ast.Attribute))


# Load, Store, Add ... are shared singletons without a place: they are no one's child.
_SHARED = {"ctx", "op", "ops"}
_TEXTS = {"id", "attr", "arg", "module", "level", "type_comment", "kind", "simple", "is_async", "conversion"}
_LEAVES = {"Constant", "alias", "Global", "Nonlocal", "MatchSingleton"}
# The fields of each kind of node that hold nodes.
INSIDE = {
    kind: tuple(
        name for name in kind._fields if name not in _SHARED | _TEXTS and kind.__name__ not in _LEAVES
    )
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.AST)
}


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes directly inside a node, in the order of the file; operators and contexts are left out."""
    found: list[ast.AST] = []
    for name in INSIDE[type(node)]:
        value = getattr(node, name)
        found += value if type(value) is list else (value,)
    return [item for item in found if isinstance(item, ast.AST)]
