"""Libraries that ask torch.distributed for the ranks, or talk through it, out of hvdkit's reach.

A program that uses one keeps a process group beside Horovod, made of Horovod's ranks.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from hvdkit.migrate.facts.facts import Facts, Site
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.facts.programs.programs import programs_of
from hvdkit.migrate.facts.programs.reached_code import runs_in
from hvdkit.migrate.values import vocabulary as words
from hvdkit.migrate.values.arguments import is_on, keyword
from hvdkit.source.index.names import Names
from hvdkit.source.project.installed_source import installed_source

# What asks -> the argument that it asks for, "" where it always does.
TALKS = {
    **words.LIBRARY_LOADERS,
    "timm.utils.reduce_tensor": "",
    "timm.utils.distribute_bn": "",
    "detectron2.evaluation.": "",
    "detectron2.utils.comm.": "",
    "dgl.graphbolt.DistributedItemSampler": "",
    "dgl.multiprocessing.": "",
    "inplace_abn.InPlaceABNSync": "",
    "inplace_abn.inplace_abn_sync": "",
    "lightly.loss.": "gather_distributed",
    "open_clip.ClipLoss": "world_size",
    "open_clip.loss.": "world_size",
    "pytorch_metric_learning.utils.distributed.": "",
    "pytorchvideo.layers.distributed.": "",
    "torcheval.metrics.toolkit.": "",
    "torchmetrics.": "",
    "vector_quantize_pytorch.": "",
    "webdataset.": "",
}
# What is in the table, and what hvdkit rewrites, or knows to be silent.
KNOWN = frozenset(
    (
        *(name.partition(".")[0] for name in TALKS),
        *("torch", "horovod", "hvdkit", "numpy", "tensorflow", "keras", "accelerate", "transformers"),
    )
)
ASKS = re.compile(
    r"\b(?:torch\.distributed|dist)\.(?:get_world_size|get_rank|is_initialized|all_\w+|broadcast)\b"
)
ALONE = "torchmetrics.functional."  # computes from what it is given


def libraries_needing(facts: Facts, start: Site) -> list[str]:
    """The libraries that need the process group which a call makes, in a program's files, by package."""
    talking = [
        site
        for program in programs_of(facts)
        if program.kind == "ddp" and runs_in(facts, program, start.names, start.node)
        for site in _talks(facts)
        if site.names in program.files
    ]
    own = [start] if start.name in words.LIBRARY_STARTS else []
    return sorted({site.name.partition(".")[0] for site in (*own, *talking)})


def decides_group(facts: Facts, names: Names, question: ast.Call) -> bool:
    """Whether the group that libraries need is made where is_initialized() says that there is none.

    Horovod may be initialised by then: the question is torch's own.
    """
    statement = names.statement(question)
    if not isinstance(statement, ast.If) or question not in ast.walk(statement.test):
        return False
    calls = [call for inside in (*statement.body, *statement.orelse) for call in names.calls_in(inside)]
    run = {function for call in calls for _, function in facts.flow.functions(names, call)}
    needed = [start for start in facts.calls(words.INIT) if libraries_needing(facts, start)]
    return any(
        start.node in calls or start.names.function(start.node) in run
        for start in (*needed, *facts.calls(words.OWN_GROUP))
    )


def calls_asking(facts: Facts, *names: str) -> Iterator[Site]:
    """The calls of some of these functions, those left out that are told to stay alone."""
    for name in names:
        for site in facts.calls(name):
            asked = keyword(site.node, TALKS[name]) if TALKS[name] else None
            if (is_on(asked) or not TALKS[name]) and not site.name.startswith(ALONE):
                yield site


@once
def _talks(facts: Facts) -> list[Site]:
    return [*calls_asking(facts, *TALKS), *_found_asking(facts)]


def _found_asking(facts: Facts) -> Iterator[Site]:
    """The calls of other libraries' functions whose module, as it is installed, asks torch.distributed."""
    for names in facts.files:
        for call in names.library_calls:
            for name in names.qualified(call.func):
                if name.partition(".")[0] in KNOWN or facts.project.find(name, names.source.path) is not None:
                    continue
                if _asks(facts, name):
                    yield Site(names, call, name)


@once
def _asks(facts: Facts, name: str) -> bool:
    return bool(ASKS.search(installed_source(name)))
