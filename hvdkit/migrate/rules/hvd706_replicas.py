"""HVD706: strategy.num_replicas_in_sync becomes hvd.size()."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import required, safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.keras.strategies import RESOLVER
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.facts.programs.tensorflow_programs import mirrored_strategies
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rewrites.tensorflow import tf
from hvdkit.source.edits import Edit
from hvdkit.source.index.names import Names


def check(facts: Facts) -> Iterator[Finding]:
    for use in mirrored_strategies(facts).of("num_replicas_in_sync"):
        text = f"{horovod_name(facts, use.names)}.size()"
        message = f"as many replicas as ranks: {text}"
        yield safe(
            facts, "HVD706", use.names, use.node, message, edits.replace, use.names.source, use.node, text
        )
    for use in mirrored_strategies(facts).of(RESOLVER):
        asked, names = use.asked, use.names
        if asked is not None:
            message = "what the cluster told is asked of Horovod: a worker for each rank, the first of them the chief"
            yield required(facts, "HVD706", names, asked, message, _resolved, facts, names, asked)


def _resolved(facts: Facts, names: Names, asked: ast.Attribute) -> list[Edit]:
    hvd = horovod_name(facts, names)
    call = names.parents.get(asked)
    if asked.attr != "cluster_spec":
        text = f"{hvd}.rank()" if asked.attr == "task_id" else '"worker"'
        return [edits.replace(names.source, asked, text)]
    if not isinstance(call, ast.Call) or call.func is not asked:
        raise edits.CannotEdit("cluster_spec is not called here")
    workers = f'{{"worker": [str(rank) for rank in range({hvd}.size())]}}'
    return [edits.replace(names.source, call, f"{tf(names)}.train.ClusterSpec({workers})")]


RULE = Rule(
    id="HVD706",
    title="replicas and workers become ranks",
    what=(
        "Rewrites strategy.num_replicas_in_sync as hvd.size(), and of strategy.cluster_resolver the task_id as hvd.rank(), "
        'the task_type as "worker" and cluster_spec() as one of as many workers as there are ranks.'
    ),
    why="Batch sizes and learning rates are multiplied by it: after the migration a rank is a replica.",
    safety="Safe: start as many processes as there were replicas, and every number is what it was.",
    check=check,
    changes=(
        Change(
            """\
            import tensorflow as tf

            strategy = tf.distribute.MirroredStrategy()
            BATCH_SIZE = 64 * strategy.num_replicas_in_sync
            print("Number of devices: {}".format(strategy.num_replicas_in_sync))
            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.fit(data)
            """,
            """\
            import horovod.tensorflow.keras as hvd
            import tensorflow as tf

            strategy = tf.distribute.MirroredStrategy()
            BATCH_SIZE = 64 * hvd.size()
            print("Number of devices: {}".format(hvd.size()))
            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.fit(data)
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import tensorflow as tf

            strategy = tf.distribute.get_strategy()
            scale = 1 / strategy.num_replicas_in_sync
            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.fit(x, y)
            """,
            reason="the default strategy has one replica, before and after",
        ),
    ),
)
