"""HVD895: callbacks that decide by a metric, each rank by its own, or some ranks alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.check.horovod import mentioned
from hvdkit.check.keras import callbacks, keras_programs, listed
from hvdkit.job.columns import RANKS
from hvdkit.migrate.catalog.finding import manual
from hvdkit.migrate.catalog.rule import Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.facts import Site
from hvdkit.migrate.facts.programs.paper_runs import ranks_that_come
from hvdkit.migrate.plan import Finding

SAME = ("MetricAverageCallback", "allreduce", "on_epoch_end")
OWN = (
    "each rank decides by its own metric: one stops, or slows down, and the others do not",
    "put hvd.callbacks.MetricAverageCallback() before it in the list",
)
SOME = (
    "only some ranks have this callback: they stop, or slow down, and the others do not",
    "give it to every rank, behind hvd.callbacks.MetricAverageCallback()",
)


def check(facts: Facts) -> Iterator[Finding]:
    seen = set()
    for program in keras_programs(facts):
        averaged = mentioned(program, *SAME)
        for site in callbacks(facts, program, "EarlyStopping", "ReduceLROnPlateau"):
            text = SOME if _is_of_some(facts, site) else None if averaged else OWN
            if text is not None and site.node not in seen:
                seen.add(site.node)
                yield manual("HVD895", site.names, site.node, *text)


def _is_of_some(facts: Facts, site: Site) -> bool:
    """Whether some ranks come to where it is made and put into a list, and others do not."""
    places = [site.node, *(site.names.parents.get(use) for use in listed(site.names, site.node))]
    come = [ranks_that_come(facts, site.names, place) for place in places if isinstance(place, ast.Call)]
    return any(ranks and len(ranks) < len(RANKS) for ranks in come)


RULE = Rule(
    id="HVD895",
    title="EarlyStopping or ReduceLROnPlateau without MetricAverageCallback, or on some ranks alone",
    what=(
        "EarlyStopping ends one rank an epoch before the others, which then block forever. ReduceLROnPlateau "
        "gives the ranks different learning rates, and so different weights."
    ),
    why="Keras computes metrics in each process; Horovod averages them only with MetricAverageCallback.",
    safety="Nothing is edited: the callback has to come before those that read the metrics.",
    check=check,
    changes=(),
    keeps=(
        Keep(
            """\
            import horovod.tensorflow.keras as hvd
            import tensorflow as tf

            hvd.init()
            model.compile(hvd.DistributedOptimizer(tf.keras.optimizers.Adam()), "mse")
            callbacks = [tf.keras.callbacks.EarlyStopping(monitor="loss")]
            model.fit(data, callbacks=callbacks)
            """,
            reason="the loss is each rank's own",
            reported=True,
        ),
        Keep(
            """\
            import horovod.tensorflow.keras as hvd
            import tensorflow as tf

            hvd.init()
            model.compile(hvd.DistributedOptimizer(tf.keras.optimizers.Adam()), "mse")
            callbacks = [hvd.callbacks.MetricAverageCallback(), tf.keras.callbacks.EarlyStopping(monitor="loss")]
            model.fit(data, callbacks=callbacks)
            """,
            reason="the metrics are averaged first",
        ),
    ),
)
