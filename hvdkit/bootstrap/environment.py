"""The variables of a start: those that a person may set, and those that Horovod reads in each rank."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hvdkit.bootstrap import network
from hvdkit.bootstrap.errors import LaunchEnvironmentError
from hvdkit.bootstrap.variables import integer

CONTROL_PORT = "HVDKIT_CTRL_PORT"
START_TIMEOUT = "HVDKIT_START_TIMEOUT"
START_SECONDS = 120


def start_seconds(environ: Mapping[str, str]) -> float:
    """How long a start may wait for the other hosts. Raises: LaunchEnvironmentError."""
    if not environ.get(START_TIMEOUT):
        return START_SECONDS
    seconds = integer(START_TIMEOUT, environ)
    if seconds < 1:
        raise LaunchEnvironmentError(
            f"{START_TIMEOUT}={seconds} leaves no time to start",
            fix="set it to a number of seconds, or unset it",
        )
    return seconds


def slot_variables(slot: Mapping[str, Any], address: str, port: int) -> dict[str, str]:
    """Horovod's variables for one rank (horovod.runner.gloo_run sets the same).

    slot: the fields of horovod.runner's SlotInfo. address, port: where Horovod's rendezvous listens.
    """
    own = network.address_towards(address)
    interface = network.own_addresses().get(own, "")
    found = {f"HOROVOD_{name.upper()}": str(value) for name, value in slot.items()}
    found |= {
        "HOROVOD_CONTROLLER": "gloo",
        "HOROVOD_CPU_OPERATIONS": "gloo",
        "HOROVOD_GLOO_RENDEZVOUS_ADDR": address,
        "HOROVOD_GLOO_RENDEZVOUS_PORT": str(port),
    }
    if interface:
        found["HOROVOD_GLOO_IFACE"] = interface
    return found
