"""What stops a rank: TensorFlow programs, run on paper, each with the lines to which a condition objects."""

from __future__ import annotations

import ast
from textwrap import dedent
from typing import Callable

import pytest

from hvdkit.conditions.as_written import compiled_by_xla, divided_to_zero, read_too_early
from hvdkit.conditions.weights import unlike_weights
from hvdkit.job.run import run
from hvdkit.job.store import Module

HEAD = """\
import tensorflow as tf
import hvdkit.tensorflow.keras as hvd
hvd.init()
"""
NETWORKS = """\
def network():
    return tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1)])
model, average = network(), network()
"""
TAPE = """\
def step(a, b):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(a) - b))
    tape = hvd.DistributedGradientTape(tape)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
"""


def lines(condition: Callable[..., object], text: str) -> list[int]:
    """The lines to which a condition objects."""
    record = run(Module("train", "train", ast.parse(dedent(text))), lambda name, importer: None)
    return sorted({each.at[1].lineno for each in condition(record)})  # type: ignore[attr-defined]


EARLY = {
    "in a function": ("def show(x):\n    if hvd.rank() == 0:\n        print(x)\nshow(1)\nimport hvd\n", [2]),
    "at once": ("print(tf.__version__)\nimport tensorflow as tf\n", [1]),
    "in a method": (
        "class A:\n    def __init__(self):\n        self.rank = hvd.rank()\nA()\nimport hvd\n",
        [3],
    ),
    "in a lambda": ("show = lambda x: hvd.rank()\nshow(1)\nimport hvd\n", [1]),
    "in a default": ("def show(x=hvd.rank()):\n    pass\nimport hvd\n", [1]),
    "in a comprehension": ("x = [hvd.rank() for _ in (1, 2)]\nimport hvd\n", [1]),
    "called below": ("def show(x):\n    return hvd.rank()\nimport hvd\nshow(1)\n", []),
    "never called": ("def show(x):\n    return hvd.rank()\nimport hvd\n", []),
    "bound by star": ("from helpers import *\nhvd.rank()\n", []),
    "a builtin": ("print(1)\n", []),
    "bound in try": ("try:\n    import hvd\nexcept ImportError:\n    hvd = None\nhvd.rank()\n", []),
    "under a false test": ("if False:\n    hvd.rank()\nimport hvd\n", []),
}


@pytest.mark.parametrize("form", EARLY)
def test_names_that_are_read_too_early(form: str) -> None:
    """A name that its file binds further down is named where it is read; what is not called is not read."""
    text, expected = EARLY[form]
    assert lines(read_too_early, text) == expected


ZEROS = {
    "one of two callers": ("def f(n):\n    return n // hvd.size()\nf(16)\nf(1)\n", [5]),
    "at once": ("data.batch(1 // hvd.size())\n", [4]),
    "by a name": ("n = 1\nn = n // hvd.size()\n", [5]),
    "in place": ("n = 1\nn //= hvd.size()\n", [5]),
    "by a default": ("def f(n=1):\n    return n // hvd.size()\nf()\n", [5]),
    "in a class": (
        "class A:\n    n = 1\n    def f(self):\n        return self.n // hvd.size()\nA().f()\n",
        [7],
    ),
    "sixteen": ("n = 16 // hvd.size()\n", []),
    "not known": ("import sys\nn = int(sys.argv[1]) // hvd.size()\n", []),
    "at least one": ("n = max(1, 2 // hvd.size())\n", []),
    "not the size": ("n = 1 // 2\n", []),
    "of the rank": ("n = 1 // (hvd.rank() + 1)\n", []),
    "never called": ("def f(n):\n    return n // hvd.size()\nf(16)\n", []),
}


@pytest.mark.parametrize("form", ZEROS)
def test_sizes_that_are_divided_to_0(form: str) -> None:
    """A size of 1 is 0 on all ranks, however it comes there."""
    text, expected = ZEROS[form]
    assert lines(divided_to_zero, HEAD + text) == expected


