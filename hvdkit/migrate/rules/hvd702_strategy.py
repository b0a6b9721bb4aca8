"""HVD702: a mirrored strategy goes; Horovod's ranks take the place of its replicas."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import required
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts, Site
from hvdkit.migrate.facts.keras.strategies import plain_variable
from hvdkit.migrate.facts.programs.tensorflow_programs import mirrored_strategies
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rewrites.tensorflow import placed, tf
from hvdkit.source.edits import Edit


def check(facts: Facts) -> Iterator[Finding]:
    strategies = mirrored_strategies(facts)
    made = {site.node for site in strategies.made}
    handed = any(node not in made for _, node in strategies.handed)
    for site in strategies.made:
        short = site.name.rpartition(".")[2]
        message = f"the ranks of the job replace the replicas of {short}"
        yield required(facts, "HVD702", site.names, site.node, message, _edit, facts, site, handed)


def _edit(facts: Facts, site: Site, handed: bool) -> list[Edit]:
    names = site.names
    statement = plain_variable(names, site.node)
    if statement is None or handed:
        return [edits.replace(names.source, site.node, f"{tf(names)}.distribute.get_strategy()")]
    return placed(facts, names, statement, [edits.delete(names, statement)])


RULE = Rule(
    id="HVD702",
    title="mirrored strategies are removed",
    what=(
        "Removes tf.distribute.MirroredStrategy, MultiWorkerMirroredStrategy and OneDeviceStrategy. Where "
        "the strategy is passed to functions or kept in objects, TensorFlow's default strategy replaces it, "
        "which has one replica and changes nothing."
    ),
    why="A process of a Horovod job works on one device: a strategy inside it would take all of them.",
    safety="Safe with HVD703 to HVD709, which rewrite every use; a program with any other use is refused (HVD790).",
    check=check,
    changes=(
        Change(
            """\
            import tensorflow as tf

            if several_hosts:
                strategy = tf.distribute.experimental.MultiWorkerMirroredStrategy()
            else:
                strategy = tf.distribute.MirroredStrategy()
            with strategy.scope():
                model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.fit(data)
            """,
            """\
            import tensorflow as tf

            if several_hosts:
                pass
            else:
                pass
            with strategy.scope():
                model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.fit(data)
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import tensorflow as tf

            strategy = tf.distribute.MirroredStrategy()
            with strategy.scope():
                model = tf.keras.models.load_model("model.h5")
            print(model.predict(x))
            """,
            reason="nothing is trained: prediction may well use all GPUs of the host",
        ),
    ),
)
