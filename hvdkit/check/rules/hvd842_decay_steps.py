"""HVD842: a schedule of Keras counts the steps of one process."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.check.keras import keras_programs
from hvdkit.migrate.catalog.finding import manual
from hvdkit.migrate.catalog.rule import Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.keras.model_calls import keras_calls
from hvdkit.migrate.facts.keras.vocabulary import SCHEDULES
from hvdkit.migrate.facts.launch.rank_kinds import rank_kinds
from hvdkit.migrate.facts.programs.programs import ProgramFacts
from hvdkit.migrate.facts.tensorflow.datasets import dataset_chains
from hvdkit.migrate.facts.tensorflow.own_shares import is_cut, is_own_part
from hvdkit.migrate.plan import Finding


def check(facts: Facts) -> Iterator[Finding]:
    seen = set()
    for program in keras_programs(facts):
        for site in facts.calls(*SCHEDULES) if _shares(facts, program) else ():
            if site.names in program.files and site.node not in seen:
                seen.add(site.node)
                if not rank_kinds(facts).inside(site.names, site.node, "size"):
                    message = (
                        "each rank takes only its share of the steps: the rate never reaches the end of this"
                    )
                    advice = "divide what it counts in steps of one process by hvd.size()"
                    yield manual("HVD842", site.names, site.node, message, advice)


def _shares(facts: Facts, program: ProgramFacts) -> bool:
    """Whether each rank of a program trains on its share, and so takes fewer steps than one process."""
    drawn = [dataset for dataset in dataset_chains(facts).training if dataset.names in program.files]
    fits = [call for call in keras_calls(facts) if call.method == "fit" and call.names in program.files]
    arrays = [(call.names, x) for call in fits if (x := call.argument("x")) is not None]
    return any(is_cut(facts, chain) for dataset in drawn for chain in dataset.chains) or any(
        is_own_part(facts, *array) for array in arrays
    )


RULE = Rule(
    id="HVD842",
    title="a schedule that counts the steps of one process",
    what="The rate ends at 1/N of its way: after as many epochs as before, each rank has made an N-th of the steps.",
    why="a schedule of Keras counts the updates of this process.",
    safety="Nothing is edited: hvdkit migrate divides the steps of a script that does not use Horovod yet.",
    check=check,
    changes=(),
    keeps=(
        Keep(
            """\
            import horovod.tensorflow.keras as hvd
            import numpy as np
            import tensorflow as tf

            hvd.init()
            x, y = np.ones((640, 4)), np.ones((640, 1))
            x, y = x[hvd.rank() :: hvd.size()], y[hvd.rank() :: hvd.size()]
            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            rate = tf.keras.optimizers.schedules.CosineDecay(0.1, decay_steps=20 * 80)
            model.compile(hvd.DistributedOptimizer(tf.keras.optimizers.SGD(rate)), "mse")
            model.fit(x, y, epochs=20, callbacks=[hvd.callbacks.BroadcastGlobalVariablesCallback(0)])
            """,
            reason="20 epochs are 20 * 80 / N steps now",
            reported=True,
        ),
        Keep(
            """\
            import horovod.tensorflow.keras as hvd
            import numpy as np
            import tensorflow as tf

            hvd.init()
            x, y = np.ones((640, 4)), np.ones((640, 1))
            x, y = x[hvd.rank() :: hvd.size()], y[hvd.rank() :: hvd.size()]
            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            rate = tf.keras.optimizers.schedules.CosineDecay(0.1, decay_steps=20 * 80 // hvd.size())
            model.compile(hvd.DistributedOptimizer(tf.keras.optimizers.SGD(rate)), "mse")
            model.fit(x, y, epochs=20, callbacks=[hvd.callbacks.BroadcastGlobalVariablesCallback(0)])
            """,
            reason="it counts the steps of a rank",
        ),
    ),
)
