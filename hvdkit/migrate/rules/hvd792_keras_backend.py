"""HVD792: Keras on PyTorch or JAX only looks like TensorFlow: such programs are left as they are."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.migrate.catalog.finding import refused
from hvdkit.migrate.catalog.rule import Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.keras import vocabulary as words
from hvdkit.migrate.facts.programs.programs import programs_of
from hvdkit.migrate.facts.tensorflow.backends import TENSORFLOW, other_backends
from hvdkit.migrate.plan import Finding

BY_HAND = (
    "write it by hand with `import hvdkit.keras as hvd`: hvd.init(), "
    "optimizer=hvd.DistributedOptimizer(...), callbacks=hvd.callbacks([...]), and a DistributedSampler in "
    "the DataLoader that fit reads (docs/tensorflow.md)"
)
OPEN = f'on TensorFlow, write os.environ["{words.BACKEND}"] = "{TENSORFLOW}" above the import of Keras; on PyTorch, {BY_HAND}'
NO_HOROVOD = f'Horovod does not support it: use "{TENSORFLOW}", or "torch" with hvdkit.keras'


def check(facts: Facts) -> Iterator[Finding]:
    for program in programs_of(facts):
        if program.kind not in words.KINDS:
            continue
        for names, node, message, backend in other_backends(facts, program):
            advice = {"torch": BY_HAND, "": OPEN}.get(backend, NO_HOROVOD)
            yield refused("HVD792", names, node, message, advice)


RULE = Rule(
    id="HVD792",
    title="Keras on another backend",
    what=(
        "Leaves alone programs whose Keras runs on PyTorch or JAX: KERAS_BACKEND is set in the script, in a "
        "module that it imports, or in a command or setting next to it; keras.config.set_backend is called; "
        "or the script imports Keras and PyTorch, and no TensorFlow."
    ),
    why="Horovod's TensorFlow modules make such a program fail at its start, or reduce none of its gradients.",
    safety="Nothing is edited in any file of the program.",
    check=check,
    changes=(),
    keeps=(
        Keep(
            """\
            import os
            os.environ["KERAS_BACKEND"] = "torch"
            import keras

            model = keras.Sequential([keras.layers.Dense(1)])
            model.compile("sgd", "mse")
            model.fit(x, y)
            """,
            reason="this Keras runs on PyTorch",
            reported=True,
        ),
    ),
)
