"""How a program is started: its process group, its spawned workers, and what ranks are computed from.

The anchors are what init_process_group is given as rank and world_size, and what a spawn is given as number
of processes. From there the definitions are followed backwards, so that `args.rank * ngpus + gpu` is known to
be the rank by where it goes, not by its name.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property

from hvdkit.dataclass import dataclass
from hvdkit.migrate.facts.code.launch_options import Option, Options
from hvdkit.migrate.facts.code.own_dicts import constructed_with, is_dict, unpacked_into
from hvdkit.migrate.facts.facts import Facts, Site
from hvdkit.migrate.facts.launch.ranks import QUESTIONS, constant, environment_reads, launch_tests
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.facts.programs.launched_processes import leads_to_init, processes, repeats
from hvdkit.migrate.facts.programs.programs import programs_of
from hvdkit.migrate.values import vocabulary as words
from hvdkit.migrate.values.arguments import keyword, passed, received, spawned, spawns, starting_calls
from hvdkit.migrate.values.memo import Memo
from hvdkit.source.index.names import FUNCTIONS, Binding, Names

INIT_ARGUMENTS = ("backend", "init_method", "timeout", "world_size", "rank", "store", "group_name")
HVD_FUNCTIONS = ("rank", "size", "local_rank", "local_size", "cross_rank", "cross_size")
MAX_STEPS = 24


@dataclass(frozen=True)
class Spawn:
    """One mp.spawn call. args: what the workers get after their index; count: how many are started."""

    names: Names
    node: ast.Call
    worker: ast.expr
    args: ast.expr | None
    count: ast.expr | None


@dataclass(frozen=True)
class Origin:
    """One definition that a value may come from.

    kind: "expression" (node), "option" (node is the add_argument call), "index" (node is the call that
    starts the process), "augmented" (node is the target of `x *= n`). alias: the variable, with its file,
    that was last assigned to another on the way: `size = ngpus`.
    """

    kind: str
    names: Names
    node: ast.expr
    option: Option | None = None
    alias: tuple[Names, ast.expr] | None = None


class Launch:
    """The launch facts of one project, each computed when it is first asked for."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._memo: Memo[Origin] = Memo()
        self.options = Options(facts)

    @cached_property
    def inits(self) -> list[Site]:
        """Calls of init_process_group in programs that are not Horovod's already."""
        return self._facts.calls(words.INIT)

    @cached_property
    def spawns(self) -> list[Spawn]:
        """Calls of mp.spawn and mp.start_processes."""
        return [
            Spawn(names, call, worker, _given(call, 1, "args"), _given(call, 2, "nprocs"))
            for names in self._facts.files
            for call, worker in starting_calls(names)
            if spawns(names, call)
        ]

    def several_workers(self, names: Names) -> bool:
        """Whether a process of a program that has a file will run one worker after the other."""
        for program in programs_of(self._facts):
            here = [s for s in self.spawns if {s.names, names} <= program.files]
            workers = [s for s in here if leads_to_init(self._facts, s.names, s.worker)]
            if len(workers) > 1 or any(self._runs_again(s.names, s.node, 0) for s in workers):
                return True
        return False

    def _runs_again(self, names: Names, node: ast.AST, depth: int) -> bool:
        """Whether a node stands in a loop, or in a function with several calls, or such a call."""
        function = names.function(node)
        if names.in_loop(node):
            return True
        sites = self._facts.flow.call_sites(names, function) if function is not None else []
        above = (self._runs_again(*site, depth + 1) for site in sites)
        return len(sites) > 1 or (depth < MAX_STEPS and any(above))

    @cached_property
    def meanings(self) -> dict[ast.AST, str]:
        """Definitions (expressions, add_argument calls, `x *= n` targets) -> Horovod's function."""
        found: dict[ast.AST, str] = {}
        for origin in self._anchored("rank"):
            found.setdefault(origin.node, "local_rank" if self._is_device(origin) else "rank")
        for origin in self._anchored("world_size"):
            found.setdefault(origin.node, "size")
        for origin in self._on_one_host:
            found.setdefault(origin.node, "local_size")
        for option in self.options.local_rank():
            found.setdefault(option.node, "local_rank")
        return found

    def _is_device(self, origin: Origin) -> bool:
        """Whether a value that is a rank, too, is the number of the process's GPU."""
        node = origin.node
        return isinstance(node, ast.Call) and "torch.cuda.current_device" in origin.names.qualified(node.func)

    @cached_property
    def definitions(self) -> dict[ast.AST, Origin]:
        """The origins of everything in `meanings`, by node."""
        found: dict[ast.AST, Origin] = {}
        for origin in (*self._anchored("rank"), *self._anchored("world_size")):
            found.setdefault(origin.node, origin)
        for origin in self._on_one_host:
            found.setdefault(origin.node, origin)
        return found

    def rewritten(self) -> Iterator[tuple[Origin, str]]:
        """Definitions that have to become Horovod's functions, with the function.

        What the launcher's variables or torch.distributed already say has rules of its own; a constant such
        as -1, 0 or 1 is what a single process has.
        """
        for node, origin in self.definitions.items():
            if origin.kind == "augmented":
                yield origin, self.meanings[node]
            elif origin.kind == "expression" and node not in self.reads and node not in self.tests:
                value = constant(origin.node)
                asked = isinstance(node, ast.Call) and any(
                    name in QUESTIONS or name.startswith(words.HOROVOD)
                    for name in origin.names.qualified(node.func)
                )
                plain = isinstance(node, ast.Constant) or value is not None
                if not asked and (not plain or (isinstance(value, int) and value > 1)):
                    yield origin, self.meanings[node]

    def _anchored(self, argument: str) -> Iterator[Origin]:
        for site in self.inits:
            expression = init_argument(site.node, argument)
            if expression is not None:
                gone = set(ast.walk(expression))
                for origin in self.origins(site.names, expression):
                    if argument == "world_size" and origin.node in self._counts and origin.alias is not None:
                        # `size = ngpus` on one host: the count stays the host's, the alias is the job's.
                        yield Origin("expression", *origin.alias)
                    elif origin.node not in gone:
                        yield origin
        if argument == "world_size":
            yield from self._same_products()

    @cached_property
    def _counts(self) -> set[ast.AST]:
        return {origin.node for origin in self._on_one_host}

    @cached_property
    def _on_one_host(self) -> list[Origin]:
        """Definitions of how many processes are started on one host: by a spawn, by a loop."""
        counts = [(spawn.names, spawn.count) for spawn in self.spawns if spawn.count is not None]
        by_spawns = [origin for names, count in counts for origin in self.origins(names, count)]
        return [*by_spawns, *self._of_loops]

    @cached_property
    def _of_loops(self) -> list[Origin]:
        """Definitions of how many processes a loop starts, of which a product makes the size of the job."""
        factors = {
            origin.node
            for product in self._products
            for part in (product.node.left, product.node.right)  # type: ignore[attr-defined]
            for origin in self.origins(product.names, part)
        }
        counts = [
            (names, count) for names, call, _ in processes(self._facts) for count in repeats(names, call)
        ]
        every = [origin for names, count in counts for origin in self.origins(names, count)]
        return [origin for origin in every if origin.node in factors]

    @cached_property
    def _products(self) -> list[Origin]:
        """Products that go to init_process_group as the size: hosts times processes on each."""
        sizes = [(site.names, init_argument(site.node, "world_size")) for site in self.inits]
        every = [origin for names, size in sizes if size is not None for origin in self.origins(names, size)]
        return [o for o in every if isinstance(o.node, ast.BinOp) and isinstance(o.node.op, ast.Mult)]

    def _same_products(self) -> Iterator[Origin]:
        """Products of the same options elsewhere: `args.world_size = args.hosts * args.gpus`."""
        wanted = {self._factors(product.names, product.node) for product in self._products} - {None}
        for names in self._facts.files if wanted else ():
            for node in names.of_kind(ast.BinOp):
                if isinstance(node.op, ast.Mult) and self._factors(names, node) in wanted:
                    yield Origin("expression", names, node)

    def _factors(self, names: Names, product: ast.expr) -> frozenset[frozenset[ast.expr]] | None:
        """The options that each factor of a product is read from."""
        assert isinstance(product, ast.BinOp)
        parts = (product.left, product.right)
        if not all(isinstance(part, ast.Attribute) for part in parts):
            return None
        found = [[o.node for o in self.origins(names, part) if o.kind == "option"] for part in parts]
        return frozenset(map(frozenset, found)) if all(found) else None

    @cached_property
    def rank_indices(self) -> set[ast.AST]:
        """The calls that start workers whose index is init_process_group's rank: for one host."""
        return {origin.node for origin in self._anchored("rank") if origin.kind == "index"}

    @cached_property
    def reads(self) -> dict[ast.AST, str]:
        """Reads of the launcher's variables -> Horovod's function."""
        return {read.node: read.function for names in self._facts.files for read in environment_reads(names)}

    @cached_property
    def tests(self) -> dict[ast.AST, bool]:
        """Tests that a launcher is there -> whether they are negated."""
        return {test.node: test.negated for names in self._facts.files for test in launch_tests(names)}

    # --- where a value comes from ----------------------------------------------------------------

    def origins(self, names: Names, node: ast.expr) -> list[Origin]:
        """The definitions that an expression's value may come from, in the order of the source."""
        return sorted(self._from(names, node), key=_position)

    def _from(self, names: Names, node: ast.expr) -> frozenset[Origin]:
        return self._memo.ask(node, lambda: frozenset(self._origins(names, node)))

    def _origins(self, names: Names, node: ast.expr) -> Iterator[Origin]:
        if isinstance(node, ast.Name):
            variable = names.scope(node).owner(node.id), node.id  # asked once for all of its uses
            bound = names.bindings(node.id, node)
            yield from self._memo.ask(
                variable, lambda: frozenset(origin for each in bound for origin in self._binding(names, each))
            )
        elif isinstance(node, ast.Attribute):
            for value in self._facts.flow.values(names, node.value):
                if value.kind == "module":  # `config.RANK`, of a module of the project
                    for binding in value.names.module.names.get(node.attr, ()):
                        yield from self._binding(value.names, binding)
            for where, binding in self._facts.flow.stored(names, node):
                yield from self._binding(where, binding)
            for option in self.options.of(names, node.value, node.attr):
                yield Origin("option", option.names, option.node, option)
            for where, given in constructed_with(self._facts, names, node):
                yield from self._given_from(where, given)
        elif isinstance(node, ast.IfExp):
            yield from self._from(names, node.body)
            yield from self._from(names, node.orelse)
        elif node in self.reads or node in self.tests:
            yield Origin("expression", names, node)
        elif isinstance(node, ast.Call) and self._converted(names, node) is not None:
            yield from self._from(names, node.args[0])
        elif isinstance(node, ast.Call) and self._facts.flow.functions(names, node):
            for where, function in self._facts.flow.functions(names, node):
                for result in where.returns.get(function, ()):
                    yield from self._from(where, result)
        else:
            yield Origin("expression", names, node)

    def _given_from(self, names: Names, given: ast.expr) -> frozenset[Origin]:
        """Where a value comes from; itself, where that is outside: `config.gpus = opts.gpus`."""
        itself = frozenset([Origin("expression", names, given)])
        return self._memo.otherwise(self._from(names, given), lambda: itself)

    def _converted(self, names: Names, call: ast.Call) -> ast.expr | None:
        """The x of `int(x)` and `str(x)` where x is a variable, a read, or Horovod's answer."""
        plain = isinstance(call.func, ast.Name) and call.func.id in ("int", "str")
        if not plain or len(call.args) != 1 or call in self.reads:
            return None
        inner = call.args[0]
        asked = isinstance(inner, ast.Call) and any(
            name.startswith(words.HOROVOD) for name in names.qualified(inner.func)
        )
        known = asked or inner in self.reads or isinstance(inner, (ast.Name, ast.Attribute))
        return inner if known else None

    def _binding(self, names: Names, binding: Binding) -> Iterator[Origin]:
        if binding.kind == "assign" and binding.value is not None:
            for where, value in self.elements(names, binding.value, binding.path):
                held = _held(self._facts, where, value)
                for origin in self._given_from(where, value) if held else self._from(where, value):
                    alias = isinstance(value, (ast.Name, ast.Attribute)) and origin.alias is None
                    yield replace(origin, alias=(where, value)) if alias else origin
        elif binding.kind == "other" and isinstance(binding.node, (ast.Name, ast.Attribute)):
            if isinstance(names.parents.get(binding.node), ast.AugAssign):
                yield Origin("augmented", names, binding.node)
        elif binding.kind == "param" and isinstance(binding.node, ast.arg):
            yield from self._parameter(names, binding.node)
        elif binding.kind == "each":
            yield from self.numbers(names, binding.node)
        elif binding.kind == "import":
            head, _, member = binding.qualified.rpartition(".")
            module = self._facts.project.module(head, names.source.path) if head.strip(".") else None
            for inner in module.module.names.get(member, ()) if module is not None else ():
                yield from self._binding(module, inner)  # type: ignore[arg-type]

    def numbers(self, names: Names, target: ast.AST) -> Iterator[Origin]:
        """The number of each process that a loop starts: `for i in range(n): Process(run, args=(i,))`."""
        loop = names.parents.get(target)
        if not isinstance(loop, ast.For) or loop.target is not target:
            return
        for call in names.calls.get("Process", ()):
            worker = spawned(names, call)
            if loop in names.ancestors(call) and worker is not None:
                if leads_to_init(self._facts, names, worker):
                    yield Origin("index", names, call)

    def elements(
        self, names: Names, value: ast.expr, path: tuple[int, ...]
    ) -> Iterator[tuple[Names, ast.expr]]:
        """The part of a tuple that a path leads to: `rank, size = 0, 4`, and what functions return so."""
        if not path:
            yield names, value
        elif isinstance(value, (ast.Tuple, ast.List)):
            if 0 <= path[0] < len(value.elts):
                yield from self.elements(names, value.elts[path[0]], path[1:])
        elif isinstance(value, ast.Call):
            for where, function in self._facts.flow.functions(names, value):
                for result in where.returns.get(function, ()):
                    if isinstance(result, (ast.Tuple, ast.List)):
                        yield from self.elements(where, result, path)

    def _parameter(self, names: Names, arg: ast.arg) -> Iterator[Origin]:
        function = names.parents[names.parents[arg]]
        if not isinstance(function, FUNCTIONS):
            return
        for where, call in self._facts.flow.call_sites(names, function):
            given = passed(names, function, where, call, arg.arg)
            if given is not None:
                yield from self._from(where, given)
            elif unpacked := unpacked_into(self._facts.flow, where, call, arg.arg):
                for other, binding in unpacked:
                    yield from self._binding(other, binding)
            elif received(names, function)[:1] == [arg.arg] and any(call is s.node for s in self.spawns):
                yield Origin("index", where, call)

    # --- what a value means ----------------------------------------------------------------------

    def meaning(self, names: Names, node: ast.expr) -> set[str]:
        """Horovod's functions of the same meaning as an expression; constants say nothing."""
        return {meaning for origin in self.origins(names, node) for meaning in self._of_origin(origin)}

    def _of_origin(self, origin: Origin) -> Iterator[str]:
        node = origin.node
        if origin.kind == "index":
            yield "local_rank"
        elif node in self.reads:
            yield self.reads[node]
        elif isinstance(node, ast.Call):
            for name in origin.names.qualified(node.func):
                module, _, function = name.rpartition(".")
                if name in QUESTIONS:
                    yield QUESTIONS[name]
                elif module in words.HOROVOD and function in HVD_FUNCTIONS:
                    yield function
        alias = origin.alias[1] if constant(node) is not None and origin.alias is not None else None
        for definition in (node, alias):
            if definition in self.meanings and definition not in self.reads and constant(definition) is None:
                yield self.meanings[definition]


def _held(facts: Facts, names: Names, node: ast.expr) -> bool:
    """Whether an expression is an attribute of an object of the project's own that holds what a dict does."""
    held = facts.flow.values(names, node.value) if isinstance(node, ast.Attribute) else frozenset()
    return bool(held) and all(is_dict(facts.flow, value) for value in held)


def init_argument(call: ast.Call, name: str) -> ast.expr | None:
    """What an init_process_group call gives for a parameter."""
    return _given(call, INIT_ARGUMENTS.index(name), name)


def _given(call: ast.Call, position: int, name: str) -> ast.expr | None:
    if len(call.args) > position and not any(isinstance(arg, ast.Starred) for arg in call.args):
        return call.args[position]
    return keyword(call, name)


def _position(origin: Origin) -> list[tuple[str, int, int]]:
    places = [(origin.names, origin.node), *([origin.alias] if origin.alias else [])]
    return [(str(names.source.path), node.lineno, node.col_offset) for names, node in places]


@once
def launch_of(facts: Facts) -> Launch:
    """How the programs are started, and what ranks and sizes are computed from."""
    return Launch(facts)
