"""What connects the ranks of a measured job: Horovod, DDP's process group, or nothing for one rank."""

from __future__ import annotations

import os
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import torch
from torch import nn
from torch.optim import Optimizer

_REPEATS = 5  # exchanges of all gradients, after one that makes buffers and connections


class Link(ABC):
    """The ranks of this job. connect() comes first, unless the script that is measured does it itself."""

    @property
    def rank(self) -> int:
        """This process's."""
        return 0

    @property
    def controller(self) -> str:
        """What connects the ranks, "" for one."""
        return ""

    def connect(self) -> torch.device:
        """Connect to the other ranks. Returns the device of this one."""
        return torch.device("cuda", 0) if torch.cuda.is_available() else torch.device("cpu")

    @abstractmethod
    def wrapped(self, model: nn.Module, optimizer: Optimizer) -> tuple[nn.Module, Optimizer]:
        """Both, so that gradients are averaged."""

    @abstractmethod
    def gathered(self, value: object) -> list[Any]:
        """Every rank's value, by rank, on all ranks."""

    def exchanges(self, sizes: Sequence[torch.Tensor]) -> list[float]:
        """Seconds of some exchanges of tensors of these shapes with nothing else under way; maybe none."""
        return []

    @abstractmethod
    def leave(self) -> None:
        """The last that is done: what has threads under way when Python ends may take the process with it."""


class Alone(Link):
    """One rank that exchanges nothing."""

    def wrapped(self, model: nn.Module, optimizer: Optimizer) -> tuple[nn.Module, Optimizer]:
        """As they are."""
        return model, optimizer

    def gathered(self, value: object) -> list[Any]:
        """The only one."""
        return [value]

    def leave(self) -> None:
        """There is nothing to leave."""


class Horovod(Link):
    """As `hvdkit run` starts it."""

    def __init__(self) -> None:
        import horovod.torch as hvd

        self._hvd = hvd

    @property
    def rank(self) -> int:
        """Horovod's."""
        return int(self._hvd.rank())

    @property
    def controller(self) -> str:
        """Horovod's: NCCL or Gloo may carry tensors beside MPI."""
        if self._hvd.size() == 1:
            return ""
        return "mpi" if self._hvd.mpi_enabled() else "gloo"

    def connect(self) -> torch.device:
        """hvd.init(), and the device of the local rank."""
        from hvdkit.torch.context import init

        return init().device

    def wrapped(self, model: nn.Module, optimizer: Optimizer) -> tuple[nn.Module, Optimizer]:
        """With Horovod's optimizer, and rank 0's parameters on all ranks."""
        made = self._hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
        self._hvd.broadcast_parameters(model.state_dict(), root_rank=0)
        return model, made

    def gathered(self, value: object) -> list[Any]:
        """By Horovod."""
        return list(self._hvd.allgather_object(value))

    def exchanges(self, sizes: Sequence[torch.Tensor]) -> list[float]:
        """As the optimizer sends them: each by itself, and Horovod fuses."""
        if self._hvd.size() == 1:
            return []
        tensors = [torch.zeros_like(tensor) for tensor in sizes]
        taken = []
        for _ in range(_REPEATS + 1):
            self._hvd.barrier()
            began = time.perf_counter()
            handles = [
                self._hvd.allreduce_async_(tensor, op=self._hvd.Average, name=f"hvdkit.bench.{number}")
                for number, tensor in enumerate(tensors)
            ]
            for handle in handles:
                self._hvd.synchronize(handle)
            taken.append(time.perf_counter() - began)
        return taken[1:]

    def leave(self) -> None:
        """hvd.shutdown()."""
        self._hvd.shutdown()


class Ddp(Link):
    """DistributedDataParallel, with the variables that `hvdkit run --torch` gives."""

    @property
    def rank(self) -> int:
        """Of the process group."""
        return int(torch.distributed.get_rank())

    @property
    def controller(self) -> str:
        """The process group's backend."""
        return torch.distributed.get_backend()

    def connect(self) -> torch.device:
        """NCCL where there are GPUs, else Gloo."""
        if not torch.cuda.is_available():
            torch.distributed.init_process_group("gloo")
            return torch.device("cpu")
        device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
        torch.cuda.set_device(device)
        torch.distributed.init_process_group("nccl")
        return device

    def wrapped(self, model: nn.Module, optimizer: Optimizer) -> tuple[nn.Module, Optimizer]:
        """DDP averages in backward()."""
        return nn.parallel.DistributedDataParallel(model), optimizer

    def gathered(self, value: object) -> list[Any]:
        """By the process group."""
        found: list[Any] = [None] * torch.distributed.get_world_size()
        torch.distributed.all_gather_object(found, value)
        return found

    def leave(self) -> None:
        """Destroy the process group."""
        torch.distributed.destroy_process_group()


LINKS: dict[str, type[Link]] = {"horovod": Horovod, "ddp": Ddp, "one": Alone}
