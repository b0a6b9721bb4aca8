"""horovodrun without its check of the build, for callers to whom a failed start is soon enough.

Before it starts a rank, horovodrun imports each framework in a process of its own and asks whether Gloo or
MPI was built. That takes as long as a rank takes to start, each time.

Options of mpirun that horovodrun writes with one dash, which Open MPI 6 no longer takes, have two.

It is run by its path: `python -m` would look for modules in the current folder first, which is the user's.
So would the processes that horovodrun starts by multiprocessing.
"""

from __future__ import annotations

from horovod.runner import launch, mpi_run

from hvdkit.interpreter import guard_workers


def _built(verbose: bool = False) -> bool:
    """What the ranks find out in any case: Horovod's init says what was not built."""
    return True


guard_workers()  # in these processes, too, which run this file first

if __name__ == "__main__":
    mpi_run._NO_BINDING_ARGS = ["--bind-to none", "--map-by slot"]
    launch.gloo_built = launch.mpi_built = _built
    launch.run_commandline()
