"""The manifests of a job: MPIJob of mpi-operator, PyTorchJob of Kubeflow's training operator.

https://github.com/kubeflow/mpi-operator, kubeflow.org/v2beta1;
https://github.com/kubeflow/training-operator, kubeflow.org/v1.
"""

from __future__ import annotations

from typing import Any

from hvdkit.docker.document import as_yaml
from hvdkit.docker.job import KEYS, SSH_PORT, Job

# What a pod's network calls the interface to the other pods, unless it runs in the host's network.
INTERFACE = "eth0"
_SHARED_MEMORY = "2Gi"

_MPI_HEAD = """\
# Made by `hvdkit docker`; yours from here on. Needs mpi-operator (kubeflow.org/v2beta1) in
# the cluster, and the image in a registry.
#
#   docker push {image}
#   kubectl apply -f {file}
#   kubectl logs -f job/{name}-launcher
#
# The operator makes a pair of keys for this job and mounts it where the image's sshd and ssh look for it.
# eth0: the pods' interface; with hostNetwork: true it is the machine's.
"""
_PYTORCH_HEAD = """\
# Made by `hvdkit docker`; yours from here on. Needs the training operator (kubeflow.org/v1) in
# the cluster, and the image in a registry.
#
#   docker push {image}
#   kubectl create secret generic {name}-hvdkit --from-literal=secret="$(openssl rand -hex 32)"
#   kubectl apply -f {file}
#   kubectl logs -f {name}-master-0
#
# Without the secret every pod that reaches the master's can take a rank's place while the job starts.
# One rank a pod. hvdkit's init() connects them by MASTER_ADDR, on the port above MASTER_PORT, over the
# interface that leads there.
"""


def mpijob(job: Job) -> str:
    """The MPIJob: mpirun on the operator's host list, as many slots a worker as it has ranks."""
    start = [
        *("mpirun", "-np", str(job.ranks), "--bind-to", "none", "--map-by", "slot"),
        *("--mca", "oob_tcp_if_include", INTERFACE, "--mca", "btl_tcp_if_include", INTERFACE),
        *(("-x", f"NCCL_SOCKET_IFNAME={INTERFACE}") if job.gpu else ()),
    ]
    launcher = {"name": "launcher", "image": job.image, "command": [*start, *map(_literal, job.command)]}
    worker = {
        "name": "worker",
        "image": job.image,
        "command": ["hvdkit-sshd"],
        "ports": [{"containerPort": SSH_PORT, "name": "ssh"}],
        "readinessProbe": {"tcpSocket": {"port": SSH_PORT}, "periodSeconds": 5},
    }
    replicas = {
        "Launcher": {"replicas": 1, "restartPolicy": "Never", "template": {"spec": _pod(launcher)}},
        "Worker": {
            "replicas": job.containers,
            "restartPolicy": "Never",
            "template": {"spec": _pod(_with_memory(worker, job, job.slots), memory=True)},
        },
    }
    spec = {
        "slotsPerWorker": job.slots,
        "runPolicy": {"cleanPodPolicy": "Running", "backoffLimit": 0},
        "sshAuthMountPath": str(KEYS),
        "launcherCreationPolicy": "WaitForWorkersReady",
        "mpiReplicaSpecs": replicas,
    }
    return _manifest(job, _MPI_HEAD, "mpijob.yaml", "v2beta1", "MPIJob", spec)


def pytorchjob(job: Job) -> str:
    """The PyTorchJob: one rank a pod, connected by hvdkit's init()."""

    def replica(count: int) -> dict[str, Any]:
        # The operator looks for a container of this name.
        secret = {"name": f"{job.name}-hvdkit", "key": "secret", "optional": True}
        container = {
            "name": "pytorch",
            "image": job.image,
            "command": [*map(_literal, job.command)],
            "env": [{"name": "HVDKIT_SECRET", "valueFrom": {"secretKeyRef": secret}}],
        }
        pod = _pod(_with_memory(container, job, 1), memory=True)
        return {"replicas": count, "restartPolicy": "Never", "template": {"spec": pod}}

    replicas = {"Master": replica(1)}
    if job.ranks > 1:
        replicas["Worker"] = replica(job.ranks - 1)
    spec = {"runPolicy": {"cleanPodPolicy": "Running", "backoffLimit": 0}, "pytorchReplicaSpecs": replicas}
    return _manifest(job, _PYTORCH_HEAD, "pytorchjob.yaml", "v1", "PyTorchJob", spec)


def _manifest(job: Job, head: str, file: str, version: str, kind: str, spec: dict[str, Any]) -> str:
    document = {
        "apiVersion": f"kubeflow.org/{version}",
        "kind": kind,
        "metadata": {"name": job.name},
        "spec": spec,
    }
    return head.format(image=job.image, name=job.name, file=job.in_context(file)) + as_yaml(document)


def _pod(container: dict[str, Any], memory: bool = False) -> dict[str, Any]:
    """A pod of one container. memory: it mounts /dev/shm, where a pod has 64 MB otherwise.

    A namespace of the Pod Security level "restricted" takes it:
    https://kubernetes.io/docs/concepts/security/pod-security-standards/
    """
    container["securityContext"] = {
        "runAsNonRoot": True,
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    # No process of a job talks to the cluster.
    pod: dict[str, Any] = {"automountServiceAccountToken": False, "containers": [container]}
    if memory:
        pod["volumes"] = [{"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": _SHARED_MEMORY}}]
    return pod


def _with_memory(container: dict[str, Any], job: Job, ranks: int) -> dict[str, Any]:
    """A container that ranks run in: shared memory, and a GPU for each rank."""
    container["volumeMounts"] = [{"name": "shm", "mountPath": "/dev/shm"}]
    if job.gpu:
        container["resources"] = {"limits": {"nvidia.com/gpu": ranks}}
    return container


def _literal(word: str) -> str:
    """A word that Kubernetes does not take for one of its variables."""
    return word.replace("$(", "$$(")
