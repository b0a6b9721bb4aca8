"""The launcher of an MPIJob started before its workers."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, Level, says

CAUSE = Cause(
    id="pod_unready",
    title="a worker pod was not there when the launcher called it: {said}",
    why=(
        "mpi-operator's launcher starts the ranks in the workers' pods: one was not scheduled yet, was "
        "still pulling its image, or is gone."
    ),
    fix=(
        "kubectl get pods and kubectl describe pod of the workers; the launcher tries again by "
        "backoffLimit; resources that the cluster has, or an init container that waits for the workers' "
        "names"
    ),
    find=says(
        r"(?P<said>Error from server(?: \([A-Za-z]+\))?: (?:pods [^\n]* not found"
        r"|error dialing backend[^\n]*)|error: unable to upgrade connection[^\n]*)",
        r"ssh: Could not resolve hostname (?P<said>\S+-worker-\d+\S*?): ",
        in_job=True,
    ),
    excerpt="""\
Error from server (NotFound): pods "bert-worker-3" not found
""",
    level=Level.WAITS,
    general={"said": "WORKER"},
    source="https://github.com/kubeflow/mpi-operator/issues/40",
)
