"""The Pod Security level "restricted", from its published rules, and "baseline", which it includes.

https://kubernetes.io/docs/concepts/security/pod-security-standards/ (v1.34)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_VOLUMES = {
    *("configMap", "csi", "downwardAPI", "emptyDir", "ephemeral"),
    *("persistentVolumeClaim", "projected", "secret"),
}
_SYSCTLS = {
    "kernel.shm_rmid_forced",
    "net.ipv4.ip_local_port_range",
    "net.ipv4.ip_unprivileged_port_start",
    "net.ipv4.tcp_syncookies",
    "net.ipv4.ping_group_range",
    "net.ipv4.ip_local_reserved_ports",
    "net.ipv4.tcp_keepalive_time",
    "net.ipv4.tcp_fin_timeout",
    "net.ipv4.tcp_keepalive_intvl",
    "net.ipv4.tcp_keepalive_probes",
}
_SELINUX = {"", "container_t", "container_init_t", "container_kvm_t", "container_engine_t"}


def pods_of(manifest: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The pods of a job's manifest, by the replica that they are."""
    replicas = manifest["spec"].get("mpiReplicaSpecs") or manifest["spec"]["pytorchReplicaSpecs"]
    for name, replica in replicas.items():
        yield name, replica["template"]["spec"]


def forbidden(pod: dict[str, Any]) -> list[str]:
    """What the level does not take in a pod: paths, as the admission controller names them."""
    return [*_of_pod(pod), *(path for each in _containers(pod) for path in _of_container(pod, each))]


def _containers(pod: dict[str, Any]) -> list[dict[str, Any]]:
    kinds = ("containers", "initContainers", "ephemeralContainers")
    return [container for kind in kinds for container in pod.get(kind, [])]


def _of_pod(pod: dict[str, Any]) -> Iterator[str]:
    for key in ("hostNetwork", "hostPID", "hostIPC"):
        if pod.get(key):
            yield key
    for volume in pod.get("volumes", []):
        if not set(volume) - {"name"} <= _VOLUMES:
            yield f"volumes {volume['name']}"
    for sysctl in pod.get("securityContext", {}).get("sysctls", []):
        if sysctl["name"] not in _SYSCTLS:
            yield f"sysctl {sysctl['name']}"


def _of_container(pod: dict[str, Any], container: dict[str, Any]) -> Iterator[str]:
    name, own, shared = (
        container["name"],
        container.get("securityContext", {}),
        pod.get("securityContext", {}),
    )

    def either(key: str) -> Any:
        return own.get(key, shared.get(key))

    if own.get("privileged"):
        yield f"{name}: privileged"
    if own.get("allowPrivilegeEscalation") is not False:
        yield f"{name}: allowPrivilegeEscalation"
    if either("runAsNonRoot") is not True:
        yield f"{name}: runAsNonRoot"
    if either("runAsUser") == 0:
        yield f"{name}: runAsUser"
    if (either("seccompProfile") or {}).get("type") not in ("RuntimeDefault", "Localhost"):
        yield f"{name}: seccompProfile"
    if (either("appArmorProfile") or {}).get("type", "RuntimeDefault") not in ("RuntimeDefault", "Localhost"):
        yield f"{name}: appArmorProfile"
    selinux = either("seLinuxOptions") or {}
    if selinux.get("type", "") not in _SELINUX or selinux.get("user") or selinux.get("role"):
        yield f"{name}: seLinuxOptions"
    if own.get("procMount", "Default") != "Default":
        yield f"{name}: procMount"
    capabilities = own.get("capabilities", {})
    if "ALL" not in capabilities.get("drop", []):
        yield f"{name}: capabilities.drop"
    if set(capabilities.get("add", [])) - {"NET_BIND_SERVICE"}:
        yield f"{name}: capabilities.add"
    for port in container.get("ports", []):
        if port.get("hostPort"):
            yield f"{name}: hostPort"
    for key in ("livenessProbe", "readinessProbe", "startupProbe"):
        probe = container.get(key, {})
        if any(isinstance(how, dict) and how.get("host") for how in probe.values()):
            yield f"{name}: {key} host"
