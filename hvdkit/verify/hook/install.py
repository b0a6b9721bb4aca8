"""Entry point of the hook: read the settings and arrange for the rest to load with the script's own torch."""

from __future__ import annotations

import os
import random
import sys

from hvdkit.verify.hook.imports import after_import
from hvdkit.verify.hook.seeds import (
    make_torch_deterministic,
    seed_child_processes,
    seed_everything,
    seed_numpy,
    start_seed,
)
from hvdkit.verify.hook.settings import Settings, from_environment
from hvdkit.verify.hook.stacks import dump_on_request


def install() -> None:
    """Do nothing outside a verified run; inside one, seed now and hook torch when it is imported."""
    settings = from_environment()
    if settings is None:
        return
    _add_local_rank(settings)
    dump_on_request(settings)
    random.seed(start_seed(settings))
    seed_child_processes(settings)
    after_import(
        {
            "numpy.random": lambda: seed_numpy(start_seed(settings)),
            "torch": lambda: _hook_torch(settings),
            "horovod.torch.functions": lambda: _hook_horovod(settings),
        }
    )


def _add_local_rank(settings: Settings) -> None:
    """Give the script the option that torch.distributed.launch would have added to its arguments."""
    if settings.local_rank_flag and "LOCAL_RANK" in os.environ:
        sys.argv.insert(1, f"{settings.local_rank_flag}={os.environ['LOCAL_RANK']}")


def _hook_torch(settings: Settings) -> None:
    """Runs once `import torch` has finished, before the script's next line."""
    from hvdkit.verify.hook.recorder import Recorder
    from hvdkit.verify.hook.watch import watch_torch

    make_torch_deterministic()
    seed_everything(start_seed(settings))
    watch_torch(Recorder.of_process(settings))


def _hook_horovod(settings: Settings) -> None:
    from hvdkit.verify.hook.recorder import Recorder
    from hvdkit.verify.hook.watch import watch_horovod

    watch_horovod(Recorder.of_process(settings))
