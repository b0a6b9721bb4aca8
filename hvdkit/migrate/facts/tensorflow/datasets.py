"""tf.data pipelines, followed from where they are consumed back to their source."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from hvdkit.dataclass import dataclass
from hvdkit.migrate.facts.data.training_loaders import by_rank
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.keras import vocabulary as words
from hvdkit.migrate.facts.keras.model_calls import keras_calls
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.facts.programs.programs import programs_of
from hvdkit.migrate.facts.programs.tensorflow_programs import training_files, training_step_loops
from hvdkit.migrate.index.names import FUNCTIONS, Binding, FunctionNode, Names
from hvdkit.migrate.values.arguments import given, keyword, passed
from hvdkit.migrate.values.binding_order import last_binding, reaching
from hvdkit.migrate.values.value import Value

MAX_STEPS = 24
# Datasets made of others.
MIXES = ("Dataset.zip", "sample_from_datasets", "choose_from_datasets")
DISTRIBUTES = ("experimental_distribute_dataset",)
Frame = tuple[FunctionNode, Names, ast.Call]


@dataclass(frozen=True)
class Point:
    """An expression whose value is the dataset, after `before` operations of its chain."""

    names: Names
    node: ast.expr
    before: int


@dataclass(frozen=True)
class Chain:
    """One way from a source to where a dataset is consumed.

    ops: the method calls on the way, first to last. points: every expression that the dataset passes.
    """

    source: Point
    ops: tuple[tuple[Names, ast.Call], ...]
    points: tuple[Point, ...]

    def named(self, *wanted: str) -> list[int]:
        """Positions of the operations of some names."""
        return [i for i, (_, op) in enumerate(self.ops) if operation(op) in wanted]


@dataclass(frozen=True)
class Drawn:
    """A dataset that is consumed. trains: by a training step; else it evaluates, adapts or is looked at."""

    names: Names
    node: ast.expr
    trains: bool
    chains: tuple[Chain, ...]


def operation(call: ast.Call) -> str:
    """The name of the method that a call calls."""
    return call.func.attr if isinstance(call.func, ast.Attribute) else ""


class Chains:
    """Every dataset that is consumed in the programs to rewrite."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts

    @cached_property
    def drawn(self) -> tuple[Drawn, ...]:
        """Datasets that fit, evaluate, predict, adapt and loops draw from."""
        found: list[Drawn] = []
        for names, node, trains in (*self._by_models(), *self._by_loops()):
            chains = tuple(self.follow(names, node))
            if any(chain.ops or self.is_dataset(chain.source) for chain in chains):
                found.append(Drawn(names, node, trains, chains))
        return tuple(found)

    @cached_property
    def training(self) -> tuple[Drawn, ...]:
        """The datasets that train."""
        return tuple(drawn for drawn in self.drawn if drawn.trains)

    @cached_property
    def whole(self) -> frozenset[ast.AST]:
        """Expressions that a dataset which must stay whole passes."""
        return frozenset(
            point.node
            for drawn in self.drawn
            if not drawn.trains
            for chain in drawn.chains
            for point in chain.points
        )

    def shared(self, point: Point) -> bool:
        """Whether an expression may make other datasets, too: known ones, or in a function called twice."""
        if point.node in self.whole:
            return True
        function = point.names.function(point.node)
        name = getattr(function, "name", "")
        if function is None or name in self._consumers:
            return False
        # By name, for what cannot be followed, and followed, for what has another name in its file.
        calls = {(names, call) for names in self._facts.files for call in names.calls.get(name, ())}
        calls |= set(self._facts.flow.call_sites(point.names, function))
        for program in programs_of(self._facts):
            if point.names in program.files:
                runs = sum(names in program.files for names, _ in calls)
                if runs > 1 or (runs and program.kind not in (*words.KINDS, "tf-horovod")):
                    return True
        return False

    @cached_property
    def _consumers(self) -> frozenset[str]:
        """Functions that consume a training dataset: a pipeline inside is made where it is used."""
        functions = (drawn.names.function(drawn.node) for drawn in self.training)
        return frozenset(getattr(function, "name", "") for function in functions)

    def is_dataset(self, point: Point) -> bool:
        """Whether a source is a tf.data.Dataset by where it comes from."""
        return any(
            name.startswith((words.DATASETS, *words.TFDS)) or name in words.SHUFFLED_BATCHES
            for name in self.made(point)
        )

    def made(self, point: Point) -> set[str]:
        """Qualified names of what may have made a source."""
        return {value.name for value in self.origins(point) if value.kind == "made"}

    def origins(self, point: Point) -> frozenset[Value]:
        """What may have made a source: for a split that tfds.load or a builder gives, those."""
        node = point.node
        within: ast.expr | None = None
        if isinstance(node, ast.Subscript):
            within = node.value
        elif isinstance(node, ast.Call) and operation(node) == words.AS_DATASET:
            within = node.func.value if isinstance(node.func, ast.Attribute) else None
        makers = self._facts.flow.values(point.names, within) if within is not None else ()
        splits = frozenset(value for value in makers if value.name.startswith(words.TFDS))
        return splits or self._facts.flow.values(point.names, node)

    def _by_models(self) -> Iterator[tuple[Names, ast.expr, bool]]:
        for call in keras_calls(self._facts):
            if call.names not in training_files(self._facts) or call.method in ("compile", "train_on_batch"):
                continue
            for parameter, trains in (("x", call.method.startswith("fit")), ("validation_data", False)):
                given = call.argument(parameter)
                if given is not None:
                    yield call.names, given, trains
        for names, adapt, _ in self._facts.methods("adapt"):
            if names in training_files(self._facts) and adapt.args:
                yield names, adapt.args[0], False

    def _by_loops(self) -> Iterator[tuple[Names, ast.expr, bool]]:
        training = {loop.node for loop in training_step_loops(self._facts)}
        # What a strategy distributes each replica draws a part of, in evaluation, too.
        for names in training_files(self._facts):
            for loop in names.loops:
                if isinstance(loop, ast.While) or (loop not in training and _looks(names, loop)):
                    continue
                for iterated in run_over(names, loop.iter):
                    parts = self._distributed(names, iterated)
                    yield names, iterated, loop in training or parts

    def _distributed(self, names: Names, node: ast.expr) -> bool:
        values = self._facts.flow.values(names, node)
        return any(
            isinstance(value.node, ast.Call) and operation(value.node) in DISTRIBUTES for value in values
        )

    # --- back to the source --------------------------------------------------------------------

    def follow(
        self, names: Names, node: ast.expr, frames: tuple[Frame, ...] = (), steps: int = 0
    ) -> Iterator[Chain]:
        """Every way from a source to an expression."""
        for chain in self._before(names, node, frames, steps) if steps < MAX_STEPS else ():
            point = Point(names, node, len(chain.ops))
            yield Chain(chain.source, chain.ops, (*chain.points, point))

    def _before(self, names: Names, node: ast.expr, frames: tuple[Frame, ...], steps: int) -> Iterator[Chain]:
        source = Point(names, node, 0)
        if isinstance(node, ast.Call):
            yield from self._call(names, node, frames, steps)
        elif isinstance(node, (ast.Name, ast.Attribute)):
            found = False
            for where, value, inner in self._values(names, node, frames):
                found = True
                yield from self.follow(where, value, inner, steps + 1)
            if not found:
                yield Chain(source, (), ())
        else:
            yield Chain(source, (), ())

    def _call(self, names: Names, node: ast.Call, frames: tuple[Frame, ...], steps: int) -> Iterator[Chain]:
        function = node.func
        if isinstance(function, ast.Attribute) and not self._facts.flow.qualified(names, function):
            if function.attr in words.CHAIN:
                for chain in self.follow(names, function.value, frames, steps + 1):
                    yield Chain(chain.source, (*chain.ops, (names, node)), chain.points)
                return
            if function.attr in DISTRIBUTES and node.args:
                yield from self.follow(names, node.args[0], frames, steps + 1)
                return
        found = False
        for where, called in self._facts.flow.functions(names, node):
            for result in where.returns.get(called, ()):
                found = True
                yield from self.follow(where, result, (*frames, (called, names, node)), steps + 1)
        if not found:
            yield Chain(Point(names, node, 0), (), ())

    def _values(
        self, names: Names, node: ast.Name | ast.Attribute, frames: tuple[Frame, ...]
    ) -> Iterator[tuple[Names, ast.expr, tuple[Frame, ...]]]:
        if isinstance(node, ast.Name):
            bindings = [(names, binding) for binding in reaching(names, node.id, node)]
            # Of several assignments in a row in one block only the last above the use counts.
            bindings = _last(names, node, bindings)
        else:
            bindings = self._facts.flow.stored(names, node)
        for where, binding in bindings:
            yield from self._bound(where, binding, frames)

    def _bound(
        self, names: Names, binding: Binding, frames: tuple[Frame, ...]
    ) -> Iterator[tuple[Names, ast.expr, tuple[Frame, ...]]]:
        value = binding.value
        if binding.kind == "assign" and value is not None:
            if not binding.path:
                yield names, value, frames
                return
            if isinstance(value, (ast.Tuple, ast.List)) and len(binding.path) == 1:
                yield names, value.elts[binding.path[0]], frames
            elif isinstance(value, ast.Call) and len(binding.path) == 1:
                for where, called in self._facts.flow.functions(names, value):
                    for result in where.returns.get(called, ()):
                        if isinstance(result, ast.Tuple) and -1 < binding.path[0] < len(result.elts):
                            yield where, result.elts[binding.path[0]], (*frames, (called, names, value))
        elif binding.kind == "param" and isinstance(binding.node, ast.arg):
            yield from self._parameter(names, binding.node, frames)

    def _parameter(
        self, names: Names, arg: ast.arg, frames: tuple[Frame, ...]
    ) -> Iterator[tuple[Names, ast.expr, tuple[Frame, ...]]]:
        function = names.parents[names.parents[arg]]
        if not isinstance(function, FUNCTIONS):
            return
        if frames and frames[-1][0] is function:
            calls = [frames[-1][1:]]
        else:
            calls = list(self._facts.flow.call_sites(names, function))
        for where, call in calls:
            given = passed(names, function, where, call, arg.arg)
            if given is not None:
                yield where, given, frames[:-1]


