"""docs/clusters.md says what the code does: its node lists are lists, its numbers are the code's."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import hvdkit
import hvdkit.bootstrap.cluster as cluster_module
from hvdkit.bootstrap import board, environment, ports, ranks
from hvdkit.hosts.lists import Host, HostList, read_nodes

PAGE = (Path(__file__).parents[2] / "docs" / "clusters.md").read_text(encoding="utf-8")
EXPECTED = HostList((Host("192.168.1.12", 2), Host("192.168.1.11", 2)), 9988)


def block(language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    assert found
    return found[1]


def test_the_file_is_a_node_list(tmp_path: Path) -> None:
    file = tmp_path / "hvdkit.toml"
    file.write_text(block("toml"))
    assert read_nodes(file) == EXPECTED


def test_the_script_gives_the_same_list(monkeypatch: pytest.MonkeyPatch) -> None:
    given = []

    def job(hosts: HostList) -> None:
        given.append(hosts)
        raise InterruptedError

    monkeypatch.setattr(cluster_module, "_job", job)
    call = next(line for line in block("python").splitlines() if line.startswith("hvdkit.cluster"))
    with pytest.raises(InterruptedError):
        exec(call, {"hvdkit": hvdkit})
    assert given == [EXPECTED]


def test_the_numbers_are_those_of_the_code() -> None:
    assert f"a node does not connect within {environment.START_SECONDS} s" in PAGE
    assert f"no message arrives from a node for {board.SILENCE_SECONDS:g} s" in PAGE
    assert f"killed {ranks.END_SECONDS:g} s later" in PAGE
    assert f"`ctrl_port`, {cluster_module.CONTROL_PORT}" in PAGE
    assert PAGE.count(f"{ports.FIRST_PORT} to {ports.FIRST_PORT + ports.PORTS - 1}") == 2
    assert f"From {ports.FIRST_LENT_PORT - 1} on" in PAGE
    assert environment.START_TIMEOUT in PAGE
    assert environment.CONTROL_PORT in PAGE
