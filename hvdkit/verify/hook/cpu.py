"""Lets a script that asks for CUDA run without it: devices, streams, seeds and backends mapped to the CPU.

For both runs alike, so what is compared is the program, not the kernels. autocast regions for CUDA have no
effect on CPU tensors: they compute in float32.
"""

from __future__ import annotations

import functools
import os
import sys
from collections import Counter
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import torch
from torch.nn import parallel
from torch.overrides import TorchFunctionMode

from hvdkit.verify.hook.moves import map_moves
from hvdkit.verify.hook.settings import Settings

CPU = torch.device("cpu")
# Functions whose first argument (after the tensor) may be a device as a number or a name.
DEVICE_FIRST = {torch.Tensor.to: 1, torch._C._nn._parse_to: 0}
MEMORY = 16 << 30  # bytes that a pretended device has


class Devices:
    """The pretended devices. tell: called with the number of each that is asked for."""

    def __init__(self, tell: Callable[[int], None]) -> None:
        self.current, self.tell = 0, tell
        self.asked = 0  # how often one was
        self.held: set[int] = set()  # addresses of tensors that are on one

    def choose(self, device: Any) -> None:
        """Make it the current one; -1, or none of a number, leaves that as it is."""
        index = device if isinstance(device, int) else torch.device(device).index
        self.current = index if index is not None and index >= 0 else self.current
        self.tell(self.current)

    def on_cpu(self, device: Any) -> Any:
        """A CUDA device in any of its forms becomes the CPU; any other stays."""
        index = device if isinstance(device, int) else torch.device(device).index
        if not isinstance(device, int) and torch.device(device).type != "cuda":
            return device
        self.asked += 1
        self.tell(self.current if index is None else index)
        return CPU


def run_without_cuda(settings: Settings, asked: Callable[[int], None]) -> None:
    """Map everything that asks for CUDA, in this process. asked: called with each device's number."""
    devices = Devices(asked)
    OnCpu(devices).__enter__()  # type: ignore[no-untyped-call]  # for the life of the process
    map_moves(devices)
    _map_cuda_module(_devices_of_host(settings.world), devices)
    if hasattr(torch, "accelerator"):  # torch 2.6 and later
        _map_accelerator_module()
    _map_loader()
    _map_distributed()
    _map_wrappers()
    _map_load()


def _devices_of_host(world: int) -> int:
    """One for each rank of this host, as launchers say; any other that is asked for is given all the same."""
    names = ("HOROVOD_LOCAL_SIZE", "LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE")
    return next((int(os.environ[name]) for name in names if os.environ.get(name, "").isdigit()), world)


class OnCpu(TorchFunctionMode):
    """Every torch function that is given a CUDA device gets the CPU."""

    def __init__(self, devices: Devices) -> None:
        super().__init__()
        self.on_cpu, self.devices = devices.on_cpu, devices

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Called by torch in place of `func`."""
        if func is torch.Tensor.cuda:
            asked = args[1] if len(args) > 1 else (kwargs or {}).get("device")
            self.on_cpu("cuda" if asked is None else asked)
        if func in (torch.Tensor.cuda, torch.Tensor.pin_memory):
            return args[0]
        place = DEVICE_FIRST.get(func)
        if place is not None and len(args) > place and isinstance(args[place], (int, str)):
            args = (*args[:place], self.on_cpu(args[place]), *args[place + 1 :])
        kwargs = dict(kwargs or {})
        before = self.devices.asked
        if "device" in kwargs and kwargs["device"] is not None:
            kwargs["device"] = self.on_cpu(kwargs["device"])
        result = func(*(self.on_cpu(a) if isinstance(a, torch.device) else a for a in args), **kwargs)
        if self.devices.asked > before and type(result) is torch.Tensor and not _of_tensors(args):
            self.devices.held.add(result.data_ptr())  # made on a device
        return result


def _of_tensors(args: tuple[Any, ...]) -> bool:
    """Whether a function changes tensors that it is given, or makes them of nothing."""
    return any(isinstance(arg, torch.Tensor) for arg in args)


class Stream:
    """A CUDA stream, or the scope of a stream or device, where everything happens in order on the CPU."""

    def __init__(self, *_: Any, **__: Any) -> None:
        self.device = CPU

    def __getattr__(self, name: str) -> Any:
        return functools.partial(_answer, None)  # record, wait_stream, synchronize and the like

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing to leave."""

    def query(self) -> bool:
        """All work is done."""
        return True


class Event(Stream):
    """A CUDA event."""

    def elapsed_time(self, end: object) -> float:
        """Milliseconds from this event to another; nothing is timed here."""
        return 0.0


# Names in torch.cuda that do nothing on a CPU.
IDLE = """
    init synchronize empty_cache ipc_collect manual_seed manual_seed_all seed seed_all set_rng_state
    set_rng_state_all reset_peak_memory_stats reset_max_memory_allocated set_per_process_memory_fraction
    set_stream
"""
MEMORY_COUNTERS = """
    memory_allocated max_memory_allocated memory_reserved max_memory_reserved memory_cached
    max_memory_cached utilization
"""
TENSOR_TYPES = ("Float", "Double", "Half", "BFloat16", "Long", "Int", "Short", "Char", "Byte", "Bool")