def _last(names: Names, use: ast.Name, bindings: list[tuple[Names, Binding]]) -> list[tuple[Names, Binding]]:
    """Without the assignments that another one below them, in a block around the use, makes void."""
    blocks = set(names.ancestors(use))
    above = [
        binding
        for _, binding in bindings
        if binding.kind == "assign"
        and names.parents.get(names.statement(binding.node)) in blocks
        and names.statement(binding.node).lineno < use.lineno
    ]
    if not above:
        return bindings
    last = max(names.statement(binding.node).lineno for binding in above)
    return [
        (where, binding)
        for where, binding in bindings
        if names.statement(binding.node).lineno >= last and binding.kind != "param"
    ]


def _looks(names: Names, loop: ast.For | ast.AsyncFor) -> bool:
    """Whether a loop only looks at a first batch, which may be that of any share."""
    only = [op for op in run_over(names, loop.iter) if isinstance(op, ast.Call) and operation(op) == "take"]
    first = any(len(op.args) == 1 and getattr(op.args[0], "value", None) == 1 for op in only)
    return first or isinstance(loop.body[-1], ast.Break)


def run_over(names: Names, node: ast.expr) -> Iterator[ast.expr]:
    """What a loop runs over: without enumerate, iter, tqdm and zip around it, also in a variable."""
    last = last_binding(names, node) if isinstance(node, ast.Name) else None
    held = last.value if last is not None and last.kind == "assign" and not last.path else None
    if isinstance(held, ast.Call) and _wraps(held):
        node = held
    if not isinstance(node, ast.Call) or not _wraps(node):
        yield node
        return
    for argument in node.args if _called(node) == "zip" else node.args[:1]:
        yield from run_over(names, argument)


