"""What is searched: how ranks connect and on how many threads they compute, then Horovod's own settings."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from dataclasses import replace

from hvdkit.bench.job import THREADS, Ground, cores_of_a_rank, threads_for
from hvdkit.examination.checks.operations import built
from hvdkit.launch import preflight
from hvdkit.launch.horovodrun import Start
from hvdkit.launch.tuned import Setting
from hvdkit.tune.search import Candidate

# Horovod 0.28's defaults are 1 ms, 128 MiB and a cache of 1024 responses.
CHANGES = (
    ("HOROVOD_CYCLE_TIME", "0.5"),
    ("HOROVOD_CYCLE_TIME", "5"),
    ("HOROVOD_FUSION_THRESHOLD", str(8 * 2**20)),
    ("HOROVOD_FUSION_THRESHOLD", "0"),
    ("HOROVOD_CACHE_CAPACITY", "0"),
)
# Not run on a GPU yet.
GPU_CHANGES = (("HOROVOD_HIERARCHICAL_ALLREDUCE", "1"), ("HOROVOD_NUM_NCCL_STREAMS", "2"))


def usual(ground: Ground) -> Candidate:
    """What `hvdkit run` chooses by itself, with as many threads as `hvdkit bench` gives."""
    start = preflight.start(ground.report, Start(ground.ranks, ground.used, "", ssh=ground.ssh))
    yields = start.crowded if start.controller == "mpi" else None
    return named(Setting(start.controller, yields, threads_for(ground)))


def starts(ground: Ground) -> list[Candidate]:
    """Controllers that Horovod was built with, each with one thread, and as many as a rank has cores.

    More threads than cores are many times slower, as `hvdkit doctor` says, and would use up the time.
    """
    facts = ground.report.facts.values()
    answers = [fact["horovod"]["value"] for fact in facts if "value" in fact.get("horovod", {})]
    kinds: list[tuple[str, bool | None]] = []
    if all("gloo" in built(answer) for answer in answers):
        kinds.append(("gloo", None))
    if all("mpi" in built(answer) for answer in answers) and shutil.which("mpirun"):
        kinds += [("mpi", True), ("mpi", False)]
    threads = sorted({1, cores_of_a_rank(ground), int(threads_for(ground)[THREADS])})
    return [
        named(Setting(controller, yields, {THREADS: str(count)}))
        for controller, yields in kinds
        for count in threads
    ]


def changes(of: Candidate, on_gpu: bool) -> list[Candidate]:
    """One variable more each, of those that it does not set."""
    return [
        changed(of, name, value)
        for name, value in [*CHANGES, *(GPU_CHANGES if on_gpu else ())]
        if name not in of.setting.variables
    ]


def changed(of: Candidate, name: str, value: str) -> Candidate:
    """With one variable more."""
    return named(replace(of.setting, variables={**of.setting.variables, name: value}))


def named(setting: Setting) -> Candidate:
    """As people read it: "mpi yield_when_idle OMP_NUM_THREADS=1"."""
    yields = {True: ["yield_when_idle"], False: ["without yield_when_idle"], None: []}[setting.yields]
    return Candidate(" ".join([setting.controller, *yields, *_assigned(setting.variables.items())]), setting)


def _assigned(variables: Iterable[tuple[str, str]]) -> list[str]:
    return [f"{name}={value}" for name, value in variables]
