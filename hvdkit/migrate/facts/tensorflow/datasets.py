"""tf.data pipelines, followed from where they are consumed back to their source."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import cached_property

from hvdkit.dataclass import dataclass
from hvdkit.migrate.facts.data.training_loaders import by_rank
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.keras import vocabulary as words
from hvdkit.migrate.facts.keras.model_calls import keras_calls
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.facts.programs.programs import programs_of
from hvdkit.migrate.facts.programs.tensorflow_programs import training_files, training_step_loops
from hvdkit.migrate.facts.tensorflow.ways import DISTRIBUTES, Chain, Operation, Point, Ways, operation
from hvdkit.migrate.values.arguments import given, keyword
from hvdkit.migrate.values.binding_order import last_binding
from hvdkit.migrate.values.value import Value
from hvdkit.source.index.names import Names

# Datasets made of others.
MIXES = ("Dataset.zip", "sample_from_datasets", "choose_from_datasets")


@dataclass(frozen=True)
class Drawn:
    """A dataset that is consumed. trains: by a training step; else it evaluates, adapts or is looked at."""

    names: Names
    node: ast.expr
    trains: bool
    chains: tuple[Chain, ...]


class Chains:
    """Every dataset that is consumed in the programs to rewrite."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._ways = Ways(facts)

    @cached_property
    def drawn(self) -> tuple[Drawn, ...]:
        """Datasets that fit, evaluate, predict, adapt and loops draw from."""
        found: list[Drawn] = []
        for names, node, trains in (*self._by_models(), *self._by_loops()):
            chains = self.follow(names, node)
            if any(chain.ops or chain.lost or self.is_dataset(chain.source) for chain in chains):
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
            node
            for drawn in self.drawn
            if not drawn.trains
            for chain in drawn.chains
            for node in chain.passed
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

    def follow(self, names: Names, node: ast.expr) -> tuple[Chain, ...]:
        """The ways from every source to an expression."""
        return self._ways.to(names, node)


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
    seen: set[ast.AST] = set()
    waiting = [(chain.ops[:before], chain.source)]
    while waiting:
        ops, source = waiting.pop()
        why = _disordered_by(facts, ops, certain)
        if why:
            return why
        if source.node not in seen:
            seen.add(source.node)
            why = _disordered_source(facts, source, certain)
            if why:
                return why
            waiting += ((each.ops, each.source) for each in _mixed(facts, source))
    return ""


def _disordered_by(facts: Facts, ops: Sequence[Operation], certain: bool) -> str:
    for names, call in ops:
        name = operation(call)
        seed = given(call, 1, "seed") if name == "shuffle" else None
        if name == "shuffle" and seed is None:
            return f"shuffle in line {names.line(call)} has no seed, so every rank has a different order"
        if seed is not None and by_rank(facts, names, seed):
            return f"shuffle in line {names.line(call)} has a different seed on every rank"
        deterministic = keyword(call, "deterministic") if not certain else None
        if isinstance(deterministic, ast.Constant) and deterministic.value is False:
            return f"{name} in line {names.line(call)} is not deterministic"
    return ""


def _mixed(facts: Facts, source: Point) -> Iterator[Chain]:
    """The ways to the datasets that a source is made of."""
    for value in dataset_chains(facts).origins(source):
        if value.kind == "made" and value.name.partition("[")[0].endswith(MIXES):
            for part in ast.walk(value.node) if isinstance(value.node, ast.Call) else ():
                if isinstance(part, (ast.Name, ast.Attribute)) and isinstance(part.ctx, ast.Load):
                    yield from dataset_chains(facts).follow(value.names, part)


def _disordered_source(facts: Facts, source: Point, certain: bool) -> str:
    """Why a source may give the ranks its elements in different orders, the datasets in it left out."""
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
