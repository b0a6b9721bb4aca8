"""What a rank of a TensorFlow program does, written down: its samples, its weights, its files."""

from __future__ import annotations

import faulthandler
import gc
import json
import os
import runpy
import sys
from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from truth.tf.programs import SAMPLES

LIMIT = 80  # seconds; then the stacks of all threads are printed, and the rank ends
seen: dict[str, Any] = {"error": "", "trained": [], "looked": [], "written": [], "end": []}
depth = [0]  # models that are being called, one in the other
tapes = [0]  # tapes that record


def of_samples(values: Any, training: Any) -> Any:
    """Write down samples by their numbers, where a graph or a call runs over them."""
    numbers = [round(float(value) * SAMPLES) for value in np.asarray(values).reshape(-1)]
    seen["trained" if training else "looked"].append(numbers)
    return np.int32(0)


def watch_calls() -> None:
    """See what the outermost model of each call is given, in graphs as well."""
    call = keras.Model.__call__

    def called(self: Any, *args: Any, **more: Any) -> Any:
        inputs = args[0] if args else None
        depth[0] += 1
        try:
            if depth[0] == 1 and (tf.is_tensor(inputs) or isinstance(inputs, np.ndarray)):
                column = tf.convert_to_tensor(inputs)
                if column.shape.rank == 2 and column.shape[-1] == 1:
                    tf.numpy_function(of_samples, [column, tapes[0] > 0], tf.int32)
            return call(self, *args, **more)
        finally:
            depth[0] -= 1

    keras.Model.__call__ = called
    enter, leave = tf.GradientTape.__enter__, tf.GradientTape.__exit__

    def entered(self: Any) -> Any:
        tapes[0] += 1
        return enter(self)

    def left(self: Any, *ended: Any) -> Any:
        tapes[0] -= 1
        return leave(self, *ended)

    tf.GradientTape.__enter__, tf.GradientTape.__exit__ = entered, left
    # In the class that has it: Keras does not compile a loaded model whose class overrides compile.
    trainer: Any = next(owner for owner in keras.Model.__mro__ if "compile" in vars(owner))
    compiled = trainer.compile

    def without_xla(self: Any, *args: Any, **more: Any) -> Any:
        return compiled(self, *args, **{**more, "jit_compile": False})  # which cannot call the probe

    trainer.compile = without_xla


def watch_files() -> None:
    """See which files are opened for writing, by Python and by what saves weights."""

    def opened(event: str, args: tuple[Any, ...]) -> None:
        if event == "open" and isinstance(args[0], (str, bytes)) and isinstance(args[1], str):
            path = os.path.relpath(os.fsdecode(args[0]))
            if set(args[1]) & set("wax+") and not path.startswith(".."):
                seen["written"].append(path)

    sys.addaudithook(opened)
    opens = tf.io.gfile.GFile.__init__

    def opening(self: Any, name: Any, mode: str = "r") -> None:
        if set(mode) & set("wax+"):
            seen["written"].append(os.path.relpath(os.fspath(name)))
        opens(self, name, mode)

    tf.io.gfile.GFile.__init__ = opening  # which Keras 2 logs by, and no audit hook sees
    for owner, name in (
        (keras.Model, "save"),
        (keras.Model, "save_weights"),
        (tf.train.Checkpoint, "write"),
    ):
        _noting(owner, name)


def _noting(owner: Any, name: str) -> None:
    wrapped = getattr(owner, name)

    def noting(self: Any, path: Any, *args: Any, **more: Any) -> Any:
        seen["written"].append(os.path.relpath(os.fspath(path)))
        return wrapped(self, path, *args, **more)

    setattr(owner, name, noting)


def weights() -> list[str]:
    """Of each model that is no part of another, a number that its weights make."""
    models = [one for one in gc.get_objects() if isinstance(one, keras.Model) and one.weights]
    parts = {id(layer) for one in models for layer in one._flatten_layers(include_self=False)}
    found = [one for one in models if id(one) not in parts]
    return sorted(
        f"{sum(float(np.abs(w.numpy().astype('float64')).sum()) for w in one.weights):.12g}" for one in found
    )


def watched() -> int:
    """Run the script of `rank OUT.json SCRIPT [ARGUMENT...]` and write OUT.RANK.json; its exit code."""
    out, script = Path(sys.argv[1]).resolve(), sys.argv[2]
    sys.argv = sys.argv[2:]
    sys.path[0] = str(Path(script).resolve().parent)
    faulthandler.dump_traceback_later(LIMIT, exit=True)
    np.random.seed(int.from_bytes(os.urandom(4), "big"))  # where this was forked, others have its numbers
    watch_calls()
    watch_files()
    code = 0
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit as left:
        code = left.code if isinstance(left.code, int) else int(left.code is not None)
    except (
        Exception
    ) as error:  # the script's own, whatever it is: printed, and the rank fails as python would
        sys.excepthook(type(error), error, error.__traceback__)
        seen["error"], code = f"{type(error).__name__}: {error}"[:300], 1
    seen["end"] = weights()
    rank = os.environ.get("HOROVOD_RANK", "0")
    out.with_name(f"{out.stem}.{rank}.json").write_text(json.dumps(seen))
    horovod = sys.modules.get("horovod.tensorflow")
    if horovod is not None and horovod.is_initialized() and not code:
        horovod.shutdown()
    return code
