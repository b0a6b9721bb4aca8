"""Jobs on TensorFlow (.venv-tf215 and .venv-tf218, which make_stack of scripts/setup makes)."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from failures.jobs import Failure, job, output

ROOT = Path(__file__).parents[3]
QUIET = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}

FIT = """\
import numpy as np
import tensorflow as tf
import horovod.tensorflow.keras as hvd

hvd.init()
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(hvd.DistributedOptimizer(tf.keras.optimizers.Adam(0.1)), "mse")
callbacks = [hvd.callbacks.CALLBACK]
model.fit(np.ones((8, 4)), np.ones(8), epochs=2, verbose=2, callbacks=callbacks)
"""
TAPE = """\
import tensorflow as tf
import horovod.tensorflow as hvd

hvd.init()
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model(tf.ones((1, 4)))
hvd.broadcast_variables(model.variables, root_rank=0)
"""
ELASTIC = """\
import tensorflow as tf
import horovod.tensorflow.keras as hvd

hvd.init()
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model(tf.ones((1, 4)))
model.compile(hvd.DistributedOptimizer(tf.keras.optimizers.Adam(0.1)), "mse")
hvd.elastic.KerasState(model, batch=0, epoch=0).sync()
"""
KERAS_3 = {
    "first_weights": FIT.replace("CALLBACK", "BroadcastGlobalVariablesCallback(0)"),
    "metrics": FIT.replace("CALLBACK", "MetricAverageCallback()"),
    "warmup": FIT.replace("CALLBACK", "LearningRateWarmupCallback(initial_lr=0.1, warmup_epochs=2)"),
    "tape": TAPE,
    "state": ELASTIC,
}


def python(stack: str) -> str:
    """The interpreter of a stack."""
    return str(ROOT / f".venv-{stack}" / "bin" / "python")


def of_another_tensorflow() -> str:
    """Horovod as it was compiled for TensorFlow 2.15, imported beside TensorFlow 2.18."""
    with tempfile.TemporaryDirectory(prefix="explain") as folder:
        (built,) = (ROOT / ".venv-tf215").glob("lib/python3*/site-packages/horovod")
        shutil.copytree(built, Path(folder, "horovod"))
        Path(folder, "train.py").write_text("import horovod.tensorflow as hvd\nhvd.init()\n")
        return output([python("tf218"), "train.py"], Path(folder), QUIET)


def _keras_3(variant: str, controller: str) -> Failure:
    run = lambda: job(KERAS_3[variant], controller, python=[python("tf218")], environment=QUIET)  # noqa: E731
    return Failure("keras_3", f"{variant}_{controller}", run)


FAILURES = [
    Failure("extension_broken", "tensorflow", of_another_tensorflow),
    *(_keras_3(variant, "gloo") for variant in KERAS_3),
    _keras_3("first_weights", "mpi"),
]
