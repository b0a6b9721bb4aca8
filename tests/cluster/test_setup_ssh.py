"""A fresh cluster, no keys, nothing known: what setup-ssh says is done, until it has nothing more to say."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from .hosts import Cluster

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(1800)]


def setup(cluster: Cluster, *options: str) -> tuple[int, dict[str, Any]]:
    done = cluster.run(
        "a",
        ["python", "-m", "hvdkit", "setup-ssh", "-H", "a,b", "--json", *options],
        timeout=800,
        check=False,
    )
    return done.returncode, json.loads(done.stdout)


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_from_nothing_to_a_job(cluster: Cluster) -> None:
    ours, theirs = cluster.home("a") / ".ssh", cluster.home("b") / ".ssh"
    shutil.rmtree(ours)
    (theirs / "authorized_keys").write_text("")
    before = files(theirs)

    code, said = setup(cluster)
    assert (code, said["made"]) == (1, True)
    own, other = said["hosts"]
    assert (own["host"], own["todo"]) == ("a", [])
    assert sorted(files(ours)) == ["id_ed25519", "id_ed25519.pub"], "nothing but a key is written"
    assert (ours.stat().st_mode & 0o777, (ours / "id_ed25519").stat().st_mode & 0o777) == (0o700, 0o600)
    assert files(theirs) == before
    shown = cluster.run("b", ["ssh-keygen", "-l", "-f", cluster.file("b", "ssh_host_key.pub")]).stdout
    assert shown.split()[1] in other["todo"][0], "the fingerprint is the host's"
    key = other["todo"][-1].partition("authorized_keys: ")[2]
    assert key == (ours / "id_ed25519.pub").read_text().strip()

    scan = other["todo"][1].partition("then here: ")[2]
    cluster.run("a", ["bash", "-c", scan])
    code, said = setup(cluster)
    assert (code, said["made"], said["hosts"][1]["seen"]) == (1, False, "b does not accept your key")

    (theirs / "authorized_keys").write_text(key + "\n")
    code, said = setup(cluster)
    assert (code, said["hosts"][1]) == (0, {"host": "b", "seen": "reached without a prompt", "todo": []})

    cluster.stop_sshd("b")
    code, said = setup(cluster)
    assert (code, said["hosts"][1]["seen"]) == (1, "no sshd answers on b")


def test_an_existing_key_is_left_alone(pair: Cluster) -> None:
    ssh = pair.home("a") / ".ssh"
    before = files(ssh)
    code, said = setup(pair)
    assert (code, said["made"], files(ssh)) == (0, False, before)