def _map_cuda_module(count: int, devices: Devices) -> None:
    """torch.cuda as it looks with so many devices."""
    properties = SimpleNamespace(
        name="CPU", major=8, minor=0, total_memory=MEMORY, multi_processor_count=1, uuid="cpu"
    )
    answers: dict[str, Any] = {
        "is_available": True,
        "is_initialized": True,
        "device_count": count,
        "is_bf16_supported": True,
        "is_current_stream_capturing": False,
        "get_device_name": properties.name,
        "get_device_capability": (properties.major, properties.minor),
        "get_device_properties": properties,
        "mem_get_info": (MEMORY, MEMORY),
        **dict.fromkeys(MEMORY_COUNTERS.split(), 0),
        "memory_stats": Counter(),  # every one of them is 0
        "memory_summary": "",
    }
    functions: dict[str, Any] = {
        "set_device": devices.choose,
        "current_device": lambda: devices.current,
        "get_rng_state": lambda *_: torch.get_rng_state(),
        "get_rng_state_all": lambda: [torch.get_rng_state()] * count,
        "Stream": Stream,
        "Event": Event,
        "current_stream": lambda *_, **__: Stream(),
        "default_stream": lambda *_, **__: Stream(),
        "stream": Stream,
        "device": Stream,
        # An object of its own for each name: torch.compile keeps a table of them by identity.
        **{name: functools.partial(_answer, None) for name in IDLE.split()},
        **{name: functools.partial(_answer, value) for name, value in answers.items()},
        **{f"{kind}Tensor": getattr(torch, f"{kind}Tensor") for kind in TENSOR_TYPES},
    }
    for name, value in functions.items():
        setattr(torch.cuda, name, value)
    for name in ("range_push", "range_pop", "mark"):
        setattr(torch.cuda.nvtx, name, functools.partial(_answer, None))


def _map_accelerator_module() -> None:
    """torch.accelerator says what the pretended torch.cuda says."""
    names = {
        "is_available": "is_available",
        "device_count": "device_count",
        "current_device_index": "current_device",
        "current_device_idx": "current_device",
        "set_device_index": "set_device",
        "set_device_idx": "set_device",
        "current_stream": "current_stream",
        "set_stream": "set_stream",
        "synchronize": "synchronize",
        "empty_cache": "empty_cache",
        "device_index": "device",
        "reset_peak_memory_stats": "reset_peak_memory_stats",
        "memory_stats": "memory_stats",
        **{name: name for name in MEMORY_COUNTERS.split()},
    }
    for name, of_cuda in names.items():
        if hasattr(torch.accelerator, name):
            setattr(torch.accelerator, name, getattr(torch.cuda, of_cuda))
    torch.accelerator.current_accelerator = functools.partial(_answer, torch.device("cuda"))


def _map_loader() -> None:
    """No pinned memory: a thread would ask the driver for it, out of reach of `OnCpu`."""
    from torch.utils.data import DataLoader

    build = DataLoader.__init__

    @functools.wraps(build)
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        build(self, *args, **kwargs)
        self.pin_memory = False

    DataLoader.__init__ = init  # type: ignore[method-assign]


def _answer(value: Any, *_: Any, **__: Any) -> Any:
    return value


def _map_distributed() -> None:
    """NCCL becomes Gloo."""
    import torch.distributed as dist

    def on_gloo(function: Any) -> Any:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            kwargs = {k: _gloo(v) for k, v in _without(kwargs, "device_id", "device_ids").items()}
            return function(*map(_gloo, args), **kwargs)

        return call

    for name in ("init_process_group", "new_group", "barrier"):
        for module in (dist, dist.distributed_c10d):
            setattr(module, name, on_gloo(getattr(module, name)))


def _gloo(value: Any) -> Any:
    """What is given, and Gloo for a backend with NCCL in it: torch takes its name in capitals, too."""
    return "gloo" if isinstance(value, str) and "nccl" in value.lower() else value


def _map_wrappers() -> None:
    """DistributedDataParallel and DataParallel take no device ids on a CPU."""
    build = parallel.DistributedDataParallel.__init__

    @functools.wraps(build)
    def init(
        self: Any, module: Any, device_ids: Any = None, output_device: Any = None, *args: Any, **kwargs: Any
    ) -> None:
        build(self, module, None, None, *args, **kwargs)

    parallel.DistributedDataParallel.__init__ = init  # type: ignore[method-assign]
    # By its full name: the package has a function called data_parallel too.
    sys.modules["torch.nn.parallel.data_parallel"]._get_available_device_type = (  # type: ignore[attr-defined]
        functools.partial(_answer, None)
    )


def _map_load() -> None:
    """Checkpoints written on a GPU are read onto the CPU."""
    load = torch.load

    @functools.wraps(load)
    def load_on_cpu(f: Any, map_location: Any = None, *args: Any, **kwargs: Any) -> Any:
        return load(f, "cpu", *args, **kwargs)

    torch.load = torch.serialization.load = load_on_cpu


def _without(kwargs: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in kwargs.items() if name not in names}
