"""The text of a generated TensorFlow program: it fits 32 of 40 samples and holds 8 back."""

from __future__ import annotations

from truth.tf.choices import Choices

SAMPLES, TRAINED, BATCH = 40, 32, 4
EPOCHS, MORE_EPOCHS = 2, 1
COUNTED = 4  # steps of an epoch, where a program counts them
HEAD = """\
import argparse
import json
import os

import numpy as np
import tensorflow as tf
from tensorflow import keras

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=2)
parser.add_argument("--in-order", action="store_true")
args = parser.parse_args()
"""
SEED = """\
np.random.seed(1)
tf.random.set_seed(1)
"""
EVERY = f"""\
x = np.arange({SAMPLES}, dtype="float32").reshape({SAMPLES}, 1) / {SAMPLES}
y = 3 * x + 1
"""
CUT = f"""\
x_train, y_train, x_held, y_held = x[:{TRAINED}], y[:{TRAINED}], x[{TRAINED}:], y[{TRAINED}:]
"""
ORDERED = "x, y = x[order], y[order]\n" + CUT
HELD = "held = tf.data.Dataset.from_tensor_slices((x_held, y_held)).batch(BATCH)\n"
SOURCE = "tf.data.Dataset.from_tensor_slices((x_train, y_train))"
DATA = {
    "arrays": CUT,
    "permuted": f"order = np.random.permutation({SAMPLES})\n" + ORDERED,
    "seeded-order": f"order = np.random.RandomState(3).permutation({SAMPLES})\n" + ORDERED,
    "masked": f"""\
kept = np.random.rand({SAMPLES}) < 0.8
x_train, y_train, x_held, y_held = x[kept], y[kept], x[~kept], y[~kept]
""",
    "pipeline": f"{CUT}train = {SOURCE}.shuffle({TRAINED}).batch(BATCH)\n{HELD}",
    "mapped": f"""\
{CUT}train = {SOURCE}.map(lambda a, b: (a * 1.0, b)).cache().shuffle({TRAINED}).batch(BATCH).prefetch(1)
{HELD}""",
    "helper": f"""\
def pipeline(inputs, targets, training):
    data = tf.data.Dataset.from_tensor_slices((inputs, targets))
    if training:
        data = data.shuffle({TRAINED})
    return data.batch(BATCH)


{CUT}train = pipeline(x_train, y_train, True)
held = pipeline(x_held, y_held, False)
""",
    "two-ways": f"""\
{CUT}train = {SOURCE}
if not args.in_order:
    train = train.shuffle({TRAINED})
train = train.batch(BATCH)
{HELD}""",
    "shuffled-first": f"""\
every = tf.data.Dataset.from_tensor_slices((x, y)).shuffle({SAMPLES}, reshuffle_each_iteration=False)
train, held = every.take({TRAINED}).batch(BATCH), every.skip({TRAINED}).batch(BATCH)
""",
    "seeded-first": f"""\
every = tf.data.Dataset.from_tensor_slices((x, y)).shuffle({SAMPLES}, seed=7, reshuffle_each_iteration=False)
train, held = every.take({TRAINED}).batch(BATCH), every.skip({TRAINED}).batch(BATCH)
""",
    "generated": f"""\
{CUT}

def rows():
    for inputs, targets in zip(x_train, y_train):
        yield inputs, targets


shapes = (tf.TensorSpec((1,), tf.float32), tf.TensorSpec((1,), tf.float32))
train = tf.data.Dataset.from_generator(rows, output_signature=shapes).batch(BATCH)
{HELD}""",
    "sequence": f"""\
{CUT}

class Batches(keras.utils.Sequence):
    def __len__(self):
        return len(x_train) // BATCH

    def __getitem__(self, number):
        rows = slice(number * BATCH, (number + 1) * BATCH)
        return x_train[rows], y_train[rows]


train = Batches()
{HELD}""",
}
LAYERS = 'keras.layers.Dense(4, activation="tanh"), keras.layers.Dense(1)'
NET = """\
class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden, self.last = keras.layers.Dense(4, activation="tanh"), keras.layers.Dense(1)

    def call(self, inputs):
        return self.last(self.hidden(inputs))
"""
PARTS = """\
class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.encoder = keras.Sequential([keras.layers.Dense(4, activation="tanh")])
        self.decoder = keras.Sequential([keras.layers.Dense(1)])

    def call(self, inputs):
        return self.decoder(self.encoder(inputs))
"""
TRAIN_STEP = """
    def train_step(self, data):
        inputs, targets = data
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((self(inputs, training=True) - targets) ** 2)
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        return {"loss": loss}

    def test_step(self, data):
        inputs, targets = data
        return {"loss": tf.reduce_mean((self(inputs, training=False) - targets) ** 2)}
"""
FUNCTIONAL = """\
def network():
    inputs = keras.Input((1,))
    hidden = keras.layers.Dense(4, activation="tanh")(inputs)
    return keras.Model(inputs, keras.layers.Dense(1)(hidden))
"""
MADE = {
    "sequential": f"keras.Sequential([{LAYERS}])",
    "functional": "network()",
    "subclass": "Net()",
    "two-parts": "Net()",
}
OPTIMIZERS = {
    "object": "keras.optimizers.SGD(0.05)",
    "name": '"sgd"',
    "adam": "keras.optimizers.Adam(learning_rate=0.01)",
    "schedule": "keras.optimizers.SGD(keras.optimizers.schedules.ExponentialDecay(0.05, 8, 0.9))",
    "clipped": "keras.optimizers.SGD(0.05, clipnorm=1.0)",
}
SAVED = {"weights": "model.weights.h5", "model": "model.keras", "checkpoint": "model.ckpt"}


