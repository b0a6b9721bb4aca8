"""srun started ranks of an MPI that does not understand it."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, says

CAUSE = Cause(
    id="srun_pmi",
    title="the ranks cannot join under srun: MPI and Slurm have no PMI in common",
    why=(
        "srun connects the ranks through PMI or PMIx. This MPI was built without the one that srun "
        "offers, so MPI_Init fails, or each rank assumes that it is the only one."
    ),
    fix=(
        "srun --mpi=list shows what Slurm has: srun --mpi=pmix (or pmi2) with an Open MPI that was "
        "built for it; or in the allocation hvdkit run, horovodrun or mpirun instead of srun, which "
        "need no PMI"
    ),
    find=says(
        r"OMPI was not built with SLURM(?:'s PMI)? support",
        r"application appears to have been direct launched using .srun.",
        r"PMI2?_Init (?:failed to in(?:it|t)ialize|returned -?\d+)",
        r"PMI_Get_\w+ \[pmix_s\d\.c[^\n]*Operation failed",
        r"PMI server not found\. Please set I_MPI_PMI_LIBRARY",
        r"(?:OPAL|PMIX) ERROR: Unreachable in file (?:pmix|ext)\w*_client\.c",
        r"srun: error: (?:Couldn't find the specified plugin name for mpi/\w+|[Ii]nvalid MPI (?:type"
        r"|plugin)|cannot create (?:mpi|MPI) context|MPI: Cannot create context)",
        r"mpi/pmix[^\n]*(?:can ?not|couldn't|failed to) (?:load|find|open)[^\n]*",
    ),
    excerpt="""\
The application appears to have been direct launched using "srun",
""",
    source="https://github.com/open-mpi/ompi/issues/10940",
)
