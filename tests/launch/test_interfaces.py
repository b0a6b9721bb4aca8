"""Which interface of each host the others reach."""

from __future__ import annotations

import psutil
import pytest

from hvdkit.hosts.interfaces import Interface, own, route
from hvdkit.launch.rank import interface_variables

ETH_A = Interface("eth0", "10.0.0.1", "10.0.0.0/24")
ETH_B = Interface("eth0", "10.0.0.2", "10.0.0.0/24")
ENS_B = Interface("ens3", "10.0.0.2", "10.0.0.0/24")
FAR_B = Interface("eth0", "10.9.0.2", "10.9.0.0/24")
DOCKER = Interface("docker0", "172.17.0.1", "172.17.0.0/16")
LOOP = Interface("lo", "127.0.0.1", "127.0.0.0/8")


def test_own_interfaces_are_the_kernels() -> None:
    import socket

    up = {name for name, stats in psutil.net_if_stats().items() if stats.isup}
    expected = {
        (name, address.address)
        for name, addresses in psutil.net_if_addrs().items()
        for address in addresses[:1]
        if name in up and address.family == socket.AF_INET
    }
    assert {(each.name, each.address) for each in own()} >= expected
    assert LOOP in own()


@pytest.mark.parametrize("other", [ETH_B, ENS_B])
def test_the_address_that_the_name_stands_for_decides(other: Interface) -> None:
    found = route(
        {"a": [LOOP, DOCKER, ETH_A], "b": [LOOP, DOCKER, other]}, {"a": ["10.0.0.1"], "b": ["10.0.0.2"]}
    )
    assert found is not None
    assert found.interfaces == {"a": ETH_A, "b": other}
    assert found.networks == ("10.0.0.0/24",)


def test_hosts_on_different_networks_are_joined_by_their_names() -> None:
    found = route({"a": [ETH_A], "b": [FAR_B]}, {"a": ["10.0.0.1"], "b": ["10.9.0.2"]})
    assert found is not None
    assert found.networks == ("10.0.0.0/24", "10.9.0.0/24")


def test_a_name_that_is_loopback_at_home_is_found_by_the_shared_network() -> None:
    found = route({"a": [LOOP, DOCKER, ETH_A], "b": [LOOP, DOCKER, ETH_B]}, {"a": ["127.0.1.1"], "b": []})
    assert found is not None
    assert found.names == ("eth0",)


def test_the_same_address_everywhere_is_no_network() -> None:
    bridge = Interface("lan0", "172.17.0.1", "172.17.0.0/16")
    assert route({"a": [bridge], "b": [bridge]}, {}) is None
    assert route({"a": [ETH_A], "b": [FAR_B]}, {}) is None


def test_a_rank_takes_the_interface_that_leads_to_the_launcher() -> None:
    assert interface_variables("127.0.0.1") == {"HOROVOD_GLOO_IFACE": "lo", "NCCL_SOCKET_IFNAME": "lo"}
    assert interface_variables("203.0.113.9") == {}
