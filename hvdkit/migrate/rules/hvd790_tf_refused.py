"""HVD790: TensorFlow programs that have no counterpart in Horovod are left as they are."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate.catalog.finding import refused
from hvdkit.migrate.catalog.rule import Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.code.library_uses import mentions
from hvdkit.migrate.facts.keras import vocabulary as words
from hvdkit.migrate.facts.keras.mentions import tensorflow_files
from hvdkit.migrate.facts.programs.programs import files_with, kinds_of, programs_of, programs_with
from hvdkit.migrate.facts.programs.tensorflow_programs import mirrored_strategies
from hvdkit.migrate.plan import Finding
from hvdkit.source.index.names import Names

GRADIENTS = (
    "apply_gradients",
    "compute_gradients",
    "fit",
    "GradientTape",
    "gradients",
    "minimize",
    "train_on_batch",
)


def check(facts: Facts) -> Iterator[Finding]:
    if not tensorflow_files(facts):
        return
    seen: set[ast.AST] = set()
    for names, node, qualified, match in mentions(facts, tuple(words.REFUSED)):
        horovod = {"tf-horovod", "horovod"} & kinds_of(facts, names)
        if node in seen or horovod or _beside_torch(facts, names):
            continue
        if match.endswith("Session") and not _trains(facts, names):
            continue  # a session that converts or runs a model stays in its one process
        seen.add(node)
        message = f"{qualified} has no counterpart in Horovod: {words.REFUSED[match]}"
        advice = "write the training with Keras' fit or a GradientTape loop, or stay with what it uses"
        yield refused("HVD790", names, node, message, advice)
    for names, node in mirrored_strategies(facts).strange:
        text = names.source.segment(node)
        message = f"what to do with {text} without the strategy is not known"
        advice = "remove this use of the strategy first, or write what rank 0 of the job should do here"
        yield refused("HVD790", names, node, message, advice)


def _trains(facts: Facts, names: Names) -> bool:
    """Whether a program of a file computes gradients, or lets others do it."""
    files = files_with(facts, names)
    return any(file.attributes.get(word) for file in files or {names} for word in GRADIENTS)


def _beside_torch(facts: Facts, names: Names) -> bool:
    """Whether a file belongs to a program that trains with torch, or only shares files with one."""
    trained = [program.files for program in programs_of(facts) if program.migrates]
    mine = [program.files for program in programs_with(facts, names)]
    return any(files & others for files in mine for others in trained)


RULE = Rule(
    id="HVD790",
    title="no counterpart in Horovod",
    what=(
        "Leaves alone programs that use TPUs, parameter servers, Estimators, TensorFlow 1 sessions, Keras "
        "Tuner, the Model Garden or TF-Agents, and those that use a strategy in a way that no rule handles."
    ),
    why="No edit of the script reaches a loop that a library owns, and Horovod has no servers and no TPUs.",
    safety="Nothing is edited in any file of the program.",
    check=check,
    changes=(),
    keeps=(
        Keep(
            """\
            import tensorflow as tf

            with tf.Graph().as_default(), tf.compat.v1.Session() as session:
                weights = [tf.Variable(tf.train.load_variable("old.ckpt", name)) for name in names]
                session.run(tf.compat.v1.global_variables_initializer())
                tf.compat.v1.train.Saver(weights).save(session, "new.ckpt")
            """,
            reason="it converts weights, and trains nothing",
        ),
        Keep(
            """\
            import tensorflow as tf

            resolver = tf.distribute.cluster_resolver.TPUClusterResolver()
            strategy = tf.distribute.TPUStrategy(resolver)
            with strategy.scope():
                model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.fit(data)
            """,
            reason="a TPU is driven by one process",
            reported=True,
        ),
    ),
)
