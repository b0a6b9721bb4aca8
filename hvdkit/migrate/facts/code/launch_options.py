"""Command-line options: which add_argument belongs to which parse_args, and where their values are read.

Only argparse and what behaves like it. What an option means for a launch is launch.py's.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator

from hvdkit.dataclass import dataclass
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.values.arguments import keyword, passed
from hvdkit.migrate.values.value import Value
from hvdkit.source.index.names import Names

PARSED = ("?.parse_args", "?.parse_known_args[0]", "?.parse_intermixed_args")
GROUPS = ("?.add_argument_group", "?.add_mutually_exclusive_group", "?.add_subparsers", "?.add_parser")
LAUNCHED = frozenset(("--local_rank", "--local-rank"))
MAX_CALLERS = 6


@dataclass(frozen=True)
class Option:
    """One add_argument call. dest: the attribute that its value is read from.

    parser: what the option is added to, and the file that says so.
    """

    names: Names
    node: ast.Call
    dest: str
    parser: tuple[Names, ast.expr]

    @property
    def default(self) -> ast.expr | None:
        """The expression given as default."""
        return keyword(self.node, "default")

    @property
    def required(self) -> ast.keyword | None:
        """The `required=True` of the option."""
        given = (item for item in self.node.keywords if item.arg == "required")
        return next((k for k in given if isinstance(k.value, ast.Constant) and k.value.value is True), None)

    @property
    def is_flag(self) -> bool:
        """Whether the option is a yes or no that is no unless it is given."""
        action = keyword(self.node, "action")
        return isinstance(action, ast.Constant) and action.value == "store_true"


@dataclass(frozen=True)
class Holder:
    """A place where a parsed namespace is bound to a variable.

    statement: the one that binds it; with after=False the first one of the function it is a parameter of.
    """

    names: Names
    statement: ast.stmt
    variable: str
    after: bool = True


class Options:
    """All options of a project by the parser they were added to."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._by_dest: dict[str, list[Option]] = defaultdict(list)
        for option in _options(facts):
            self._by_dest[option.dest].append(option)

    def named(self, dest: str) -> list[Option]:
        """Options whose value is read from an attribute of that name."""
        return self._by_dest.get(dest, [])

    def local_rank(self) -> list[Option]:
        """Options that torch.distributed.launch passes, under whatever name they are read."""
        every = [option for options in self._by_dest.values() for option in options]
        return [o for o in every if o.dest == "local_rank" or LAUNCHED & set(flags(o.node))]

    def of(self, names: Names, base: ast.expr, dest: str) -> list[Option]:
        """The options that `base.dest` may read."""
        candidates = self._by_dest.get(dest, [])
        if not candidates:
            return []
        parsers: set[ast.AST] = set()
        for value in self.namespaces(names, base):
            if isinstance(value.node, ast.Call) and isinstance(value.node.func, ast.Attribute):
                parsers |= self._parsers(value.names, value.node.func.value)
        return [option for option in candidates if parsers & self.parsers(option)]

    def parsers(self, option: Option) -> set[ast.AST]:
        """The constructions of the parsers that an option belongs to."""
        return self._parsers(*option.parser)

    def namespaces(self, names: Names, expression: ast.expr) -> set[Value]:
        """The parse_args calls that a value may come from, unpacked into another object or not."""
        values = set(self._facts.flow.values(names, expression))
        for value in list(values):
            for where, given in self._unpacked(value):
                values |= self._facts.flow.values(where, given)
        return {value for value in values if value.name in PARSED}

    def _unpacked(self, value: Value) -> Iterator[tuple[Names, ast.expr]]:
        """The namespaces whose entries an object is made of: `Config(**vars(args))`."""
        calls = [(value.names, value.node)] if isinstance(value.node, ast.Call) else []
        if isinstance(value.node, ast.ClassDef) and value.kind == "object":
            calls = [(where, call) for where in self._facts.files for call in where.calls.get(value.name, ())]
        for where, call in calls:
            for item in call.keywords:
                given = item.value if item.arg is None else None
                if isinstance(given, ast.Call) and getattr(given.func, "id", "") == "vars" and given.args:
                    yield where, given.args[0]
                elif isinstance(given, ast.Attribute) and given.attr == "__dict__":
                    yield where, given.value

    def holders(self, option: Option) -> list[Holder]:
        """Where the namespaces that carry an option are bound, each in the first function that does it."""
        mine = self.parsers(option)
        found: list[Holder] = []
        for names in self._facts.files:
            for method in ("parse_args", "parse_known_args", "parse_intermixed_args"):
                for call in names.calls.get(method, ()):
                    if isinstance(call.func, ast.Attribute) and self._parsers(names, call.func.value) & mine:
                        found += self._held(names, call, method == "parse_known_args", 0)
        return list(dict.fromkeys(found))

    def _held(self, names: Names, call: ast.expr, first: bool, depth: int) -> Iterator[Holder]:
        """The variable a call's result goes to, through the functions that return it."""
        parent = names.parents.get(call)
        if first and isinstance(parent, ast.Subscript) and ast.unparse(parent.slice) == "0":
            call, parent, first = parent, names.parents.get(parent), False
        if isinstance(parent, ast.Assign) and len(parent.targets) == 1:
            target = parent.targets[0]
            if first and isinstance(target, ast.Tuple):
                target = target.elts[0]
            if isinstance(target, (ast.Name, ast.Attribute)):
                yield Holder(names, parent, names.source.segment(target))
            return
        function = names.function(call)
        if isinstance(parent, ast.Return) and function is not None and depth < MAX_CALLERS:
            for where, site in self._facts.flow.call_sites(names, function):
                yield from self._held(where, site, False, depth + 1)
        elif isinstance(parent, ast.Call) and (made := _made_of(names, parent)) is not None:
            if not any(_is_frozen(value) for value in self._facts.flow.values(names, made)):
                yield from self._held(names, made, False, depth)
        elif isinstance(parent, ast.Call) and call in parent.args:
            for where, callee in self._facts.flow.functions(names, parent):
                for arg in callee.args.args:
                    if passed(where, callee, names, parent, arg.arg) is call and isinstance(
                        callee.body, list
                    ):
                        yield Holder(where, callee.body[0], arg.arg, after=False)

    def _parsers(self, names: Names, expression: ast.expr, depth: int = 0) -> set[ast.AST]:
        found: set[ast.AST] = set()
        for value in self._facts.flow.values(names, expression):
            call = value.node
            if value.name in GROUPS and isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
                if depth < MAX_CALLERS:
                    found |= self._parsers(value.names, call.func.value, depth + 1)
            elif value.kind in ("made", "object", "param"):
                found.add(call)
                parents = keyword(call, "parents") if isinstance(call, ast.Call) else None
                if isinstance(parents, (ast.List, ast.Tuple)) and depth < MAX_CALLERS:
                    for parent in parents.elts:
                        found |= self._parsers(value.names, parent, depth + 1)
        return found

    def reads(self, option: Option) -> Iterator[tuple[Names, ast.Attribute]]:
        """Every `namespace.dest` in the project that may read an option."""
        for names in self._facts.files:
            for node in names.attributes.get(option.dest, ()):
                if isinstance(node.ctx, ast.Load) and option in self.of(names, node.value, option.dest):
                    yield names, node

    def read_as_items(self, option: Option) -> bool:
        """Whether a namespace with an option becomes a dictionary, `vars(args)`, that is asked for it."""
        if not any(_is_key(n, text) for n in self._facts.files for text in n.texts.get(option.dest, ())):
            return False
        mine = self.parsers(option)
        return any(
            isinstance(value.node, ast.Call)
            and isinstance(value.node.func, ast.Attribute)
            and bool(self._parsers(value.names, value.node.func.value) & mine)
            for names in self._facts.files
            for call in names.calls.get("vars", ())
            for value in (self.namespaces(names, call.args[0]) if call.args else ())
        )


