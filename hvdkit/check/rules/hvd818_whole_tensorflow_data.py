"""HVD818: every rank of a TensorFlow job trains on all of the data, in the same order."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.check.keras import keras_programs
from hvdkit.migrate.catalog.finding import manual
from hvdkit.migrate.catalog.rule import Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.collectives.dependence import tests_above
from hvdkit.migrate.facts.keras.model_calls import ModelCall, keras_calls
from hvdkit.migrate.facts.launch.rank_kinds import rank_kinds
from hvdkit.migrate.facts.programs.programs import ProgramFacts
from hvdkit.migrate.facts.tensorflow.datasets import dataset_chains
from hvdkit.migrate.facts.tensorflow.iterators import shuffles_apart
from hvdkit.migrate.facts.tensorflow.own_shares import by_size, is_cut, is_own_part
from hvdkit.migrate.facts.tensorflow.ways import Chain, operation
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.values.binding_order import reaching
from hvdkit.source.index.names import Binding, Names

MESSAGE = "every rank trains on all of this data: N ranks do the work of one, N times"
MADE = ("numpy.", "keras.datasets.")
KEEPS = ("astype", "reshape", "copy")  # methods of an array that give one of as many rows
MAX_STEPS = 6


def check(facts: Facts) -> Iterator[Finding]:
    seen: set[ast.AST] = set()
    for program in keras_programs(facts):
        for names, node, advice in (*_datasets(facts, program), *_arrays(facts, program)):
            if node not in seen:
                seen.add(node)
                yield manual("HVD818", names, node, MESSAGE, advice)


def _datasets(facts: Facts, program: ProgramFacts) -> Iterator[tuple[Names, ast.AST, str]]:
    """Pipelines that no rank takes its share of, and that give all ranks one order."""
    advice = "write .shard(hvd.size(), hvd.rank()) before its shuffle and batch"
    for drawn in dataset_chains(facts).training:
        if drawn.names in program.files and drawn.chains:
            if all(_is_whole_pipeline(facts, chain) for chain in drawn.chains):
                yield drawn.names, drawn.node, advice


def _is_whole_pipeline(facts: Facts, chain: Chain) -> bool:
    """Whether a pipeline certainly gives each rank all of the data, in one order.

    A generator of the program may yield a share already, decided where it cannot be seen.
    """
    source = chain.source.node
    known = dataset_chains(facts).is_dataset(chain.source) and not chain.lost
    if not known or not isinstance(source, ast.Call) or operation(source) == "from_generator":
        return False
    return not is_cut(facts, chain) and not shuffles_apart(facts, chain)


def _arrays(facts: Facts, program: ProgramFacts) -> Iterator[tuple[Names, ast.AST, str]]:
    """Arrays of numpy that fit is given as they were made."""
    for call in keras_calls(facts):
        x = call.argument("x") if call.method == "fit" and call.names in program.files else None
        if x is not None and _is_whole(facts, call, x):
            yield (
                call.names,
                x,
                "give fit x[hvd.rank()::hvd.size()] of each array, as many rows on every rank",
            )


def _is_whole(facts: Facts, call: ModelCall, x: ast.expr) -> bool:
    if not _is_array(facts, call.names, x, 0) or rank_kinds(facts).inside(call.names, x):
        return False
    few = by_size(facts, call.names, call.argument("steps_per_epoch"))
    return not few and not is_own_part(facts, call.names, x)


def _is_array(facts: Facts, names: Names, node: ast.expr | None, depth: int) -> bool:
    """Whether an expression is certainly an array as numpy, or a data set of Keras, made it."""
    if isinstance(node, ast.BinOp):
        return _is_array(facts, names, node.left, depth)
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute) and node.func.attr in KEEPS:
            return _is_array(facts, names, node.func.value, depth)
        return any(name.startswith(MADE) for name in facts.flow.qualified(names, node.func))
    if not isinstance(node, ast.Name) or depth == MAX_STEPS:
        return False
    bound = reaching(names, node.id, node)
    tests = [test for binding in bound for test in tests_above(names, binding.node)]
    if any(rank_kinds(facts).inside(names, test) for test in tests):
        return False  # some ranks have another
    given = [_given(binding) for binding in bound if binding.kind == "assign"]
    return (
        bool(given) and len(given) == len(bound) and all(_is_array(facts, names, g, depth + 1) for g in given)
    )


def _given(binding: Binding) -> ast.expr | None:
    """What a variable is given: of a tuple that is written out, its element."""
    value, path = binding.value, binding.path
    if path and isinstance(value, ast.Tuple):
        return value.elts[path[0]] if path[0] < len(value.elts) else None
    return value


RULE = Rule(
    id="HVD818",
    title="a TensorFlow job trains on all of the data on every rank",
    what="The job computes each batch N times, averages N equal gradients, and is no faster than one process.",
    why="nothing tells fit, or a pipeline, that there are other ranks.",
    safety="Nothing is edited: hvdkit migrate cuts the data of a script that does not use Horovod yet.",
    check=check,
    changes=(),
    keeps=(
        Keep(
            """\
            import horovod.tensorflow.keras as hvd
            import numpy as np
            import tensorflow as tf

            hvd.init()
            x, y = np.ones((64, 4)), np.ones((64, 1))
            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.compile(hvd.DistributedOptimizer(tf.keras.optimizers.SGD(0.1)), "mse")
            model.fit(x, y, callbacks=[hvd.callbacks.BroadcastGlobalVariablesCallback(0)])
            """,
            reason="the arrays are whole",
            reported=True,
        ),
        Keep(
            """\
            import horovod.tensorflow.keras as hvd
            import numpy as np
            import tensorflow as tf

            hvd.init()
            x, y = np.ones((64, 4)), np.ones((64, 1))
            x, y = x[hvd.rank() :: hvd.size()], y[hvd.rank() :: hvd.size()]
            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.compile(hvd.DistributedOptimizer(tf.keras.optimizers.SGD(0.1)), "mse")
            model.fit(x, y, callbacks=[hvd.callbacks.BroadcastGlobalVariablesCallback(0)])
            data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(64).batch(8)
            model.fit(data, callbacks=[hvd.callbacks.BroadcastGlobalVariablesCallback(0)])
            """,
            reason="each rank has its rows, or an order of its own",
        ),
    ),
)
