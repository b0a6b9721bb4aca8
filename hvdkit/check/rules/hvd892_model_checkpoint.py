"""HVD892: every rank of a Keras job writes the same checkpoint."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.check.horovod import every_rank_certainly
from hvdkit.check.keras import callbacks, keras_programs, listed
from hvdkit.migrate.catalog.finding import manual
from hvdkit.migrate.catalog.rule import Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.launch.rank_kinds import rank_kinds
from hvdkit.migrate.plan import Finding


def check(facts: Facts) -> Iterator[Finding]:
    seen = set()
    for program in keras_programs(facts):
        for site in callbacks(facts, program, "ModelCheckpoint"):
            path = [*site.node.args, *(keyword.value for keyword in site.node.keywords)]
            if site.node in seen or any(rank_kinds(facts).inside(site.names, part) for part in path):
                continue
            if all(every_rank_certainly(facts, site.names, place) for place in listed(site.names, site.node)):
                seen.add(site.node)
                message = "every rank writes this file at the same time: the result may be corrupt"
                advice = "append the callback to the list under `if hvd.rank() == 0:`"
                yield manual("HVD892", site.names, site.node, message, advice)


RULE = Rule(
    id="HVD892",
    title="ModelCheckpoint on every rank",
    what="The ranks write the same file at the same time. Usually the last one wins; sometimes the file is unreadable.",
    why="a callback that is in every rank's list runs on every rank.",
    safety="Nothing is edited: the callback must be removed from the list that all ranks use.",
    check=check,
    changes=(),
    keeps=(
        Keep(
            """\
            import horovod.tensorflow.keras as hvd
            import tensorflow as tf

            hvd.init()
            model.compile(hvd.DistributedOptimizer(tf.keras.optimizers.Adam()), "mse")
            callbacks = [
                hvd.callbacks.BroadcastGlobalVariablesCallback(0),
                tf.keras.callbacks.ModelCheckpoint("model.h5"),
            ]
            model.fit(data, callbacks=callbacks)
            """,
            reason="it is in every rank's list",
            reported=True,
        ),
        Keep(
            """\
            import horovod.tensorflow.keras as hvd
            import tensorflow as tf

            hvd.init()
            model.compile(hvd.DistributedOptimizer(tf.keras.optimizers.Adam()), "mse")
            callbacks = [hvd.callbacks.BroadcastGlobalVariablesCallback(0)]
            saver = tf.keras.callbacks.ModelCheckpoint("model.h5")
            if hvd.rank() == 0:
                callbacks.append(saver)
                callbacks.append(tf.keras.callbacks.ModelCheckpoint("best.h5", save_best_only=True))
            model.fit(data, callbacks=callbacks)
            """,
            reason="only rank 0 has it in its list",
        ),
    ),
)
