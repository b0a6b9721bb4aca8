"""The hosts have different versions of Open MPI."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, says

CAUSE = Cause(
    id="mpi_versions",
    title="mpirun and its daemons cannot read each other's messages",
    why=(
        "Mostly they are not the same Open MPI: another version on one of the hosts, or a Horovod that "
        "was built against another MPI than the mpirun that starts it (conda brings one)."
    ),
    fix=(
        "`mpirun --version` on every host, and `which -a mpirun`: one version for all; then hvdkit "
        "install-horovod --rebuild, which builds against the mpirun that is first on PATH"
    ),
    find=says(
        r"ORTE_ERROR_LOG: (?:Data unpack would read past end of buffer(?! in file \S*show_help)"
        r"|Data unpack failed|Buffer type \(described vs non-described\) mismatch"
        r"|Unpack data type mismatch)[^\n]*",
        r"PMIX ERROR: (?:PMIX_ERR_)?(?:UNPACK[-_]READ[-_]PAST|UNPACK-(?:PAST-END|READ-PAST)|BAD-PARAM"
        r"|DATA-TYPE-MISMATCH)[^\n]*",
        r"version of (?:PMIx|Open MPI) [^\n]*(?:is not compatible|does not match)",
        in_job=True,
    ),
    excerpt="""\
[node2:03144] [[50671,0],1] ORTE_ERROR_LOG: Data unpack would read past end of buffer in file  ...
""",
    source="https://github.com/horovod/horovod/issues/133",
)
