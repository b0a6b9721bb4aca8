"""Entry point of the hook: read the settings and arrange for the rest to load with the script's own torch."""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Callable
from typing import Any

from hvdkit.observe.imports import after_import
from hvdkit.observe.tensorflow.optimizers import after_definition
from hvdkit.verify.hook import places
from hvdkit.verify.hook.beginning import mark_begun
from hvdkit.verify.hook.ending import leave_process_groups_calmly
from hvdkit.verify.hook.errors import keep_errors
from hvdkit.verify.hook.seeds import (
    make_torch_deterministic,
    seed_child_processes,
    seed_everything,
    seed_numpy,
    start_seed,
    watch_seed,
)
from hvdkit.verify.hook.settings import TWIN, Settings, from_environment
from hvdkit.verify.hook.stacks import dump_on_request
from hvdkit.verify.hook.twin_clock import let_clocks_jump


def install() -> None:
    """Do nothing outside a verified run; inside one, seed now and hook torch when it is imported."""
    settings = from_environment()
    if settings is None:
        return
    places.begin(settings.program, settings.cells)
    _add_local_rank(settings)
    dump_on_request(settings)
    keep_errors(settings)
    random.seed(start_seed(settings))
    watch_seed(random)
    seed_child_processes(settings)
    jumps = settings.jumps or int(os.environ.get(TWIN, "0"))
    if jumps:
        let_clocks_jump(jumps)
    after_import(
        {
            "numpy.random": lambda: _hook_numpy(settings),
            "torch": lambda: _hook_torch(settings),
            "torch._dynamo": lambda: None,  # only imported faster: every optimizer imports it
            "horovod.torch.compression": lambda: _hook_horovod_compression(settings),
            "horovod.torch.mpi_ops": _hook_horovod_operations,
            "horovod.torch.functions": _hook_horovod_functions,
            "horovod.torch.optimizer": _hook_horovod_optimizer,
            "hvdkit.torch.broadcast": _hook_hvdkit_broadcast,
            "horovod.torch.sync_batch_norm": lambda: _hook_horovod_sync_batch_norm(settings),
            "tensorflow": lambda: _hook_tensorflow(settings),
            **after_definition(_watch_updates),
            "keras.src.callbacks": lambda: _on_tensorflow(_hook_callbacks),
            "keras.src.engine.training": _hook_keras_fit,
            "keras.src.engine.data_adapter": _hook_keras_steps,
            "keras.src.trainers.epoch_iterator": lambda: _on_tensorflow(_hook_keras_3_steps),
            "keras.src.random.seed_generator": lambda: _on_tensorflow(_hook_keras_3_generators),
            "horovod.tensorflow.compression": lambda: _hook_tensorflow_compression(settings),
            "keras.src.backend.tensorflow.trainer": _hook_keras_3_fit,
            "horovod.tensorflow.functions": _hook_horovod_tensorflow_functions,
            "hvdkit.keras.collectives.tensorflow": _hook_hvdkit_keras_broadcast,
        }
    )


def _add_local_rank(settings: Settings) -> None:
    """Give the script the option that torch.distributed.launch would have added to its arguments."""
    if settings.local_rank_flag and "LOCAL_RANK" in os.environ:
        sys.argv.insert(1, f"{settings.local_rank_flag}={os.environ['LOCAL_RANK']}")


def _hook_numpy(settings: Settings) -> None:
    seed_numpy(start_seed(settings))
    watch_seed(sys.modules["numpy.random"])


def _hook_torch(settings: Settings) -> None:
    """Runs once `import torch` has finished, before the script's next line."""
    leave_process_groups_calmly()
    from hvdkit.verify.hook.collectives import watch_collectives
    from hvdkit.verify.hook.contents import watch_saves
    from hvdkit.verify.hook.inputs import watch_inputs, watch_plateaus
    from hvdkit.verify.hook.loaders import watch_loaders
    from hvdkit.verify.hook.order import watch_order
    from hvdkit.verify.hook.printing import watch_printing
    from hvdkit.verify.hook.reached import watch_reached
    from hvdkit.verify.hook.recorder import Recorder
    from hvdkit.verify.hook.twin_job import keep_for_twins
    from hvdkit.verify.hook.twin_replay import replay_job
    from hvdkit.verify.hook.watch import watch_ddp, watch_losses, watch_steps

    if settings.cpu:
        from hvdkit.verify.hook.cpu import run_without_cuda
        from hvdkit.verify.hook.sync_batch_norm import map_torch

        run_without_cuda(settings, lambda index: Recorder.of_process().note_device(index))
        map_torch()
    _hook_reduction(settings)
    make_torch_deterministic()
    seed_everything(start_seed(settings))
    recorder = Recorder.of_process()
    kept = keep_for_twins(recorder) if settings.twinned else None
    for watch in (
        watch_steps,
        watch_losses,
        watch_ddp,
        watch_order,
        watch_collectives,
        watch_saves,
        watch_reached,
        watch_printing,
    ):
        watch(recorder)
    if settings.align or settings.own or settings.twins:
        watch_inputs(recorder)
        watch_plateaus(recorder)
    twin = replay_job(recorder) if settings.twins else None
    watch_loaders(recorder, kept, twin)
    if settings.repeat:
        from hvdkit.verify.hook.repeat import repeat_rates

        repeat_rates(recorder)


