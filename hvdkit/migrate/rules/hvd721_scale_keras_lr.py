"""HVD721: the learning rate of a single-process Keras script, times the number of ranks."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.arguments import keyword
from hvdkit.migrate.facts.flow import Value
from hvdkit.migrate.names import Names
from hvdkit.migrate.plan import Edit, Finding
from hvdkit.migrate.rule import Change, Keep, Rule
from hvdkit.migrate.tensorflow_edits import PLAIN

OPTIMIZERS = "keras.optimizers."
SCALED = frozenset(f"hvdkit.{module}.scale_lr" for module in ("tensorflow", "tensorflow.keras"))


def check(facts: Facts) -> Iterator[Finding]:
    for site in facts.calls(OPTIMIZERS):
        names, call = site.names, site.node
        short = site.name.removeprefix(OPTIMIZERS)
        if (
            names not in facts.tf.files
            or facts.tf.strategic(names)
            or not short[:1].isupper()
            or "." in short
        ):
            continue
        rate = keyword(call, "learning_rate") or keyword(call, "lr") or (call.args[0] if call.args else None)
        if rate is None or facts.ranks.of(names, rate) & {"size"} or _has_size(facts, names, rate):
            continue
        if facts.flow.made(names, rate) & SCALED:
            continue
        if any(_is_schedule(facts, value) for value in facts.flow.values(names, rate)):
            continue
        message = "N ranks take N times the batch: the learning rate times hvd.size() (linear scaling)"
        yield facts.suggested("HVD721", names, rate, message, _edit, facts, names, rate)


def _is_schedule(facts: Facts, value: Value) -> bool:
    """Whether a rate is a schedule: by its name, or by what the project's own class derives from."""
    if value.kind not in ("made", "object"):
        return False
    own = facts.flow.bases(value) if value.kind == "object" else ()
    return any("schedule" in name.lower() for name in (value.name, *own))


def _has_size(facts: Facts, names: Names, rate: ast.expr) -> bool:
    return any(
        isinstance(node, ast.expr) and "size" in facts.ranks.of(names, node) for node in ast.walk(rate)
    )


def _edit(facts: Facts, names: Names, rate: ast.expr) -> list[Edit]:
    if facts.options.target == "hvdkit":
        return edits.wrap(names.source, rate, f"{facts.hvd(names)}.scale_lr(", ")")
    factor = f" * {facts.hvd(names)}.size()"
    if isinstance(rate, PLAIN):
        return edits.wrap(names.source, rate, "", factor)
    return edits.wrap(names.source, rate, "(", f"){factor}")


HEAD = """\
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
"""
HVD = "import horovod.tensorflow.keras as hvd\n"
FIT = "model.fit(data)\n"

RULE = Rule(
    id="HVD721",
    title="Keras learning rates scaled",
    what="Multiplies the learning rate of a single-process script's Keras optimizers by hvd.size().",
    why=(
        "Each rank keeps its batch size, so a step sees N times as many samples. Linear scaling, with a warm-up of some "
        "epochs, keeps the accuracy (Goyal et al. 2017, arXiv:1706.02677)."
    ),
    safety=(
        "Suggested: it changes what is computed, and the right factor depends on the model. A schedule is left as it is. A "
        "strategy's script says already how its rate depends on the replicas."
    ),
    check=check,
    changes=(
        Change(
            HEAD + "model.compile(tf.keras.optimizers.SGD(0.1), 'mse')\n" + FIT,
            HVD + HEAD + "model.compile(tf.keras.optimizers.SGD(0.1 * hvd.size()), 'mse')\n" + FIT,
            suggested=True,
        ),
        Change(
            HEAD + "model.compile(tf.optimizers.SGD(0.1), 'mse')\n" + FIT,
            HVD + HEAD + "model.compile(tf.optimizers.SGD(0.1 * hvd.size()), 'mse')\n" + FIT,
            suggested=True,
            note="TensorFlow's other name for the same optimizers.",
        ),
        Change(
            HEAD + "model.compile(tf.keras.optimizers.legacy.Adam(learning_rate=a.lr + b), 'mse')\n" + FIT,
            HVD
            + HEAD
            + "model.compile(tf.keras.optimizers.legacy.Adam(learning_rate=(a.lr + b) * hvd.size()), 'mse')\n"
            + FIT,
            suggested=True,
        ),
        Change(
            """\
            import tensorflow as tf

            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.compile(tf.keras.optimizers.SGD(0.1), "mse")
            model.fit(x, y)
            """,
            """\
            import hvdkit.tensorflow.keras as hvd
            import tensorflow as tf

            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.compile(tf.keras.optimizers.SGD(hvd.scale_lr(0.1)), "mse")
            model.fit(x, y)
            """,
            note="hvd.scale_lr.",
            target="hvdkit",
            suggested=True,
        ),
    ),
    keeps=(
        Keep(
            HVD + HEAD + "model.compile(tf.keras.optimizers.SGD(0.1 * hvd.size()), 'mse')\n" + FIT,
            reason="it is scaled already",
            suggested=True,
        ),
        Keep(
            HEAD + "rate = tf.keras.optimizers.schedules.ExponentialDecay(0.1, 100, 0.9)\n"
            "model.compile(tf.keras.optimizers.SGD(rate), 'mse')\n" + FIT,
            reason="a schedule's steps would have to change, too",
            suggested=True,
        ),
        Keep(
            HEAD
            + """\
class Linear(tf.keras.optimizers.schedules.LearningRateSchedule):
    def __call__(self, step):
        return 0.1 / step

model.compile(tf.keras.optimizers.SGD(Linear()), "mse")
"""
            + FIT,
            reason="a schedule of the script's own cannot be multiplied",
            suggested=True,
        ),
        Keep(
            HEAD
            + "strategy = tf.distribute.MirroredStrategy()\nmodel.compile(tf.keras.optimizers.SGD(0.1), 'mse')\n"
            + FIT,
            reason="the strategy's batch was that of all replicas",
            suggested=True,
        ),
        Keep(
            HEAD + "model.compile(tf.keras.optimizers.SGD(0.1), 'mse')\n" + FIT,
            reason="only with --suggested",
            reported=True,
        ),
    ),
)