SGD = "optimizer = tf.keras.optimizers.SGD(0.1)\n"
WRAPPED = "optimizer = hvd.DistributedOptimizer(tf.keras.optimizers.SGD(0.1))\n"
COMPILED = {
    "compile": (NETWORKS + WRAPPED + "model.compile(optimizer=optimizer, jit_compile=True)\n", [8]),
    "first argument": (NETWORKS + WRAPPED + "model.compile(optimizer, jit_compile=True)\n", [8]),
    "by a name": (NETWORKS + WRAPPED + "fast = True\nmodel.compile(optimizer, jit_compile=fast)\n", [9]),
    "in a dictionary": (
        NETWORKS + WRAPPED + "model.compile(**{'optimizer': optimizer, 'jit_compile': True})\n",
        [8],
    ),
    "not averaged": (NETWORKS + SGD + "model.compile(optimizer=optimizer, jit_compile=True)\n", []),
    "False": (NETWORKS + WRAPPED + "model.compile(optimizer=optimizer, jit_compile=False)\n", []),
    "not given": (NETWORKS + WRAPPED + "model.compile(optimizer=optimizer)\n", []),
    "an expression": ("import re\nre.compile('x')\n", []),
    "decorated": (NETWORKS + SGD + "@tf.function(jit_compile=True)\n" + TAPE + "step(1, 2)\n", [13]),
    "called": (NETWORKS + SGD + TAPE + "fast = tf.function(step, jit_compile=True)\nfast(1, 2)\n", [12]),
    "called later": (
        NETWORKS + SGD + TAPE + "fast = tf.function(jit_compile=True)(step)\nfast(1, 2)\n",
        [12],
    ),
    "inside": (
        NETWORKS + SGD + TAPE + "@tf.function(jit_compile=True)\ndef outer():\n    step(1, 2)\nouter()\n",
        [12],
    ),
    "bare": (NETWORKS + SGD + "@tf.function\n" + TAPE + "step(1, 2)\n", []),
    "not by XLA": (NETWORKS + SGD + "@tf.function(jit_compile=False)\n" + TAPE + "step(1, 2)\n", []),
    "never called": (NETWORKS + SGD + "@tf.function(jit_compile=True)\n" + TAPE, []),
    "only the forward pass": (
        NETWORKS
        + SGD
        + TAPE
        + "@tf.function(jit_compile=True)\ndef f(a):\n    return model(a)\nf(1)\nstep(1, 2)\n",
        [],
    ),
}


@pytest.mark.parametrize("form", COMPILED)
def test_collectives_that_xla_would_compile(form: str) -> None:
    """jit_compile=True is named where gradients are averaged inside, and only there."""
    text, expected = COMPILED[form]
    assert lines(compiled_by_xla, HEAD + text) == expected


COPY = "average.set_weights(model.get_weights())\n"
SENT = "hvd.broadcast_variables(model.variables, root_rank=0)\n"
SENT_BOTH = "hvd.broadcast_variables(model.variables + average.variables, root_rank=0)\n"
MOVED = """\
for old, new in zip(average.variables, model.variables):
    old.assign(0.99 * old + 0.01 * new)
"""
COPIES = {
    "copied above": (COPY + SENT, [7]),
    "copied below": (SENT + COPY, []),
    "both are sent": (COPY + SENT + "hvd.broadcast_variables(average.variables, root_rank=0)\n", []),
    "moved": (COPY + SENT + MOVED, [10]),
    "copied and moved below": (SENT + COPY + MOVED, []),
    "one by one": (
        "for a, b in zip(average.variables, model.variables):\n    a.assign(b)\n" + SENT,
        [8],
    ),
    "one by one, below": (
        SENT + "for a, b in zip(average.variables, model.variables):\n    a.assign(b)\n",
        [],
    ),
    "made in one comprehension": ("model, average = (network() for _ in range(2))\n" + COPY + SENT, [8]),
    "no copy": (SENT, []),
    "seeded by TensorFlow": (COPY + SENT, []),
    "seeded by Keras": (COPY + SENT, []),
    "seeded by the rank": (COPY + SENT, [7]),
    "seeded below": (COPY + SENT, [7]),
    "a clone": ("average = tf.keras.models.clone_model(model)\n" + COPY + SENT, [8]),
    "a clone, below": (SENT + "average = tf.keras.models.clone_model(model)\n" + COPY, []),
    "copied in a function": (
        "def copy():\n    average.set_weights(model.get_weights())\ncopy()\n" + SENT,
        [8],
    ),
}
SEEDS = {
    "seeded by TensorFlow": "tf.random.set_seed(1)\n",
    "seeded by Keras": "tf.keras.utils.set_random_seed(1)\n",
    "seeded by the rank": "tf.random.set_seed(hvd.rank())\n",
}


@pytest.mark.parametrize("form", COPIES)
def test_copies_of_weights(form: str) -> None:
    """A copy that was made of weights before their broadcast is named, unless a seed makes them the same."""
    text, expected = COPIES[form]
    seed = SEEDS.get(form, "")
    below = "tf.random.set_seed(1)\n" if form == "seeded below" else ""
    assert lines(unlike_weights, HEAD + seed + NETWORKS + below + text) == [
        line + (seed + below).count("\n") for line in expected
    ]
