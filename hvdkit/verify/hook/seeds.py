"""Fix what a program leaves to chance: the generators of Python, numpy and torch, threads and kernels.

The seed is fixed where the process starts and differs by rank. A script that seeds itself keeps its own
seed; one that does not gets the same numbers in both runs, and other numbers on each rank, so that a
missing broadcast shows.
"""

from __future__ import annotations

import functools
import hashlib
import random
import sys
from importlib import import_module
from multiprocessing.process import BaseProcess, current_process
from types import ModuleType
from typing import Any

from hvdkit.verify.hook.settings import Settings, launcher_rank

_seed_python = random.seed
_by_script: set[str] = set()  # modules whose generator the script has seeded


def start_seed(settings: Settings) -> int:
    """The seed of this process: by its launcher's rank, else by its place among its parent's children."""
    rank = 0 if settings.replay or settings.repeat or settings.twins else launcher_rank()
    if rank is None:
        identity: tuple[int, ...] = getattr(current_process(), "_identity", ())
        rank = identity[0] - 1 if identity else 0
    return settings.seed + rank


def seed_everything(seed: int) -> None:
    """Set every generator whose library is imported."""
    _seed_python(seed)
    seed_numpy(seed)
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.manual_seed(seed)
    tensorflow = sys.modules.get("tensorflow")
    if tensorflow is not None and hasattr(tensorflow, "random"):  # not while it is being imported
        tensorflow.random.set_seed(seed)


def seed_numpy(seed: int) -> None:
    """Set numpy's global generator, if the script has imported it."""
    numpy_random = sys.modules.get("numpy.random")
    if numpy_random is not None:
        own = getattr(numpy_random.seed, "__wrapped__", numpy_random.seed)  # not as the script's
        own(seed % 2**32)


def watch_seed(module: ModuleType) -> None:
    """Note when the script calls `random.seed` or `numpy.random.seed`."""
    seed = module.seed

    @functools.wraps(seed)
    def watched(*args: Any, **kwargs: Any) -> None:
        _by_script.add(module.__name__)
        seed(*args, **kwargs)

    module.seed = watched  # type: ignore[attr-defined]


def states_of_script(settings: Settings) -> dict[str, Any]:
    """The states of the generators that the script has seeded, as they can be sent to another process."""
    states: dict[str, Any] = {}
    if "random" in _by_script:
        states["random"] = random.getstate()
    if "numpy.random" in _by_script:
        states["numpy.random"] = sys.modules["numpy.random"].get_state()
    torch = sys.modules.get("torch")
    if torch is not None and torch.initial_seed() != start_seed(settings):
        states["torch"] = torch.get_rng_state().numpy().tobytes()  # a tensor would be sent as shared memory
    return states


def _restore(states: dict[str, Any]) -> None:
    if "random" in states:
        random.setstate(states["random"])
    if "numpy.random" in states:
        import_module("numpy.random").set_state(states["numpy.random"])
    if "torch" in states:
        torch = import_module("torch")
        torch.set_rng_state(torch.frombuffer(bytearray(states["torch"]), dtype=torch.uint8))


def seed_child_processes(settings: Settings) -> None:
    """Seed a process that the script starts itself (mp.spawn, Process) by its place among its siblings.

    A generator that the script has seeded goes on from its state in the parent, as in the migrated, whose
    ranks run what the parent runs. A loader worker seeds itself again right after this, from its parent's.
    """
    start, run = BaseProcess.start, BaseProcess.run

    def started(process: BaseProcess) -> None:
        if launcher_rank() is None:
            process._hvdkit_states = states_of_script(settings)  # type: ignore[attr-defined]
        start(process)

    def seeded(process: BaseProcess) -> None:
        if launcher_rank() is None:
            seed_everything(start_seed(settings))
            _restore(getattr(process, "_hvdkit_states", {}))
        run(process)

    BaseProcess.start = started  # type: ignore[method-assign,assignment]
    BaseProcess.run = seeded  # type: ignore[method-assign,assignment]


def align(settings: Settings, *moment: object) -> None:
    """Set the random state to what belongs to this moment, if the run is to be aligned."""
    if settings.align:
        text = repr((settings.seed, *moment)).encode()
        seed_everything(int.from_bytes(hashlib.sha256(text).digest()[:4], "big"))


def make_torch_deterministic() -> None:
    """One thread per rank and kernels that repeat; an operation without one warns and goes on."""
    import torch

    torch.set_num_threads(1)
    # Not use_deterministic_algorithms: it imports the compiler, seconds in each process.
    torch.set_deterministic_debug_mode("warn")
    torch.backends.cudnn.benchmark = False
    torch.backends.cudnn.deterministic = True