def _hook_reduction(settings: Settings) -> None:
    """What takes the place of DDP's average; before the watchers, which are to see what comes of it."""
    if settings.adasum:
        from hvdkit.verify.hook.adasum import adasum_in_ddp

        adasum_in_ddp(settings)
    elif settings.world > 2:
        from hvdkit.verify.hook.float64 import widen_ddp

        widen_ddp(settings.float16)
    elif settings.float16:
        from hvdkit.verify.hook.float16 import narrow_ddp

        narrow_ddp()


def _hook_horovod_compression(settings: Settings) -> None:
    if settings.world > 2:
        from hvdkit.verify.hook.float64 import widen_horovod

        widen_horovod()
    if settings.repeat or settings.uncompressed:
        from hvdkit.verify.hook.repeat import send_uncompressed

        send_uncompressed()


def _hook_horovod_operations() -> None:
    from hvdkit.verify.hook.collectives import watch_horovod_collectives

    watch_horovod_collectives()


def _hook_horovod_functions() -> None:
    from hvdkit.verify.hook.collectives import watch_horovod_objects
    from hvdkit.verify.hook.watch import watch_horovod_state

    watch_horovod_state()
    watch_horovod_objects()


def _hook_horovod_optimizer() -> None:
    from hvdkit.verify.hook.adasum import check_adasum
    from hvdkit.verify.hook.recorder import Recorder
    from hvdkit.verify.hook.twin_job import watch_horovod_averages
    from hvdkit.verify.hook.watch import watch_adasum_steps, watch_compression

    recorder = Recorder.of_process()
    watch_horovod_averages()
    watch_compression(recorder)
    watch_adasum_steps(recorder)
    check_adasum(recorder)


def _hook_hvdkit_broadcast() -> None:
    from hvdkit.verify.hook.watch import watch_hvdkit_broadcast

    watch_hvdkit_broadcast()


def _hook_horovod_sync_batch_norm(settings: Settings) -> None:
    if settings.repeat or settings.twinned:
        from hvdkit.verify.hook.repeat import normalise_alone

        normalise_alone()
    elif settings.cpu:
        from hvdkit.verify.hook.sync_batch_norm import map_horovod

        map_horovod()


def _hook_tensorflow(settings: Settings) -> None:
    """Runs once `import tensorflow` has finished, before the script's next line."""
    from hvdkit.verify.hook.printing import watch_printing
    from hvdkit.verify.hook.tensorflow.batches import watch_batches
    from hvdkit.verify.hook.tensorflow.devices import prepare
    from hvdkit.verify.hook.tensorflow.recorder import Recorder
    from hvdkit.verify.hook.tensorflow.watch import watch_tapes, watch_tensorflow_files

    prepare(settings)
    seed_everything(start_seed(settings))
    recorder = Recorder.of_process()
    for watch in (watch_batches, watch_tapes, watch_tensorflow_files, watch_printing):
        watch(recorder)
    mark_begun(settings)


def _watch_updates(kind: Any, method: str) -> None:
    from hvdkit.verify.hook.tensorflow.watch import watch_updates

    watch_updates(kind, method)


def _on_tensorflow(hook: Callable[[], None]) -> None:
    """Keras 3 may compute with something else, and TensorFlow not be there."""
    if "tensorflow" in sys.modules:
        hook()


def _hook_callbacks() -> None:
    from keras.src import callbacks

    from hvdkit.verify.hook.tensorflow.watch import watch_decisions

    watch_decisions(callbacks)


def _hook_keras_fit() -> None:
    from keras.src.engine.training import Model

    from hvdkit.verify.hook.tensorflow.watch import watch_fit

    watch_fit(Model)


def _hook_keras_steps() -> None:
    from keras.src.engine.data_adapter import DataHandler

    from hvdkit.verify.hook.tensorflow.watch import watch_steps_of_fit

    watch_steps_of_fit(DataHandler)


def _hook_keras_3_steps() -> None:
    from keras.src.trainers.epoch_iterator import EpochIterator

    from hvdkit.verify.hook.tensorflow.watch import watch_epochs_of_fit

    watch_epochs_of_fit(EpochIterator)


def _hook_keras_3_generators() -> None:
    from keras.src.random.seed_generator import SeedGenerator

    from hvdkit.verify.hook.tensorflow.twin_states import watch_generators

    watch_generators(SeedGenerator)


def _hook_tensorflow_compression(settings: Settings) -> None:
    if settings.repeat or settings.uncompressed:
        from horovod.tensorflow.compression import FP16Compressor, NoneCompressor

        FP16Compressor.compress = staticmethod(NoneCompressor.compress)
        FP16Compressor.decompress = staticmethod(NoneCompressor.decompress)


def _hook_keras_3_fit() -> None:
    from keras.src.backend.tensorflow.trainer import TensorFlowTrainer

    from hvdkit.verify.hook.tensorflow.watch import watch_fit

    watch_fit(TensorFlowTrainer)


def _hook_horovod_tensorflow_functions() -> None:
    from hvdkit.verify.hook.tensorflow.watch import watch_broadcasts

    watch_broadcasts(sys.modules["horovod.tensorflow.functions"], "broadcast_variables")


def _hook_hvdkit_keras_broadcast() -> None:
    from hvdkit.verify.hook.tensorflow.watch import watch_broadcasts

    watch_broadcasts(sys.modules["hvdkit.keras.collectives.tensorflow"], "broadcast")