def program(choices: Choices) -> str:
    """The script."""
    parts = [HEAD]
    if choices["seed"] == "all-alike":
        parts.append(SEED)
    if choices["strategy"] == "mirrored":
        parts.append(
            "strategy = tf.distribute.MirroredStrategy()\nBATCH = 4 * strategy.num_replicas_in_sync\n"
        )
    else:
        parts.append(f"BATCH = {BATCH}\n")
    parts += [EVERY + DATA[choices["data"]], _classes(choices)]
    if choices["again"] == "defined-again":
        first = _loop(choices, "critic", "second")
        made = [f"critic = {MADE[choices['model']]}", f"second = {_optimizer(choices)}"]
        parts.append("\n".join([*made, *first]) + "\n")
    return "\n\n".join(part for part in (*parts, _styled(choices)) if part)


def _classes(choices: Choices) -> str:
    if choices["model"] == "functional":
        return FUNCTIONAL
    if choices["model"] in ("subclass", "two-parts"):
        own = TRAIN_STEP if choices["train"] == "train-step" else ""
        return (PARTS if choices["model"] == "two-parts" else NET) + own
    return ""


def _styled(choices: Choices) -> str:
    """What makes, trains and saves the model, in the module, in a function or in a class."""
    if choices["style"] == "class":
        made = _indented(_made(choices, "self.model", "self.optimizer"), 2)
        run = _indented(_trained(choices, "self.model", "self.optimizer"), 2)
        return (
            f"class Trainer:\n    def __init__(self):\n{made}\n    def run(self):\n{run}\n\nTrainer().run()\n"
        )
    lines = [*_made(choices, "model", "optimizer"), *_trained(choices, "model", "optimizer")]
    if choices["style"] == "function":
        return f"def main():\n{_indented(lines, 1)}\n\nmain()\n"
    return "\n".join(lines) + "\n"


def _indented(lines: list[str], depth: int) -> str:
    return "".join(f"{'    ' * depth}{line}\n" for line in lines)


def _optimizer(choices: Choices) -> str:
    text = OPTIMIZERS[choices["optimizer"]]
    compiled = choices.fits or choices["train"] == "fed"
    return text if compiled or choices["optimizer"] != "name" else f"keras.optimizers.get({text})"


def _made(choices: Choices, model: str, optimizer: str) -> list[str]:
    compiled = choices.fits or choices["train"] == "fed"
    made = [f"{model} = {MADE[choices['model']]}"]
    if compiled:
        loss = "" if choices["train"] == "train-step" else ', loss="mse"'
        made.append(f"{model}.compile(optimizer={_optimizer(choices)}{loss})")
    else:
        made.append(f"{optimizer} = {_optimizer(choices)}")
    if choices["strategy"] == "mirrored":
        made = ["with strategy.scope():", *(f"    {line}" for line in made)]
    saved = SAVED.get(choices["save"], "")
    if choices["resume"] == "none" or not saved:
        return made
    if choices["save"] == "model" and compiled:
        there = [
            f"if os.path.exists({saved!r}):",
            f"    {model} = keras.models.load_model({saved!r})",
            "else:",
        ]
        return [*there, *(f"    {line}" for line in made)]
    if choices["save"] == "checkpoint":
        return [
            *made,
            f"if os.path.exists({saved + '.index'!r}):",
            f"    tf.train.Checkpoint(model={model}, optimizer={optimizer}).restore({saved!r})",
        ]
    if choices["save"] == "model":
        return [*made, f"if os.path.exists({saved!r}):", f"    {model} = keras.models.load_model({saved!r})"]
    return [
        *made,
        f"if os.path.exists({saved!r}):",
        f"    {model}(x[:1])",
        f"    {model}.load_weights({saved!r})",
    ]