def _options(facts: Facts) -> Iterator[Option]:
    """Every option, also by `add = parser.add_argument`, and by a function that hands its arguments on."""
    for names in facts.files:
        for method in names.attributes.get("add_argument", ()):
            for where, call in _calls_of(facts, names, method):
                dest = destination(call)
                if dest:
                    yield Option(where, call, dest, (names, method.value))


def _calls_of(facts: Facts, names: Names, method: ast.Attribute) -> Iterator[tuple[Names, ast.Call]]:
    """The calls that a parser's method gets its arguments by."""
    parent = names.parents[method]
    if isinstance(parent, ast.Call) and parent.func is method:
        function = names.function(parent)
        if parent.args and isinstance(parent.args[0], ast.Starred) and function is not None:
            yield from facts.flow.call_sites(names, function)
        else:
            yield names, parent
        return
    if isinstance(parent, ast.Call) and "functools.partial" in names.qualified(parent.func):
        parent = names.parents[parent]
    target = parent.targets[0] if isinstance(parent, ast.Assign) else None
    if not isinstance(target, ast.Name):
        return
    for use in names.uses.get(target.id, ()):
        call = names.parents[use]
        if isinstance(call, ast.Call) and call.func is use and names.scope(use) is names.scope(target):
            yield names, call


def _made_of(names: Names, unpacked: ast.Call) -> ast.Call | None:
    """The object that is made of `vars(args)`: `Config(**vars(args))`."""
    around = names.parents[unpacked]
    made = names.parents[around] if isinstance(around, ast.keyword) and around.arg is None else None
    is_vars = getattr(unpacked.func, "id", "") == "vars" and len(unpacked.args) == 1
    return made if is_vars and isinstance(made, ast.Call) else None


def _is_frozen(value: Value) -> bool:
    """Whether the attributes of a class's objects cannot be set: a dataclass with `frozen=True`."""
    return any(
        isinstance(decorator, ast.Call)
        and any(item.arg == "frozen" and getattr(item.value, "value", False) for item in decorator.keywords)
        for decorator in getattr(value.node, "decorator_list", ())
    )


def _is_key(names: Names, text: ast.Constant) -> bool:
    """Whether a text asks for an item: `args["local_rank"]`, `args.get("local_rank")`."""
    parent = names.parents[text]
    called = getattr(parent.func, "attr", "") if isinstance(parent, ast.Call) else ""
    return isinstance(parent, ast.Subscript) or called in ("get", "pop")


def destination(call: ast.Call) -> str:
    """The attribute name that argparse gives an option; "" when it cannot be read from the call."""
    given = keyword(call, "dest")
    if isinstance(given, ast.Constant) and isinstance(given.value, str):
        return given.value
    every = flags(call)
    long = [flag for flag in every if flag.startswith("--")]
    chosen = (long or every or [""])[0]
    return chosen.lstrip("-").replace("-", "_")


def flags(call: ast.Call) -> list[str]:
    """The option strings of an add_argument call."""
    return [a.value for a in call.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
