"""Puts the recorder's calls around optimizer steps and losses."""

from __future__ import annotations

import functools
import sys
import threading
from typing import Any

import torch

from hvdkit.observe.records import DDP, FLOAT16, SENDS_BUFFERS, Event
from hvdkit.observe.steps import around_steps, hide_adasum_steps, hide_state_steps, inside_a_step
from hvdkit.verify.hook.order import note_lost_hooks
from hvdkit.verify.hook.own import last_factor
from hvdkit.verify.hook.recorder import Recorder
from hvdkit.verify.hook.seeds import align


def watch_steps(recorder: Recorder) -> None:
    """Record before and after each step."""

    def after(optimizer: torch.optim.Optimizer) -> None:
        recorder.after_step(optimizer)
        align(recorder.settings, "step", *recorder.counts.values())

    def before(optimizer: torch.optim.Optimizer) -> None:
        note_lost_hooks(recorder, optimizer)
        recorder.before_step(optimizer)

    around_steps(before, recorder.before_update, after)


def watch_losses(recorder: Recorder) -> None:
    """Note each number that backward() is called on, and what it was multiplied by last."""
    backward = torch.Tensor.backward

    @functools.wraps(backward)
    def watched(self: torch.Tensor, *args: Any, **kwargs: Any) -> None:
        if self.numel() == 1:
            recorder.losses.append(float(self.detach()))
            recorder.factors.append(last_factor(self))
        backward(self, *args, **kwargs)  # type: ignore[no-untyped-call]

    torch.Tensor.backward = watched  # type: ignore[method-assign]


def watch_ddp(recorder: Recorder) -> None:
    """Note that a model is wrapped in DistributedDataParallel."""
    if not torch.distributed.is_available():
        return
    from torch.nn.parallel import DistributedDataParallel

    wrap = DistributedDataParallel.__init__

    @functools.wraps(wrap)
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        recorder.note_once(DDP)
        wrap(self, *args, **kwargs)
        if self.will_sync_module_buffers():
            recorder.note_once(SENDS_BUFFERS)

    DistributedDataParallel.__init__ = init  # type: ignore[method-assign]


def watch_horovod_state() -> None:
    """Note what Horovod sends at the start, and its own step inside broadcast_optimizer_state."""
    import horovod.torch.functions as functions

    def tell(what: str, detail: str = "") -> None:
        Recorder.of_process().events.append(Event(what, detail))

    hide_state_steps(tell)
    send_parameters = functions.broadcast_parameters

    @functools.wraps(send_parameters)
    def broadcast_parameters(*args: Any, **kwargs: Any) -> Any:
        tell("broadcast")
        return send_parameters(*args, **kwargs)

    functions.broadcast_parameters = broadcast_parameters


def watch_hvdkit_broadcast() -> None:
    """Note hvdkit's own broadcast of a model and its optimizer."""
    # Not by `import ... as`: the package has a function of this name, horovod.torch's at first.
    module: Any = sys.modules["hvdkit.torch.broadcast"]
    send = module.broadcast

    @functools.wraps(send)
    def broadcast(*args: Any, **kwargs: Any) -> Any:
        if not (args and isinstance(args[0], torch.Tensor)):
            Recorder.of_process().events.append(Event("broadcast"))
        return send(*args, **kwargs)

    module.broadcast = broadcast


def watch_compression(recorder: Recorder) -> None:
    """Note that gradients are compressed to float16, whoever asked Horovod's optimizer for it."""
    from horovod.torch.compression import FP16Compressor
    from horovod.torch.optimizer import _DistributedAdasumOptimizer, _DistributedOptimizer

    compress = FP16Compressor.compress
    sending = threading.local()

    @functools.wraps(compress)
    def watched(tensor: torch.Tensor) -> Any:
        if getattr(sending, "gradient", False):
            recorder.note_once(FLOAT16)
        return compress(tensor)

    def sends(send: Any) -> Any:
        @functools.wraps(send)
        def of_optimizer(*args: Any) -> Any:
            sending.gradient = True
            try:
                return send(*args)
            finally:
                sending.gradient = False

        return of_optimizer

    FP16Compressor.compress = staticmethod(watched)
    for made in (_DistributedOptimizer, _DistributedAdasumOptimizer):
        made._allreduce_grad_async = sends(made._allreduce_grad_async)
    _DistributedOptimizer._grouped_allreduce_grad_async = sends(
        _DistributedOptimizer._grouped_allreduce_grad_async
    )


def watch_adasum_steps(recorder: Recorder) -> None:
    """Adasum's steps inside backward() are no steps of the script; the first of all comes after its start."""
    from horovod.torch.optimizer import _DistributedAdasumOptimizer as Adasum

    hide_adasum_steps()
    update = Adasum._allreduce_grad_async

    @functools.wraps(update)
    def update_of_one(self: torch.optim.Optimizer, parameter: torch.Tensor) -> Any:
        if not inside_a_step():
            recorder.before_step(self)  # in backward(), where its parameters are as they were
        gradients = recorder.gradients, recorder.gradient_values
        handle = update(self, parameter)
        recorder.gradients, recorder.gradient_values = gradients  # of all parameters, not of this one
        return handle

    Adasum._allreduce_grad_async = update_of_one