def _trained(choices: Choices, model: str, optimizer: str) -> list[str]:
    lines = _fit(choices, model) if choices.fits else _loop(choices, model, optimizer)
    if choices["save"] == "weights":
        lines.append(f"{model}.save_weights({SAVED['weights']!r})")
    if choices["save"] == "model":
        lines.append(f"{model}.save({SAVED['model']!r})")
    if choices["save"] == "checkpoint":
        lines.append(
            f"tf.train.Checkpoint(model={model}, optimizer={optimizer}).write({SAVED['checkpoint']!r})"
        )
    last = 'history.history["loss"][-1]' if choices.fits else "float(loss)"
    if choices["log"] == "print":
        lines.append(f'print("loss", {last})')
    if choices["log"] == "json":
        lines += [
            'with open("metrics.json", "w") as file:',
            f'    json.dump({{"loss": float({last})}}, file)',
        ]
    return lines


def _fit(choices: Choices, model: str) -> list[str]:
    arrays = "train" if "train = " in DATA[choices["data"]] or "train, held" in DATA[choices["data"]] else ""
    given = [arrays] if arrays else ["x_train", "y_train", "batch_size=BATCH"]
    given.append("epochs=args.epochs")
    if choices["steps"] == "counted":
        given.append(f"steps_per_epoch={COUNTED}")
    if choices["validation"] == "held":
        given.append("validation_data=held" if arrays else "validation_data=(x_held, y_held)")
    if choices["validation"] == "split":
        given.append("validation_split=0.25")
    callbacks = []
    if choices["save"] == "callback":
        callbacks.append('keras.callbacks.ModelCheckpoint("last.weights.h5", save_weights_only=True)')
    if choices["log"] == "csv":
        callbacks.append('keras.callbacks.CSVLogger("log.csv")')
    if choices["stop"] == "early":
        callbacks.append('keras.callbacks.EarlyStopping("val_loss", patience=1, min_delta=10)')
    if callbacks:
        given.append(f"callbacks=[{', '.join(callbacks)}]")
    return [f"history = {model}.fit({', '.join(given)})"]


def _loop(choices: Choices, model: str, optimizer: str) -> list[str]:
    arrays = "x_train" in DATA[choices["data"]] and "train = " not in DATA[choices["data"]]
    batches = "for inputs, targets in train:"
    if arrays:
        batches = "for start in range(0, len(x_train), BATCH):"
    taken = (
        ["inputs, targets = x_train[start : start + BATCH], y_train[start : start + BATCH]"] if arrays else []
    )
    taped = [
        "with tf.GradientTape() as tape:",
        f"    loss = tf.reduce_mean(({model}(inputs, training=True) - targets) ** 2)",
    ]
    variables = f"{model}.trainable_variables"
    applied = f"{optimizer}.apply_gradients(zip(gradients, {variables}))"
    above: list[str] = []
    if choices["train"] == "fed":
        step = [f"loss = {model}.train_on_batch(inputs, targets)"]
    elif choices["train"] == "graph-tape":
        gradients = f"gradients = tape.gradient(loss, {variables})"
        body = [*taped, gradients, applied, "return loss"]
        above += ["@tf.function", "def step(inputs, targets):", *(f"    {line}" for line in body)]
        step = ["loss = step(inputs, targets)"]
    elif choices["train"] == "helper-tape":
        body = [*taped, f"return loss, tape.gradient(loss, {variables})"]
        above += ["def taken(inputs, targets):", *(f"    {line}" for line in body)]
        step = ["loss, gradients = taken(inputs, targets)", applied]
    else:
        step = [*taped, f"gradients = tape.gradient(loss, {variables})", applied]
    lines = [*above, "for epoch in range(args.epochs):", f"    {batches}"]
    lines += [f"        {line}" for line in (*taken, *step)]
    if choices["validation"] == "held":
        if arrays:
            lines.append(
                f"    wrong = float(tf.reduce_mean(({model}(x_held, training=False) - y_held) ** 2))"
            )
        else:
            lines += [
                "    for inputs, targets in held:",
                f"        wrong = float(tf.reduce_mean(({model}(inputs, training=False) - targets) ** 2))",
            ]
    return lines
