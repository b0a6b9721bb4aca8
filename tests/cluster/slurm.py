"""A real Slurm on two of the hosts: munged and slurmd on each, slurmctld on the first."""

from __future__ import annotations

import getpass
import os
import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from .hosts import Cluster

_SLURM_CONF = """
ClusterName=test
SlurmctldHost={first}({address})
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={socket}
CryptoType=crypto/munge
StateSaveLocation={state}/ctld
SlurmdSpoolDir={state}/%n
SlurmctldPidFile={state}/ctld.pid
SlurmdPidFile={state}/%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
ReturnToService=2
SlurmctldTimeout=60
SlurmdTimeout=60
{nodes}
PartitionName=all Nodes={names} Default=YES MaxTime=INFINITE State=UP
"""


class Slurm:
    """Slurm on all hosts of a cluster, until the cluster ends. Each host has two processors to give."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        state = cluster.directory / "slurm"
        state.mkdir(mode=0o755)
        (state / "munge.key").write_bytes(os.urandom(1024))
        (state / "munge.key").chmod(0o400)
        socket = "/run/munge.socket"  # each host has its own /run
        self.conf = state / "slurm.conf"
        nodes = "\n".join(
            f"NodeName={name} NodeAddr={cluster.address(name)} CPUs=2 State=UNKNOWN" for name in cluster.names
        )
        self.conf.write_text(
            _SLURM_CONF.format(
                first=cluster.names[0],
                address=cluster.address(cluster.names[0]),
                user=getpass.getuser(),
                socket=socket,
                state=state,
                nodes=nodes,
                names=",".join(cluster.names),
            )
        )
        (state / "ctld").mkdir()
        for name in cluster.names:
            (state / name).mkdir()
            files = [f"--{kind}={state}/{name}.{kind}" for kind in ("pid-file", "log-file", "seed-file")]
            munged = ["munged", "--foreground", "--force", f"--key-file={state}/munge.key"]
            cluster.service(name, [_found("munged"), *munged[1:], f"--socket={socket}", *files])
        self._wait_for("munge on every host", ["munge", "-n", "--socket", socket])
        cluster.service(cluster.names[0], [_found("slurmctld"), "-D", "-f", self.conf], self._env)
        for name in cluster.names:
            cluster.service(name, [_found("slurmd"), "-D", "-N", name, "-f", self.conf], self._env)
        self._wait_for(
            "idle nodes", ["bash", "-c", f"test $(sinfo -h -N -t idle | wc -l) = {len(cluster.names)}"]
        )

    @property
    def _env(self) -> dict[str, str]:
        return {"SLURM_CONF": str(self.conf)}

    def srun(
        self,
        options: Sequence[str],
        command: Sequence[str | Path],
        env: Mapping[str, str] | None = None,
        timeout: float = 300,
        check: bool = True,
    ) -> subprocess.CompletedProcess[str]:
        """Run a step from the first host; as Cluster.run."""
        environ = {**self._env, **(env or {})}
        step = ["srun", *options, *command]
        return self.cluster.run(self.cluster.names[0], step, environ, timeout=timeout, check=check)

    def _wait_for(self, what: str, command: Sequence[str]) -> None:
        end = time.monotonic() + 120
        while True:
            results = [self.cluster.run(name, command, self._env, check=False) for name in self.cluster.names]
            if all(result.returncode == 0 for result in results):
                return
            if time.monotonic() > end:
                logs = "".join(
                    f"{log}:\n{log.read_text()}\n" for log in sorted(self.cluster.directory.rglob("*.log"))
                )
                raise AssertionError(f"no {what} after two minutes: {results}\n{logs}")
            time.sleep(0.2)


def _found(command: str) -> str:
    return str(shutil.which(command, path="/usr/sbin:/usr/bin:/sbin:/bin"))
