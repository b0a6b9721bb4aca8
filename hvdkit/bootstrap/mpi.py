"""mpirun, mpiexec and srun --mpi=pmi2: a Horovod built with MPI asks MPI itself."""

from __future__ import annotations

from hvdkit.bootstrap.variables import Family

FAMILIES = (
    Family("mpirun", "OMPI_COMM_WORLD_RANK", ("OMPI_COMM_WORLD_SIZE",), "OMPI_COMM_WORLD_LOCAL_SIZE"),
    Family("the MPI launcher", "PMI_RANK", ("PMI_SIZE",), "MPI_LOCALNRANKS"),
)
