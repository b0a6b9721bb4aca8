"""The mpirun that is found is not Open MPI."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, says

CAUSE = Cause(
    id="mpi_other",
    title="the mpirun that is found is not Open MPI: {said}",
    why=(
        "horovodrun --mpi gives mpirun options that Open MPI knows; MPICH's and Intel's mpirun (hydra) "
        "refuse them. conda often installs an MPICH that comes first on PATH."
    ),
    fix=(
        "which -a mpirun; put Open MPI's first on PATH, or conda install -c conda-forge openmpi, then "
        "hvdkit install-horovod --rebuild; or horovodrun --gloo, which does without mpirun"
    ),
    find=says(
        r"(?P<said>unrecognized argument (?:allow-run-as-root|bind-to|map-by|mca|H|x|tag-output)\b)",
        r"(?P<said>Open MPI/Spectrum MPI/MPICH/Intel MPI not found in output of mpirun --version)",
        r"(?P<said>Unknown MPI implementation given in output of mpirun --version)",
        r"(?P<said>unrecognized option '?--allow-run-as-root'?)",
        in_job=True,
    ),
    excerpt="""\
[mpiexec@master] match_arg (utils/args/args.c:159): unrecognized argument allow-run-as-root
""",
    general={"said": "what it says of its options"},
    source="https://github.com/horovod/horovod/issues/1637",
)
