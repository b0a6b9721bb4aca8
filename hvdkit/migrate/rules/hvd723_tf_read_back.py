"""HVD723: what rank 0 of a TensorFlow program has written is read when it is there."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.tensorflow.reading import read_back
from hvdkit.migrate.facts.values.order import passed_once
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rule import Change, Keep, Rule
from hvdkit.migrate.tensorflow_edits import before, meeting


def check(facts: Facts) -> Iterator[Finding]:
    for read in read_back(facts):
        names, statement = read.names, passed_once(read.names, read.node)
        line = meeting(facts, names)
        if statement is not None and facts.tf.only_started(names):
            message = "all ranks wait until rank 0 has written what is read here"
            yield facts.safe("HVD723", names, statement, message, before, facts, names, statement, [line])
        else:
            message = f"rank 0 writes what is read here (line {names.line(read.written)}), and the others do not wait for it"
            advice = f"write `{line}` between the two, where every rank passes it"
            yield facts.manual("HVD723", names, read.node, message, advice)


HEAD = """\
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
"""
HVD = "import horovod.tensorflow.keras as hvd\n"

RULE = Rule(
    id="HVD723",
    title="reading back what rank 0 has written",
    what=(
        "Puts hvd.broadcast(0, root_rank=0), which no rank leaves before rank 0 has come to it, above a load_model, "
        "load_weights, restore, np.load, Image.open or cv2.imread of the path that the program has written further up: "
        "itself, or by a ModelCheckpoint in fit. horovod.tensorflow has no barrier of its own."
    ),
    why="Rank 0 alone writes now: the others would read a file that is half written, missing, or the one before it.",
    safety=(
        "Safe: only where every rank passes it once, outside of tests and loops; elsewhere it is told. Paths are compared as "
        "they are written, with variables of one value replaced by it."
    ),
    check=check,
    changes=(
        Change(
            HEAD + 'model.fit(x, y)\nmodel.save_weights("m.h5")\nmodel.load_weights("m.h5")\n',
            HVD
            + HEAD
            + 'model.fit(x, y)\nmodel.save_weights("m.h5")\nhvd.broadcast(0, root_rank=0)\nmodel.load_weights("m.h5")\n',
        ),
        Change(
            HEAD
            + """\
path = "best.keras"
best = tf.keras.callbacks.ModelCheckpoint(path, save_best_only=True)
model.fit(x, y, callbacks=[best])
model = tf.keras.models.load_model(path)
""",
            HVD
            + HEAD
            + """\
path = "best.keras"
best = tf.keras.callbacks.ModelCheckpoint(path, save_best_only=True)
model.fit(x, y, callbacks=[best])
hvd.broadcast(0, root_rank=0)
model = tf.keras.models.load_model(path)
""",
            note="fit writes it, on rank 0.",
        ),
        Change(
            """\
            import os
            import tensorflow as tf

            folder = "ckpt"
            checkpoint = tf.train.Checkpoint(model=model)

            def train():
                for x in data:
                    with tf.GradientTape() as tape:
                        loss = model(x)
                    optimizer.apply_gradients(zip(tape.gradient(loss, model.variables), model.variables))
                checkpoint.save(os.path.join(folder, "c"))

            train()
            checkpoint.restore(tf.train.latest_checkpoint(folder))
            """,
            """\
            import os
            import horovod.tensorflow as hvd
            import tensorflow as tf

            folder = "ckpt"
            checkpoint = tf.train.Checkpoint(model=model)

            def train():
                for x in data:
                    with tf.GradientTape() as tape:
                        loss = model(x)
                    optimizer.apply_gradients(zip(tape.gradient(loss, model.variables), model.variables))
                checkpoint.save(os.path.join(folder, "c"))

            train()
            hvd.broadcast(0, root_rank=0)
            checkpoint.restore(tf.train.latest_checkpoint(folder))
            """,
            note="The newest checkpoint, of a save that a function above makes.",
        ),
        Change(
            HEAD + 'model.fit(x, y)\nmodel.save("m.keras")\nmodel = tf.keras.models.load_model("m.keras")\n',
            "import hvdkit.tensorflow.keras as hvd\n"
            + HEAD
            + 'model.fit(x, y)\nmodel.save("m.keras")\nhvd.average(0)\nmodel = tf.keras.models.load_model("m.keras")\n',
            target="hvdkit",
        ),
    ),
    keeps=(
        Keep(
            HEAD
            + """\
for fold in range(3):
    model.fit(x, y)
    model.save_weights(f"{fold}.h5")
    model.load_weights(f"{fold}.h5")
""",
            reason="in a loop, or under a test, it is told",
            reported=True,
        ),
        Keep(
            HEAD + 'model.load_weights("m.h5")\nmodel.fit(x, y)\nmodel.save_weights("m.h5")\n',
            reason="it reads what was there before",
        ),
        Keep(
            HEAD + 'model.fit(x, y)\nmodel.save_weights("m.h5")\nmodel.load_weights("first.h5")\n',
            reason="it is another file",
        ),
        Keep(
            HEAD
            + """\
if args.mode == "train":
    model.fit(x, y)
    model.save_weights("m.h5")
if args.mode == "test":
    model.load_weights("m.h5")
""",
            reason="one run does only one of them",
        ),
        Keep(
            HEAD
            + """\
if train:
    model.fit(x, y)
    model.save_weights("m.h5")
else:
    model.load_weights("m.h5")
""",
            reason="so here",
        ),
        Keep(
            HEAD
            + """\
for part in ("one", "two"):
    model.fit(x, y)
    model.save_weights("m.h5")
model.fit(x, y)
model.load_weights("m.h5")
""",
            reason="all ranks have met in fit since",
        ),
        Keep(
            HVD
            + HEAD
            + """\
model.fit(x, y)
if hvd.rank() == 0:
    model.save_weights("m.h5")
    model.load_weights("m.h5")
""",
            reason="rank 0 alone reads it",
        ),
    ),
)
