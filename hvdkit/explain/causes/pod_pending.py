"""Kubernetes cannot place a pod of the job, or not get its image."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, says

CAUSE = Cause(
    id="pod_pending",
    title="a pod of the job does not start: {said}",
    why=(
        "The cluster has no node with that much free, or a node cannot fetch the image. The launcher "
        "waits for its workers, or fails and is tried again."
    ),
    fix=(
        "kubectl describe pod of the worker says what it lacks: fewer workers, slots or "
        "resources.limits; for an image its name, tag and imagePullSecrets"
    ),
    find=says(
        r"(?P<said>\d+/\d+ nodes are available: [^\n]{0,120})",
        r"(?P<said>(?:ErrImagePull|ImagePullBackOff)\b[^\n]{0,80})",
        r"(?P<said>Failed to pull image [^\n]{0,120})",
        r"(?P<said>pod group is not ready[^\n']{0,80})",
        in_job=True,
    ),
    excerpt="""\
  Warning  FailedScheduling  15m  volcano  2/1 tasks in gang unschedulable: pod group is not ready, ...
""",
    general={"said": "no room, or no image"},
    source="https://github.com/kubeflow/trainer/issues/1617",
)
