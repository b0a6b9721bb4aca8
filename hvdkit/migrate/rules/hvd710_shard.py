"""HVD710: each rank trains on its own share of the data, cut before shuffle and batch."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import manual, safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.keras.model_calls import ModelCall
from hvdkit.migrate.facts.keras.step_loops import StepLoop
from hvdkit.migrate.facts.launch.rank_kinds import rank_kinds
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.facts.programs.tensorflow_programs import (
    environments,
    loopless_steps,
    migrating_files,
    migrating_fits,
    training_step_loops,
)
from hvdkit.migrate.facts.tensorflow.datasets import dataset_chains
from hvdkit.migrate.facts.tensorflow.iterators import drawn_steps, draws_from, own_order
from hvdkit.migrate.facts.tensorflow.own_shares import is_cut, is_own_part
from hvdkit.migrate.facts.tensorflow.samples import ARRAYS
from hvdkit.migrate.facts.tensorflow.shardable import (
    cut_for_all,
    several_inputs,
    shuffled_where_read,
    why_not_cut,
)
from hvdkit.migrate.facts.tensorflow.ways import Chain, Point
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rewrites.tensorflow import divided, is_divided
from hvdkit.migrate.rewrites.tensorflow_shares import shard, slices
from hvdkit.source.index.names import Names

MESSAGE = "each rank trains on its own share, the same number of elements on every rank"
STEPS = "each rank takes its share of the steps, from data in its own order"
SHUFFLED_LATER = "give it shuffle=False and batch_size=None, and put .apply(hvd.shard_dataset).shuffle(...).batch(...) below it"
WAYS = "this pipeline is made in several ways, and no place in it is right for all of them"
WHOLE = "every rank may see all of the data"


def check(facts: Facts) -> Iterator[Finding]:
    drawn = [dataset for dataset in dataset_chains(facts).training if dataset.names in migrating_files(facts)]
    seen: set[ast.AST] = set()
    for dataset in drawn:
        whole = [chain for chain in dataset.chains if not is_cut(facts, chain)]
        points = cut_for_all(facts, whole)
        if points is None:
            yield _left_whole(facts, dataset.names, dataset.node, WAYS)
            continue
        # What cannot be cut first: one expression may be reached by a way with a shuffle and one without.
        for chain in sorted(whole, key=lambda chain: not why_not_cut(facts, chain)):
            yield from _dataset(facts, dataset.names, dataset.node, chain, points.get(chain), seen)
    followed = {dataset.node for dataset in drawn}
    for call in migrating_fits(facts):
        if call.argument("x") not in followed and call.names not in environments(facts):
            yield from _arrays(facts, call)
    loops = {loop.node: loop for loop in training_step_loops(facts) if loop.names in migrating_files(facts)}
    for loop in loops.values():
        if loop.names not in environments(facts):
            yield from _loop(facts, loop, followed)
    for step in loopless_steps(facts):
        if step.names in migrating_files(facts):
            yield _left_whole(facts, step.names, step.node, "no loop was found that runs this training step")


def _loop(facts: Facts, loop: StepLoop, followed: set[ast.expr]) -> Iterator[Finding]:
    """A loop that draws from no dataset that was followed, or from an iterator that has an order of its own."""
    steps = drawn_steps(facts, loop)
    if steps is not None:
        if not is_divided(facts, loop.names, steps):
            yield safe(facts, "HVD710", loop.names, steps, STEPS, divided, facts, loop.names, steps)
    elif not draws_from(loop, followed):
        why = "no dataset was found that this training loop draws from"
        yield _left_whole(facts, loop.names, loop.node, why)


def _left_whole(facts: Facts, names: Names, node: ast.AST, why: str, whole: str = WHOLE) -> Finding:
    hvd = horovod_name(facts, names)
    advice = (
        f"give rank {hvd}.rank() of {hvd}.size() its own share, with the same number of batches on every rank"
    )
    return manual("HVD710", names, node, f"{why}: {whole}", advice)


def _dataset(
    facts: Facts, names: Names, node: ast.expr, chain: Chain, point: Point | None, seen: set[ast.AST]
) -> Iterator[Finding]:
    if point is not None:
        known = chain.ops or chain.lost or dataset_chains(facts).is_dataset(chain.source)
        if point.node in seen or not known:
            return
        seen.add(point.node)
    why = why_not_cut(facts, chain)
    if why or point is None:
        message = f"every rank would train on all of this data: {why}"
        hvd = horovod_name(facts, names)
        advice = (
            f"write .shard({hvd}.size(), {hvd}.rank()) before shuffle and batch, where all ranks see the "
            "same order, and make sure that every rank gets the same number of batches"
        )
        yield manual("HVD710", names, node, message, advice)
        return
    source = shuffled_where_read(facts, chain)
    if source is not None:
        message = "this shuffles and batches the data before each rank can be given its share"
        yield manual("HVD710", source.names, source.node, message, SHUFFLED_LATER)
        return
    yield safe(facts, "HVD710", point.names, point.node, MESSAGE, shard, facts, chain, point)


def _arrays(facts: Facts, call: ModelCall) -> Iterator[Finding]:
    """What fit is given without a dataset: arrays where it has targets or a batch size, which datasets have not."""
    names = call.names
    x, y = call.argument("x"), call.argument("y")
    if call.spread or x is None:
        yield _left_whole(facts, names, call.node, "the training data of this fit comes from * or **")
    elif (y is None or isinstance(y, ast.Constant)) and call.argument("batch_size") is None:
        if own_order(facts, names, x):
            yield from _iterator(facts, call, x)
        elif not rank_kinds(facts).inside(names, x):
            yield _left_whole(facts, names, x, "this does not return a dataset that could be followed")
    elif several_inputs(facts, names, x):
        yield _left_whole(facts, names, x, "several inputs at once", "every rank would train on all of them")
    else:
        arrays = [call.argument(name) for name in ARRAYS]
        whole = [
            array
            for array in arrays
            if array is not None
            and not isinstance(array, ast.Constant)
            and not is_own_part(facts, names, array)
        ]
        if whole:
            yield safe(facts, "HVD710", names, whole[0], MESSAGE, slices, facts, names, whole)


def _iterator(facts: Facts, call: ModelCall, x: ast.expr) -> Iterator[Finding]:
    """What gives each rank an order of its own lasts for the share of the steps; HVD711 cuts those that are told."""
    names, last = call.names, [*call.node.args, *(item.value for item in call.node.keywords)][-1]
    if call.argument("steps_per_epoch") is None:
        share = f", steps_per_epoch=len({names.source.segment(x)}) // {horovod_name(facts, names)}.size()"
        yield safe(facts, "HVD710", names, x, STEPS, edits.wrap, names.source, last, "", share)


RULE = Rule(
    id="HVD710",
    title="training data is sharded",
    what=(
        "Cuts tf.data pipelines that train before the first shuffle, repeat or batch, and before what decodes or "
        "caches each element, and slices the arrays of fit, so that each rank has its own part. Evaluation data "
        "stays whole. A pipeline that does not divide evenly is padded, and arrays lose at most size() - 1 rows."
    ),
    why="Every rank would see all of the data, and one with a batch more than the others would block forever.",
    safety=(
        "Safe where all ranks see the elements in the same order before the cut. A shuffle without a seed before it, "
        "a generator, an unknown length, or a pipeline that evaluation also uses is left to you. Needed for "
        "Keras' own shuffled iterators over images: in one epoch some appear twice and some not at all."
    ),
    check=check,
    changes=(
        Change(
            """\
            import tensorflow as tf

            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.compile(loss="mse")
            train = tf.data.Dataset.from_tensor_slices((x, y)).cache().shuffle(100).batch(8).prefetch(1)
            model.fit(train)
            """,
            """\
            import horovod.tensorflow.keras as hvd
            import tensorflow as tf

            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.compile(loss="mse")
            train = tf.data.Dataset.from_tensor_slices((x, y)).apply(lambda data: data.concatenate(data.repeat().take(-data.cardinality() % hvd.size())).shard(hvd.size(), hvd.rank())).cache().shuffle(100).batch(8).prefetch(1)
            model.fit(train)
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import horovod.tensorflow.keras as hvd
            import tensorflow as tf

            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.compile(loss="mse")
            model.fit(tf.data.Dataset.from_tensor_slices((x, y)).shard(hvd.size(), hvd.rank()).batch(8))
            """,
            reason="it is cut already",
        ),
    ),
)
