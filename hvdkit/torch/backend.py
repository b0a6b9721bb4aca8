"""Makes sure that Horovod for PyTorch is there and loads, before anything else here is imported.

Not for building it: that is `hvdkit install-horovod`.
"""

from __future__ import annotations

from pathlib import Path

from hvdkit.errors import HvdkitError


class HorovodMissingError(HvdkitError):
    """torch or Horovod is not installed, or Horovod was not built for this torch."""


def require_torch() -> None:
    """Raises HorovodMissingError unless torch is installed."""
    try:
        import torch  # noqa: F401  (Horovod's extension needs its libraries loaded)
    except ImportError as error:
        raise HorovodMissingError(
            f"hvdkit.torch needs PyTorch: {error}",
            why="Horovod's extension is built against the torch that is installed",
            fix="install torch, then run `hvdkit install-horovod`",
        ) from error


def require_horovod() -> None:
    """Import Horovod's extension for torch, which is imported already.

    Horovod alone would print a warning, leave its names out, and fail later with an AttributeError.

    Raises:
        HorovodMissingError: Horovod is not installed, or the extension is missing or does not load.
    """
    try:
        import horovod
        from horovod.common.util import check_extension

        package = Path(horovod.__file__).parent / "torch" / "__init__.py"
        check_extension("horovod.torch", "HOROVOD_WITH_PYTORCH", str(package), "mpi_lib_v2")
        import horovod.torch
    except ImportError as error:
        raise HorovodMissingError(
            f"hvdkit.torch needs Horovod built for this PyTorch: {error}",
            why="a Horovod that is missing, or built without torch or for a different torch, reduces nothing",
            fix="run `hvdkit install-horovod`, or set HVDKIT_ENGINE=torch to train without Horovod",
        ) from error
