"""Every pod that hvdkit writes is taken by a namespace of the level "restricted"."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
import yaml

from tests.docker.golden import GOLDEN
from tests.docker.restricted import forbidden, pods_of

MANIFESTS = sorted(path for path in GOLDEN.rglob("*job.yaml"))


def pods(path: Any) -> list[tuple[str, dict[str, Any]]]:
    return list(pods_of(yaml.safe_load(path.read_text(encoding="utf-8"))))


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_every_pod_is_taken(path: Any) -> None:
    assert pods(path)
    for name, pod in pods(path):
        assert forbidden(pod) == [], name
        assert pod["automountServiceAccountToken"] is False


BREAKS: dict[str, Callable[[dict[str, Any]], object]] = {
    "hostNetwork": lambda pod: pod.update(hostNetwork=True),
    "volumes x": lambda pod: pod.update(volumes=[{"name": "x", "hostPath": {"path": "/"}}]),
    "privileged": lambda pod: context(pod).update(privileged=True),
    "allowPrivilegeEscalation": lambda pod: context(pod).pop("allowPrivilegeEscalation"),
    "runAsNonRoot": lambda pod: context(pod).pop("runAsNonRoot"),
    "runAsUser": lambda pod: context(pod).update(runAsUser=0),
    "seccompProfile": lambda pod: context(pod).update(seccompProfile={"type": "Unconfined"}),
    "capabilities.drop": lambda pod: context(pod).pop("capabilities"),
    "capabilities.add": lambda pod: context(pod)["capabilities"].update(add=["SYS_PTRACE"]),
    "hostPort": lambda pod: pod["containers"][0].update(ports=[{"containerPort": 1, "hostPort": 1}]),
}


def context(pod: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = pod["containers"][0]["securityContext"]
    return found


@pytest.mark.parametrize("broken", BREAKS)
def test_the_rules_refuse_each_break(broken: str) -> None:
    _, pod = pods(MANIFESTS[0])[0]
    pod = copy.deepcopy(pod)
    BREAKS[broken](pod)
    assert any(broken in path for path in forbidden(pod))
