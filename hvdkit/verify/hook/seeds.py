"""Fix what a program leaves to chance: the generators of Python, numpy and torch, threads and kernels.

The seed is fixed where the process starts and differs by rank. A script that seeds itself keeps its own
seed; one that does not gets the same numbers in both runs, and other numbers on each rank, so that a
missing broadcast shows.
"""

from __future__ import annotations

import hashlib
import os
import random
import sys
from multiprocessing.process import BaseProcess, current_process

from hvdkit.verify.hook.settings import Settings, launcher_rank


def start_seed(settings: Settings) -> int:
    """The seed of this process: by its launcher's rank, else by its place among its parent's children."""
    rank = 0 if settings.replay else launcher_rank()
    if rank is None:
        identity: tuple[int, ...] = getattr(current_process(), "_identity", ())
        rank = identity[0] - 1 if identity else 0
    return settings.seed + rank


def seed_everything(seed: int, unless_moved_from: int | None = None) -> None:
    """Set every generator whose library is imported; but none that is no longer as another seed left it."""
    before = unless_moved_from
    if before is None or random.getstate() == random.Random(before).getstate():
        random.seed(seed)
    seed_numpy(seed, before)
    torch = sys.modules.get("torch")
    if torch is not None and (before is None or torch.initial_seed() == before):
        torch.manual_seed(seed)
    tensorflow = sys.modules.get("tensorflow")
    if tensorflow is not None and hasattr(tensorflow, "random"):  # not while it is being imported
        tensorflow.random.set_seed(seed)


def seed_numpy(seed: int, unless_moved_from: int | None = None) -> None:
    """Set numpy's global generator, if the script has imported it."""
    numpy_random = sys.modules.get("numpy.random")
    if numpy_random is None:
        return
    if unless_moved_from is not None:
        _, keys, place, *_ = numpy_random.RandomState(unless_moved_from % 2**32).get_state()
        _, own, at, *_ = numpy_random.get_state()
        if at != place or (own != keys).any():
            return
    numpy_random.seed(seed % 2**32)


def seed_child_processes(settings: Settings) -> None:
    """Seed a process that the script starts itself (mp.spawn, Process) by its place among its siblings.

    A new interpreter has imported the script's module by then: what that has seeded stays so, as it would in
    a process that runs the script itself.
    """
    run, installed = BaseProcess.run, os.getpid()

    def seeded(process: BaseProcess) -> None:
        # A loader worker seeds itself again right after this, from its parent's generator.
        if launcher_rank() is None:
            is_new = os.getpid() == installed  # a fork has its parent's state, and goes on with another
            seed_everything(start_seed(settings), unless_moved_from=settings.seed if is_new else None)
        run(process)

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
