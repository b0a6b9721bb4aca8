"""MPI itself did not start."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, Level, says

CAUSE = Cause(
    id="init_mpi",
    title="MPI did not start{where}: {said}",
    why=(
        "MPI_Init failed before Horovod had anything to do: the MPI that Horovod loads is not the one "
        "whose mpirun started the job, or a rank was started without mpirun, or a network device does "
        "not open."
    ),
    fix=(
        "`ldd $(python -c 'import horovod.torch.mpi_lib_v2 as m; print(m.__file__)') | grep libmpi` and "
        "`which mpirun` must be of one Open MPI; mpirun --mca btl ^openib --mca pml ob1, as horovodrun "
        "does; or horovodrun --gloo"
    ),
    find=says(
        r"(?:It looks like|PML add procs failed)[^\n]*(?P<said>\w+_init failed|MPI_INIT has failed"
        r"|MPI_INIT failed)",
        r"(?P<said>(?:ompi_mpi_init|orte_init|opal_init|ompi_rte_init)[\w:.]*:? [^\n]*failed)",
        r"(?P<said>An error occurred in MPI_Init\w*)",
        in_job=True,
    ),
    excerpt="""\
  ompi_mpi_init: ompi_rte_init failed
""",
    level=Level.WAITS,
    general={"said": "MPI_Init failed"},
    source="https://github.com/horovod/horovod/issues/465",
)
