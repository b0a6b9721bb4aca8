"""Samplers that are given a rank among those of one host: on several hosts, some ranks draw the same data."""

from __future__ import annotations

import ast

from hvdkit.migrate.facts.data.loaders import Loader
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.launch.launch import launch_of
from hvdkit.migrate.facts.launch.rank_kinds import QUESTIONS, rank_kinds
from hvdkit.migrate.facts.launch.worker_numbers import numbers_for_rank
from hvdkit.migrate.values import vocabulary as words
from hvdkit.migrate.values.arguments import given
from hvdkit.source.index.names import Names

COUNT = "torch.cuda.device_count"


def of_one_host(facts: Facts, names: Names, call: ast.Call, first: int) -> list[tuple[ast.expr, str]]:
    """What a DistributedSampler is given that counts ranks of a host, each with Horovod's function for all.

    first: the position of num_replicas among its arguments.
    """
    rank, size = given(call, first + 1, "rank"), given(call, first, "num_replicas")
    if rank is None or _meant(facts, names, rank) != {"local_rank"}:
        return []
    if any(rank is number for _, number in numbers_for_rank(facts)):
        return []  # becomes the rank: there was one host
    if size is None or _meant(facts, names, size) == {"size"}:
        return [(rank, "rank")]
    counted = isinstance(size, ast.Call) and COUNT in facts.flow.qualified(names, size.func)
    alone = counted or _meant(facts, names, size) == {"local_size"}
    return [(rank, "rank"), (size, "size")] if alone else []


def _meant(facts: Facts, names: Names, number: ast.expr) -> set[str]:
    """Horovod's functions that a number is, before they are written and after."""
    if any(origin.kind == "index" for origin in launch_of(facts).origins(names, number)):
        return {"local_rank"}  # mp.spawn numbers the processes of a host
    return launch_of(facts).meaning(names, number) | rank_kinds(facts).of(names, number) & set(QUESTIONS)


def same_on_hosts(facts: Facts, loader: Loader) -> bool:
    """Whether the sampler of a loader divides the data among the ranks of one host alone."""
    return any(
        of_one_host(facts, value.names, value.node, words.ASKING_SAMPLERS[value.name])
        for value in facts.flow.values(loader.names, loader.sampler)
        if value.name in words.ASKING_SAMPLERS and isinstance(value.node, ast.Call)
    )
