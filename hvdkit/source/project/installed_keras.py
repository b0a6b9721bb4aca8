"""The Keras of the environment that a command runs in. Nothing is imported: TensorFlow takes seconds."""

from __future__ import annotations

import os
from importlib.machinery import PathFinder


def installed_keras() -> str:
    """The version of what tf.keras is here, "" where TensorFlow or Keras is missing.

    TF_USE_LEGACY_KERAS decides as it does in TensorFlow:
    https://keras.io/getting_started/#tensorflow--keras-2-backwards-compatibility
    """
    if PathFinder.find_spec("tensorflow") is None:
        return ""
    from importlib.metadata import PackageNotFoundError, version  # slow, and most programs have no TensorFlow

    legacy = os.environ.get("TF_USE_LEGACY_KERAS", "").lower() in ("1", "true")
    try:
        return version("tf_keras" if legacy else "keras")
    except PackageNotFoundError:
        return ""
