"""HVD843: a learning rate that one rank sets alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.check.horovod import programs
from hvdkit.check.keras import keras_files
from hvdkit.check.paper import objected
from hvdkit.conditions.settings import unlike_settings
from hvdkit.migrate.catalog.finding import manual
from hvdkit.migrate.catalog.rule import Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.launch.which_processes import Where, where_runs
from hvdkit.migrate.plan import Finding

RATES = ("learning_rate", "lr")


def check(facts: Facts) -> Iterator[Finding]:
    seen: set[ast.AST] = set()
    for program in programs(facts):
        for names, node, message in objected(facts, program, unlike_settings):
            if node not in seen:
                seen.add(node)
                advice = "decide it by what hvd.allreduce() or hvd.broadcast_object() returns, on every rank"
                yield manual("HVD843", names, node, message, advice)
    files = keras_files(facts)
    for names in facts.files:
        for name in RATES if names in files else ():
            for attribute in names.attributes.get(name, ()):
                parent = names.parents.get(attribute)
                stored = isinstance(getattr(attribute, "ctx", None), ast.Store)
                assigned = isinstance(parent, ast.Attribute) and parent.attr == "assign"
                if (stored or assigned) and where_runs(facts, names, attribute) is Where.RANK_0:
                    message = "rank 0 alone sets this rate: the averaged gradients move each rank's weights by its own"
                    yield manual(
                        "HVD843", names, attribute, message, "set it on every rank, by the same number"
                    )


RULE = Rule(
    id="HVD843",
    title="a learning rate that one rank sets",
    what="After the next step the ranks have different weights, and stay apart; rank 0 saves its own.",
    why="Horovod averages gradients; each rank applies them by the rate of its own optimizer.",
    safety="Nothing is edited: where the number comes from on the other ranks is not known.",
    check=check,
    changes=(),
    keeps=(
        Keep(
            """\
            import horovod.tensorflow as hvd
            import tensorflow as tf

            hvd.init()
            optimizer = hvd.DistributedOptimizer(tf.keras.optimizers.SGD(0.1))
            if hvd.rank() == 0:
                optimizer.learning_rate = 0.01
            """,
            reason="rank 1 keeps 0.1",
            reported=True,
        ),
        Keep(
            """\
            import horovod.tensorflow as hvd
            import tensorflow as tf

            hvd.init()
            optimizer = hvd.DistributedOptimizer(tf.keras.optimizers.SGD(0.1))
            optimizer.learning_rate = 0.01
            if hvd.rank() == 0:
                print(optimizer.learning_rate)
            """,
            reason="every rank sets it",
        ),
    ),
)
