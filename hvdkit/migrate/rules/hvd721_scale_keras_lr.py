"""HVD721: the learning rate of a single-process Keras script, times the number of ranks."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.values.arguments import keyword, unpacks
from hvdkit.migrate.facts.values.value import Value
from hvdkit.migrate.names import Names
from hvdkit.migrate.plan import Edit, Finding
from hvdkit.migrate.rule import Change, Keep, Rule
from hvdkit.migrate.tensorflow_edits import ASKED, RATES, own_rate, scaled, scaled_by_name

OPTIMIZERS = "keras.optimizers."
MESSAGE = "N ranks take N times the batch: the learning rate times hvd.size() (linear scaling)"
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
        if rate is None and not unpacks(call) and getattr(names.parents[call], "attr", "") != "get_config":
            yield from _default(facts, names, call, short)
        if rate is None or facts.ranks.of(names, rate) & {"size"} or _has_size(facts, names, rate):
            continue
        if facts.flow.made(names, rate) & SCALED:
            continue
        if any(_is_schedule(facts, value) for value in facts.flow.values(names, rate)):
            continue
        yield facts.suggested("HVD721", names, rate, MESSAGE, _edit, facts, names, rate)
    for compiled in facts.tf.compiles():
        names, optimizer = compiled.names, compiled.argument("optimizer")
        text = scaled_by_name(facts, names, optimizer)
        if optimizer is not None and text is not None:
            yield facts.suggested(
                "HVD721", names, optimizer, MESSAGE, edits.replace, names.source, optimizer, text
            )


def _default(facts: Facts, names: Names, call: ast.Call, short: str) -> Iterator[Finding]:
    """The rate that Keras takes where none is given; asked for where its versions differ."""
    _, rate = RATES.get(short.lower(), ("", None))
    own: float | str | None = rate
    said = f"Keras' own is {rate}"
    if short in ASKED.values() and all(
        isinstance(part, (ast.Name, ast.Attribute, ast.Load)) for part in ast.walk(call.func)
    ):
        own = own_rate(ast.unparse(call.func))
        said = "Keras' own is asked for, as it has changed between its versions"
    if own is not None:
        written = f"learning_rate={scaled(facts, names, own)}"
        add = edits.add_arguments
        yield facts.suggested("HVD721", names, call, f"{MESSAGE}; {said}", add, names.source, call, [written])


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
    return edits.times(names.source, rate, f"{facts.hvd(names)}.size()")


HEAD = """\
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
"""
HVD = "import horovod.tensorflow.keras as hvd\n"
FIT = "model.fit(data)\n"

RULE = Rule(
    id="HVD721",
    title="Keras learning rates scaled",
    what=(
        "Multiplies the learning rate of a single-process script's Keras optimizers by hvd.size(). Where none is given, and "
        'for names such as "adam", it is the one that Keras takes, which an optimizer without a rate tells in '
        "get_config()."
    ),
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
            HEAD + "optimizer = tf.keras.optimizers.Adam(epsilon=1e-7)\nmodel.compile('SGD', 'mse')\n" + FIT,
            HVD
            + HEAD
            + "optimizer = tf.keras.optimizers.Adam(epsilon=1e-7, learning_rate=0.001 * hvd.size())\n"
            + "model.compile(tf.keras.optimizers.SGD(0.01 * hvd.size()), 'mse')\n"
            + FIT,
            suggested=True,
            note="What Keras takes where no rate is given.",
        ),
        Change(
            HEAD + "model.compile(tf.keras.optimizers.Adadelta(), 'mse')\n" + FIT,
            HVD
            + HEAD
            + "model.compile(tf.keras.optimizers.Adadelta(learning_rate=tf.keras.optimizers.Adadelta()"
            + ".get_config()[\"learning_rate\"] * hvd.size()), 'mse')\n"
            + FIT,
            suggested=True,
            note="What it takes has changed between the versions of Keras: it is asked of one that is made for it.",
        ),
        Change(
            HEAD + "from keras.optimizers import Nadam\nmodel.compile(Nadam(beta_1=0.8), 'mse')\n" + FIT,
            HVD
            + HEAD
            + "from keras.optimizers import Nadam\n"
            + "model.compile(Nadam(beta_1=0.8, learning_rate=Nadam().get_config()[\"learning_rate\"] * hvd.size()), 'mse')\n"
            + FIT,
            suggested=True,
        ),
        Change(
            HEAD + "model.compile('adagrad', 'mse')\n" + FIT,
            HVD
            + HEAD
            + "model.compile(tf.keras.optimizers.Adagrad(tf.keras.optimizers.Adagrad()"
            + ".get_config()[\"learning_rate\"] * hvd.size()), 'mse')\n"
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
            HEAD
            + "rate = tf.keras.optimizers.schedules.ExponentialDecay(0.1, 100, 0.9)\n"
            + "model.compile(tf.keras.optimizers.Adadelta(rate), 'mse')\n"
            + FIT,
            reason="a schedule is a rate, too: its steps would have to change",
            suggested=True,
        ),
        Keep(
            HEAD
            + "strategy = tf.distribute.MirroredStrategy()\nmodel.compile(tf.keras.optimizers.Adadelta(), 'mse')\n"
            + FIT,
            reason="the strategy's batch was that of all replicas, and the rate was Keras' own for it",
            suggested=True,
        ),
        Keep(
            HEAD + "model.compile(tf.keras.optimizers.Adadelta(**settings), 'mse')\n" + FIT,
            reason="a rate may be among the settings",
            suggested=True,
        ),
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
