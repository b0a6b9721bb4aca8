"""HVD791: plain Horovod averages nothing under Keras 3: such programs are for --target hvdkit."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate.catalog.finding import refused
from hvdkit.migrate.catalog.rule import Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.code.library_uses import mentions
from hvdkit.migrate.facts.keras.applied import applied_gradients
from hvdkit.migrate.facts.keras.keras_version import pinned
from hvdkit.migrate.facts.programs.programs import programs_of
from hvdkit.migrate.facts.programs.tensorflow_programs import migrating_files
from hvdkit.migrate.facts.tensorflow.backends import BACKEND, other_backends
from hvdkit.migrate.index.names import Names
from hvdkit.migrate.plan import Finding

# What only Keras 3 has.
ONLY_KERAS_3 = (
    "keras.ops.",
    "keras.random.",
    "keras.distribution.",
    "keras.KerasTensor",
    "keras.StatelessScope",
)


def check(facts: Facts) -> Iterator[Finding]:
    if facts.options.target != "horovod":
        return
    programs = [program for program in programs_of(facts) if other_backends(facts, program)]  # HVD792's
    elsewhere = frozenset().union(*(program.files for program in programs))
    for names in migrating_files(facts):
        if names in elsewhere:
            continue
        sign = _sign(facts, names)
        if sign is None:
            continue
        node, what = sign
        message = f"{what}: Keras 3 accepts plain Horovod's DistributedOptimizer, which then averages nothing"
        advice = "run `hvdkit migrate --target hvdkit`, whose optimizer and callbacks support Keras 2 and 3"
        yield refused("HVD791", names, node, message, advice)


def _sign(facts: Facts, names: Names) -> tuple[ast.AST, str] | None:
    """The first thing that says that a file runs on Keras 3."""
    for where, node, qualified, _ in mentions(facts, ONLY_KERAS_3):
        if where is names:
            return node, f"{qualified} is Keras 3's"
    for step in applied_gradients(facts):
        if step.names is names and getattr(step.node.func, "attr", "") == "apply":
            return step.node, "an optimizer's apply() is Keras 3's"
    for constant in names.texts.get(BACKEND, ()):
        return constant, "KERAS_BACKEND is Keras 3's"
    version, said = pinned(names)
    return (names.source.tree.body[0], said) if version == 3 else None


RULE = Rule(
    id="HVD791",
    title="Keras 3 needs hvdkit's optimizer",
    what=(
        "Refuses the plain target for programs that show that they run on Keras 3: keras.ops, keras.random, "
        "an optimizer's apply(), KERAS_BACKEND, or a requirements.txt with TensorFlow 2.16 or Keras 3 and no tf-keras."
    ),
    why=(
        "Keras 3 accepts Horovod's optimizer, and never calls its reduction: fit runs, and every rank "
        "trains a different model. Measured with Horovod 0.28.1 and TensorFlow 2.18."
    ),
    safety="Nothing is edited in any file of the program. --target hvdkit migrates it.",
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
            reason="the Keras version is unknown: HVD712 reports it where it wraps the optimizer",
            files=(("requirements.txt", "tensorflow>=2.15\n"),),
        ),
    ),
)
