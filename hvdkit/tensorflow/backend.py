"""Makes sure that Horovod for TensorFlow is there and loads, before anything else here is imported.

Not for building it: that is `hvdkit install-horovod`.
"""

from __future__ import annotations

from pathlib import Path

from hvdkit.errors import HvdkitError


class HorovodMissingError(HvdkitError):
    """TensorFlow or Horovod is not installed, or Horovod was not built for this TensorFlow."""


def require_horovod() -> None:
    """Import TensorFlow and Horovod's extension for it.

    Raises:
        HorovodMissingError: one of them is not installed, or the extension is missing or does not load.
    """
    try:
        import tensorflow
    except ImportError as error:
        raise HorovodMissingError(
            f"hvdkit.tensorflow needs TensorFlow: {error}",
            why="Horovod's extension is built against the TensorFlow that is installed",
            fix="install tensorflow, then run `hvdkit install-horovod`",
        ) from error
    try:
        import horovod
        from horovod.common.util import check_extension

        package = Path(horovod.__file__).parent / "tensorflow" / "__init__.py"
        check_extension("horovod.tensorflow", "HOROVOD_WITH_TENSORFLOW", str(package), "mpi_lib")
        import horovod.tensorflow
    except (ImportError, tensorflow.errors.NotFoundError) as error:  # NotFoundError: an undefined symbol
        raise HorovodMissingError(
            f"hvdkit.tensorflow needs Horovod built for this TensorFlow: {error}",
            why="a Horovod that is missing, or built without this TensorFlow, reduces nothing",
            fix="run `hvdkit install-horovod`",
        ) from error


def require_keras_on_tensorflow() -> None:
    """Raises HorovodMissingError when Keras 3 was told to run on another framework."""
    import tensorflow

    chosen = tensorflow.keras.backend.backend()
    if chosen != "tensorflow":
        raise HorovodMissingError(
            f"hvdkit.tensorflow is imported, and Keras runs on {chosen}",
            why="Keras would compute on one framework and Horovod reduce on another",
            fix="import hvdkit.keras as hvd for Keras on PyTorch, or unset KERAS_BACKEND",
        )
