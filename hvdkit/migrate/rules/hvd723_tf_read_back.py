"""HVD723: what rank 0 of a TensorFlow program has written is read when it is there."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.migrate.catalog.finding import manual, safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.programs.tensorflow_programs import only_started
from hvdkit.migrate.facts.tensorflow.read_back import read_back
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rewrites.tensorflow import before, meeting
from hvdkit.migrate.values.binding_order import passed_once


def check(facts: Facts) -> Iterator[Finding]:
    for read in read_back(facts):
        names, statement = read.names, passed_once(read.names, read.node)
        line = meeting(facts, names)
        if statement is not None and only_started(facts, names):
            message = "all ranks wait until rank 0 has written what is read here"
            yield safe(facts, "HVD723", names, statement, message, before, facts, names, statement, [line])
        else:
            message = f"rank 0 writes what is read here (line {names.line(read.written)}), and the others do not wait for it"
            advice = f"write `{line}` between the two, where every rank passes it"
            yield manual("HVD723", names, read.node, message, advice)


RULE = Rule(
    id="HVD723",
    title="reading back what rank 0 has written",
    what=(
        "Puts hvd.broadcast(0, root_rank=0), which no rank leaves before rank 0 has reached it, above a "
        "load_model, load_weights, restore, np.load, Image.open or cv2.imread of the path that the program "
        "has written further up: itself, or by a ModelCheckpoint in fit. horovod.tensorflow has no barrier."
    ),
    why="Only rank 0 writes now: the others would read a file that is partial, missing, or the previous one.",
    safety=(
        "Safe: only where every rank passes it once, outside tests and loops; elsewhere it is reported. "
        "Paths are compared as written, with constant variables replaced by their value."
    ),
    check=check,
    changes=(
        Change(
            """\
            import tensorflow as tf

            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.compile("sgd", "mse")
            model.fit(x, y)
            model.save_weights("m.h5")
            model.load_weights("m.h5")
            """,
            """\
            import horovod.tensorflow.keras as hvd
            import tensorflow as tf

            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.compile("sgd", "mse")
            model.fit(x, y)
            model.save_weights("m.h5")
            hvd.broadcast(0, root_rank=0)
            model.load_weights("m.h5")
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import tensorflow as tf

            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.compile("sgd", "mse")
            model.load_weights("m.h5")
            model.fit(x, y)
            model.save_weights("m.h5")
            """,
            reason="it reads what was there before",
        ),
    ),
)
