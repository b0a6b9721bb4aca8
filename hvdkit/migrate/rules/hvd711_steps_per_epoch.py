"""HVD711: an epoch of a job is still one pass over the data: fewer steps on every rank."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import manual, safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.facts.programs.tensorflow_programs import migrating_fits, only_with_strategy
from hvdkit.migrate.facts.tensorflow.datasets import dataset_chains
from hvdkit.migrate.index.names import Names
from hvdkit.migrate.plan import Edit, Finding
from hvdkit.migrate.rewrites.tensorflow import divided, is_divided


def check(facts: Facts) -> Iterator[Finding]:
    for call in migrating_fits(facts):
        steps = call.argument("steps_per_epoch")
        names = call.names
        if steps is None or (isinstance(steps, ast.Constant) and steps.value is None):
            continue
        if only_with_strategy(facts, names) or is_divided(facts, names, steps):
            continue
        if any(name.endswith(".steps_per_epoch") for name in facts.flow.made(names, steps)):
            continue
        if _of_share(facts, names, steps):
            message = "these steps are computed from a dataset that each rank has a part of"
            advice = "make sure that the steps of all ranks together are one pass over the data"
            yield manual("HVD711", names, steps, message, advice)
            continue
        message = "the ranks share the steps of an epoch"
        yield safe(facts, "HVD711", names, steps, message, _edit, facts, names, steps)


def _edit(facts: Facts, names: Names, steps: ast.expr) -> list[Edit]:
    if facts.options.target == "hvdkit":
        return edits.wrap(names.source, steps, f"{horovod_name(facts, names)}.steps_per_epoch(", ")")
    return divided(facts, names, steps)


def _of_share(facts: Facts, names: Names, steps: ast.expr) -> bool:
    """Whether steps are counted from a dataset itself, which HVD710 may have cut."""
    for node in ast.walk(steps):
        if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
            for binding in names.bindings(node.id, node) if isinstance(node, ast.Name) else ():
                inner = binding.value if binding.kind == "assign" else None
                if inner is not None and isinstance(inner, (ast.BinOp, ast.Call)) and inner is not steps:
                    if any(_is_dataset(facts, names, part) for part in ast.walk(inner)):
                        return not _is_dataset(facts, names, node)
            if _is_dataset(facts, names, node):
                return True
    return False


def _is_dataset(facts: Facts, names: Names, node: ast.AST) -> bool:
    if not isinstance(node, (ast.Name, ast.Attribute)):
        return False
    chains = dataset_chains(facts).follow(names, node)
    return any(
        chain.source.node is not node and dataset_chains(facts).is_dataset(chain.source) for chain in chains
    )


RULE = Rule(
    id="HVD711",
    title="steps per epoch are shared",
    what="Divides steps_per_epoch of a single-process fit by hvd.size().",
    why="With as many steps on every rank an epoch would be as many passes over the data as there are ranks.",
    safety=(
        "Safe: all ranks together take the steps that one process took. A strategy's steps stay: its batch was that of "
        "all replicas. Steps that are counted from a dataset which is itself cut are left to the person."
    ),
    check=check,
    changes=(
        Change(
            """\
            import tensorflow as tf

            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.compile(loss="mse")
            model.fit(data, epochs=3, steps_per_epoch=1000)
            """,
            """\
            import horovod.tensorflow.keras as hvd
            import tensorflow as tf

            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.compile(loss="mse")
            model.fit(data, epochs=3, steps_per_epoch=1000 // hvd.size())
            """,
        ),
    ),
    keeps=(
        Keep(
            "import tensorflow as tf\n\nstrategy = tf.distribute.MirroredStrategy()\n"
            "model = tf.keras.Sequential([tf.keras.layers.Dense(1)])\nmodel.fit(data, steps_per_epoch=1000)\n",
            reason="a step of a strategy was one of all replicas, as it is one of all ranks now",
        ),
    ),
)
