"""HVD707: distributed datasets become the datasets themselves; a dataset function is told its rank."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import refused, required
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.keras.strategies import Use
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.facts.programs.tensorflow_programs import mirrored_strategies
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rewrites.tensorflow import tf
from hvdkit.migrate.values.arguments import given, keyword
from hvdkit.source.edits import Edit

FUNCTIONS = ("distribute_datasets_from_function", "experimental_distribute_datasets_from_function")


def check(facts: Facts) -> Iterator[Finding]:
    for use in mirrored_strategies(facts).of("experimental_distribute_dataset"):
        message = "the dataset itself: HVD710 gives each rank its share, HVD709 its batch size"
        yield required(facts, "HVD707", use.names, use.node, message, _dataset, use)
    for use in mirrored_strategies(facts).of(*FUNCTIONS):
        message = "the function is told that this rank is one of size() input pipelines"
        if _asks(facts, use):
            yield required(facts, "HVD707", use.names, use.node, message, _function, facts, use)
            continue
        advice = "call the function and shard its dataset by rank, right before shuffle and batch"
        message = "the function of this dataset does not use its input context: every rank would draw all of the data"
        yield refused("HVD707", use.names, use.node, message, advice)


def _dataset(use: Use) -> list[Edit]:
    dataset = _first(use, "dataset")
    if use.call is None or dataset is None:
        raise edits.CannotEdit("it is not called here with its dataset")
    return edits.unwrap(use.names.source, use.call, dataset)


def _first(use: Use, name: str) -> ast.expr | None:
    """The first argument of a call, by its place or by its name."""
    if use.call is None:
        return None
    return given(use.call, 0, name)


def _asks(facts: Facts, use: Use) -> bool:
    """Whether the function reads the pipeline's number from its context."""
    found = facts.flow.values(use.names, _first(use, "dataset_fn"))
    return bool(found) and all(
        value.kind == "function"
        and any(isinstance(n, ast.Attribute) and n.attr == "input_pipeline_id" for n in ast.walk(value.node))
        for value in found
    )


def _function(facts: Facts, use: Use) -> list[Edit]:
    names, hvd, function = use.names, horovod_name(facts, use.names), _first(use, "dataset_fn")
    assert use.call is not None and function is not None, "its function is given the pipeline's number"
    if len(use.call.args) > 1 or keyword(use.call, "options"):
        raise edits.CannotEdit("its options set how replicas are fed, and ranks have no replicas")
    context = f"{tf(names)}.distribute.InputContext({hvd}.size(), {hvd}.rank(), {hvd}.size())"
    return edits.recast(names.source, use.call, [function, f"({context})"])


RULE = Rule(
    id="HVD707",
    title="distributed datasets",
    what=(
        "Removes strategy.experimental_distribute_dataset(dataset), and calls the function of "
        "distribute_datasets_from_function with a context in which each rank is one input pipeline and one "
        "replica."
    ),
    why="The strategy splits each batch among its replicas. A rank draws its own share instead.",
    safety="Safe together with HVD709 and HVD710. A dataset function that never uses its input context is refused.",
    check=check,
    changes=(
        Change(
            """\
            import tensorflow as tf

            strategy = tf.distribute.MirroredStrategy()
            batches = strategy.experimental_distribute_dataset(tf.data.Dataset.range(100).batch(8))
            for x in batches:
                with tf.GradientTape() as tape:
                    loss = model(x)
                optimizer.apply_gradients(zip(tape.gradient(loss, model.variables), model.variables))
            """,
            """\
            import tensorflow as tf

            strategy = tf.distribute.MirroredStrategy()
            batches = tf.data.Dataset.range(100).batch(8)
            for x in batches:
                with tf.GradientTape() as tape:
                    loss = model(x)
                optimizer.apply_gradients(zip(tape.gradient(loss, model.variables), model.variables))
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import tensorflow as tf

            strategy = tf.distribute.MirroredStrategy()
            batches = tf.data.Dataset.range(100).batch(8)
            for x in batches:
                with tf.GradientTape() as tape:
                    loss = model(x)
                optimizer.apply_gradients(zip(tape.gradient(loss, model.variables), model.variables))
            """,
            reason="nothing is distributed",
        ),
    ),
)
