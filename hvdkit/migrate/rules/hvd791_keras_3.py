"""HVD791: plain Horovod averages nothing under Keras 3: such programs are for --target hvdkit."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.migrate.catalog.finding import refused
from hvdkit.migrate.catalog.rule import Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.programs.keras_versions import (
    keras_2_calls,
    keras_versions,
    target_of,
)
from hvdkit.migrate.facts.programs.programs import programs_of
from hvdkit.migrate.facts.tensorflow.backends import other_backends
from hvdkit.migrate.plan import Finding

UNDER_KERAS_3 = (
    "under Keras 3 plain Horovod's tape and broadcast fail, and fit and train_on_batch accept its optimizer, "
    "which then averages nothing"
)


def check(facts: Facts) -> Iterator[Finding]:
    programs = [program for program in programs_of(facts) if other_backends(facts, program)]  # HVD792's
    elsewhere = frozenset().union(*(program.files for program in programs))
    keras_3 = {names: one for names, one in keras_versions(facts).items() if one.number == 3}
    plain = [
        one
        for names, one in keras_3.items()
        if target_of(facts, names) == "horovod" and names not in elsewhere
    ]
    for version in dict.fromkeys(plain):
        message = f"{version.said}: {UNDER_KERAS_3}"
        advice = "run `hvdkit migrate --target hvdkit`, whose optimizer and callbacks support Keras 2 and 3"
        yield refused("HVD791", version.names, version.node, message, advice)
    for version in dict.fromkeys(one for one in keras_3.values() if one.against):
        message = f"{version.against}, and {version.said}"
        advice = "migrated or not, the program stops there: install TensorFlow 2.16 or later"
        yield refused("HVD791", version.names, version.node, message, advice)
    for names, call, receiver, method in keras_2_calls(facts):
        if names in keras_3:
            made = [value for value in facts.flow.values(names, receiver) if value.kind == "made"]
            where = made[0] if len(made) == 1 else None  # there another one is chosen
            message = (
                f"{keras_3[names].said}, and Keras 3 has no {method}, which is called at {names.place(call)}"
            )
            advice = (
                "migrated or not, the program stops there: install tf-keras, and set TF_USE_LEGACY_KERAS=1"
            )
            yield refused(
                "HVD791", where.names if where else names, where.node if where else call, message, advice
            )


RULE = Rule(
    id="HVD791",
    title="Keras 3 needs hvdkit's optimizer",
    what=(
        "Refuses --target horovod for programs that run on Keras 3: by keras.ops, keras.random, an optimizer's "
        "apply() or KERAS_BACKEND in the code, by TensorFlow 2.16 or Keras 3 in requirements.txt without tf-keras, or, "
        "where nothing says a version, by the Keras that is installed where migrate runs. Where no target is asked "
        "for, such programs are written in hvdkit's form. Code of one of the two where the other is installed or required "
        "(minimize and fit_generator are Keras 2's, apply and keras.ops Keras 3's) is refused for either target."
    ),
    why=(
        "Keras 3 accepts Horovod's optimizer, and never calls its reduction: fit runs, and every rank "
        "trains a different model; Horovod's tape and broadcast stop at the first step. Measured with Horovod "
        "0.28.1 and TensorFlow 2.18."
    ),
    safety="Nothing is edited in any file of a refused program. --target hvdkit migrates it.",
    check=check,
    changes=(),
    keeps=(
        Keep(
            """\
            import keras

            model = keras.Sequential([keras.layers.Dense(1)])
            model.compile(loss=lambda y, p: keras.ops.mean(y - p))
            model.fit(x, y)
            """,
            reason="keras.ops is Keras 3's",
            reported=True,
        ),
        Keep(
            """\
            import tensorflow as tf

            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.fit(x, y)
            """,
            reason="the Keras version is unknown: HVD701 reports it where Horovod starts",
            files=(("requirements.txt", "tensorflow>=2.15\n"),),
        ),
    ),
)
