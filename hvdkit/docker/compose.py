"""compose.yaml: the containers of a job on one machine, and one that starts it.

https://github.com/compose-spec/compose-spec
"""

from __future__ import annotations

import shlex
from typing import Any

from hvdkit.docker.document import as_yaml
from hvdkit.docker.job import KEYS, Job

LAUNCHER = "launcher"

_HEAD = """\
# Made by `hvdkit docker`; yours from here on.
#
#   docker compose{file} up --build --exit-code-from launcher
#   docker compose{file} down --volumes
#
# The job's ssh keys are made at its first start, in a volume that only its containers see; no image
# holds them, and the second command deletes them. The containers have a network of their own: no port is open
# on the machine.
"""
# Docker's own 64 MB are too few for batches of DataLoader workers, and for NCCL and Open MPI between ranks.
SHARED_MEMORY = "2gb"


def compose(job: Job) -> str:
    """The file's text."""
    hosts = [f"worker-{number}" for number in range(1, job.containers + 1)]
    ranks = ",".join(f"{host}:{job.slots}" for host in hosts)
    services = {host: _worker(job, host, number) for number, host in enumerate(hosts)}
    services[LAUNCHER] = {
        **_service(job, LAUNCHER),
        "command": [
            _literal(word) for word in ("hvdkit", "run", "-np", str(job.ranks), "-H", ranks, *job.command)
        ],
        "depends_on": {host: {"condition": "service_healthy"} for host in hosts},
        "healthcheck": {"disable": True},
    }
    document = {"name": job.name, "services": services, "volumes": {"keys": {}}}
    if job.secrets:
        document["secrets"] = {name: {"environment": name} for name in job.secrets}
    file = "" if job.folder == job.context else f" -f {shlex.quote(job.in_context('compose.yaml'))}"
    return _HEAD.format(file=file) + as_yaml(document)


def _service(job: Job, host: str) -> dict[str, Any]:
    """What all containers have in common."""
    depth = len(job.folder.relative_to(job.context).parts)
    build: dict[str, Any] = {
        "context": "/".join([".."] * depth) or ".",
        "dockerfile": job.in_context("Dockerfile"),
    }
    if job.secrets:
        build["secrets"] = list(job.secrets)
    return {
        "build": build,
        "image": job.image,
        "hostname": host,
        "init": True,
        "shm_size": SHARED_MEMORY,
        "volumes": [f"keys:{KEYS}"],
    }


def _worker(job: Job, host: str, number: int) -> dict[str, Any]:
    """A container that ranks run in: it serves ssh, and is healthy when one of the job's keys gets in."""
    service = _service(job, host)
    service["command"] = ["hvdkit-sshd"]
    service["healthcheck"] = {
        "test": ["CMD", "ssh", "-o", "BatchMode=yes", "localhost", "true"],
        "interval": "2s",
        "timeout": "10s",
        "retries": 30,
    }
    if job.gpu:
        mine = range(number * job.slots, (number + 1) * job.slots)
        devices = {"driver": "nvidia", "device_ids": [str(gpu) for gpu in mine], "capabilities": ["gpu"]}
        service["deploy"] = {"resources": {"reservations": {"devices": [devices]}}}
    return service


def _literal(word: str) -> str:
    """A word that Compose does not take for one of its variables."""
    return word.replace("$", "$$")