def _called(call: ast.Call) -> str:
    return str(getattr(call.func, "id", getattr(call.func, "attr", "")))


def _wraps(call: ast.Call) -> bool:
    wrapper = _called(call) in ("enumerate", "iter", "tqdm", "zip", "trange")
    return wrapper and bool(call.args) and not isinstance(call.args[0], ast.Starred)


def disorder(facts: Facts, chain: Chain, before: int, certain: bool = False) -> str:
    """Why the ranks may see the elements in different orders before an operation; "" when they do not.

    certain: only where they do, whatever threads and generators come to.
    """
    for names, call in chain.ops[:before]:
        name = operation(call)
        seed = given(call, 1, "seed") if name == "shuffle" else None
        if name == "shuffle" and seed is None:
            return f"shuffle in line {names.line(call)} has no seed, so every rank has a different order"
        if seed is not None and by_rank(facts, names, seed):
            return f"shuffle in line {names.line(call)} has a different seed on every rank"
        deterministic = keyword(call, "deterministic") if not certain else None
        if isinstance(deterministic, ast.Constant) and deterministic.value is False:
            return f"{name} in line {names.line(call)} is not deterministic"
    return _disordered_source(facts, chain.source, certain)


def _disordered_source(facts: Facts, source: Point, certain: bool) -> str:
    if isinstance(source.node, ast.Call) and _shuffles_files(source.node):
        return f"shuffle_files in line {source.names.line(source.node)} gives every rank a different order"
    for value in dataset_chains(facts).origins(source):
        call = value.node
        if value.kind != "made" or not isinstance(call, ast.Call):
            continue
        short, line = value.name.partition("[")[0], value.names.line(call)
        if short.endswith("Dataset.list_files"):
            if not _false(keyword(call, "shuffle")) and keyword(call, "seed") is None:
                return f"list_files in line {line} shuffles without a seed"
        elif short in words.SHUFFLED_BATCHES:
            if not _false(keyword(call, "shuffle")) and keyword(call, "seed") is None:
                return f"line {line} shuffles without a seed"
        elif short in words.TFDS:
            if _shuffles_files(call):
                return f"shuffle_files in line {line} gives every rank a different order"
        elif short.endswith(MIXES):
            for part in ast.walk(call):
                if isinstance(part, (ast.Name, ast.Attribute)) and isinstance(part.ctx, ast.Load):
                    for chain in dataset_chains(facts).follow(value.names, part):
                        why = (
                            disorder(facts, chain, len(chain.ops), certain)
                            if chain.source.node is not source.node
                            else ""
                        )
                        if why:
                            return why
        elif short.endswith((".from_generator", "make_csv_dataset")) and not certain:
            return f"the result of line {line} may have a different order on every rank"
    return ""


def _shuffles_files(call: ast.Call) -> bool:
    files = keyword(call, "shuffle_files")
    return files is not None and not _false(files)


def _false(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is False


def countless(facts: Facts, chain: Chain, before: int) -> str:
    """Why TensorFlow cannot tell how many elements there are before an operation; "" when it can."""
    for names, call in chain.ops[:before]:
        if operation(call) in ("filter", "flat_map", "interleave", "unbatch", "take_while", "ignore_errors"):
            return f"{operation(call)} in line {names.line(call)}"
    for value in facts.flow.values(chain.source.names, chain.source.node):
        name = value.name.partition("[")[0]
        if value.kind == "made" and name.endswith(("TFRecordDataset", "TextLineDataset", "from_generator")):
            return f"{name.rpartition('.')[2]} in line {value.names.line(value.node)}"
    return ""


@once
def dataset_chains(facts: Facts) -> Chains:
    """How datasets are made, and which of them train."""
    return Chains(facts)
