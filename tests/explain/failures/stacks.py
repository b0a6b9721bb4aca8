"""Jobs on TensorFlow (.venv-tf215 and .venv-tf218, which make_stack of scripts/setup makes)."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from failures.jobs import STALL, Failure, job, output

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
FIRST_WEIGHTS = """\
import tensorflow as tf
import horovod.tensorflow as hvd

hvd.init()
print(hvd.rank(), tf.__version__, flush=True)
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model(tf.ones((1, 4)))
hvd.broadcast_variables([getattr(v, "value", v) if KERAS_3 else v for v in model.variables], root_rank=0)
""".replace("KERAS_3", "tf.__version__ > '2.16'")
ONE_RANK = """\
import tensorflow as tf
import horovod.tensorflow as hvd

hvd.init()
total = tf.function(lambda: hvd.allreduce(tf.ones(4), name="loss"))
total()
if hvd.rank() == 1:
    raise KeyError("label")
total()
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


def on_two_versions(script: str, controller: str) -> str:
    """Rank 0 on TensorFlow 2.15 and rank 1 on 2.18, as on hosts that were set up at different times."""
    choose = (
        f'case "${{HOROVOD_RANK:-$OMPI_COMM_WORLD_RANK}}" in 0) exec {python("tf215")} "$@";;'
        f' *) exec {python("tf218")} "$@";; esac'
    )
    return job(script, controller, python=["sh", "-c", choose, "sh"], environment={**QUIET, **STALL})


def _keras_3(variant: str, controller: str) -> Failure:
    run = lambda: job(KERAS_3[variant], controller, python=[python("tf218")], environment=QUIET)  # noqa: E731
    return Failure("keras_3", f"{variant}_{controller}", run)


FAILURES = [
    Failure("extension_broken", "tensorflow", of_another_tensorflow),
    Failure("names_differ", "tensorflow_versions_mpi", lambda: on_two_versions(FIRST_WEIGHTS, "mpi")),
    *(
        Failure(
            "own_error",
            f"tensorflow_{c}",
            lambda c=c: job(ONE_RANK, c, python=[python("tf215")], environment=QUIET),  # type: ignore[misc]
        )
        for c in ("gloo", "mpi")
    ),
    *(_keras_3(variant, "gloo") for variant in KERAS_3),
    _keras_3("first_weights", "mpi"),
]
