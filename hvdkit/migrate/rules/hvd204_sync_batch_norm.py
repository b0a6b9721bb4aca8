"""HVD204: torch's SyncBatchNorm, which is silently an ordinary one without a process group, becomes Horovod's."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import manual, safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts, Site
from hvdkit.migrate.facts.collectives.collectives import is_world
from hvdkit.migrate.facts.models.sync_batch_norms import LAYERS, keywords_given, layer_classes
from hvdkit.migrate.facts.models.wraps import core
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.facts.programs.programs import kinds_of, programs_of
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rewrites.wrapping import take_away
from hvdkit.migrate.values import vocabulary as words
from hvdkit.source.edits import Edit
from hvdkit.source.index.names import Names

PLAIN = {"num_features", "eps", "momentum", "affine", "track_running_stats"}
BASE = "modules.batchnorm._BatchNorm"
TRAINING = {"ddp", "single", "horovod"}
HOROVODS = {f"{module}.SyncBatchNorm" for module in words.HOROVOD}
ASKED = "Horovod's SyncBatchNorm is tested for, too: torch's is a different class"
GROUP = "this SyncBatchNorm uses its own process group"
GROUP_ADVICE = "leave process_group out, or write a layer that reduces over hvd.add_process_set(ranks)"
MORE_ADVICE = "leave it out, and write what it does after the layer"


def check(facts: Facts) -> Iterator[Finding]:
    for site in facts.calls(*words.SYNC_BATCH_NORM):
        if not kinds_of(facts, site.names) & TRAINING:
            continue
        if not _of_all_ranks(facts, site):
            yield manual("HVD204", site.names, site.node, GROUP, GROUP_ADVICE)
            continue
        message = "every BatchNorm of the model becomes Horovod's SyncBatchNorm (GPU only, as torch's)"
        yield safe(facts, "HVD204", site.names, site.node, message, _converted, facts, site)
    for names, node in layer_classes(facts):
        if not kinds_of(facts, names) & TRAINING:
            continue
        call = names.parents[node]
        if isinstance(call, ast.Call) and call.func is node:
            more = keywords_given(facts, names, call) - PLAIN
            if len(call.args) > 5 or more & {"**", "process_group"}:
                yield manual("HVD204", names, node, GROUP, GROUP_ADVICE)
                continue
            if more:
                message = f"Horovod's SyncBatchNorm has no {', '.join(sorted(more))}"
                yield manual("HVD204", names, node, message, MORE_ADVICE)
                continue
        yield _own(facts, names, node)
    for names, node in _class_tests(facts):
        yield safe(facts, "HVD204", names, node, ASKED, _asks_for_both, facts, names, node)


def _of_all_ranks(facts: Facts, site: Site) -> bool:
    """Whether layers are converted that reduce over all ranks: no group is given, or the world."""
    call = site.node
    given = [*call.args[1:], *(item.value for item in call.keywords if item.arg == "process_group")]
    plain = bool(call.args) and len(given) + 1 == len(call.args) + len(call.keywords)
    return plain and all(is_world(facts, site.names, group) for group in given)


def _class_tests(facts: Facts) -> Iterator[tuple[Names, ast.expr]]:
    """The classes in `isinstance(layer, SyncBatchNorm)`, in files that run where layers become Horovod's."""
    made = {site.names for site in facts.calls(*words.SYNC_BATCH_NORM)}
    made |= {names for names, _ in layer_classes(facts)}
    programs = [
        program for program in programs_of(facts) if program.kind in TRAINING and program.files & made
    ]
    inside = {names for program in programs for names in program.files}
    for names in (names for names in facts.files if names in inside):
        for call in names.calls.get("isinstance", ()):
            given = call.args[1] if len(call.args) == 2 else None
            classes = given.elts if isinstance(given, ast.Tuple) else [given] if given is not None else []
            known = [set(names.qualified(one)) for one in classes]
            if any(one & HOROVODS for one in known):
                continue
            yield from ((names, node) for node, one in zip(classes, known) if one & set(LAYERS))


def _asks_for_both(facts: Facts, names: Names, node: ast.expr) -> list[Edit]:
    """Horovod's class beside the one that is asked for, which a library may have made layers of."""
    both = f"{names.source.segment(node)}, {horovod_name(facts, names)}.SyncBatchNorm"
    alone = not isinstance(names.parents[node], ast.Tuple)
    return [edits.replace(names.source, node, f"({both})" if alone else both)]


def _own(facts: Facts, names: Names, node: ast.expr) -> Finding:
    message = "SyncBatchNorm becomes Horovod's (GPU only, as it was)"
    text = f"{horovod_name(facts, names)}.SyncBatchNorm"
    return safe(facts, "HVD204", names, node, message, edits.replace, names.source, node, text)


def _converted(facts: Facts, site: Site) -> list[Edit]:
    names, call = site.names, site.node
    layer = next((name for name in ("layer", "sublayer", "part") if name not in names.uses), "layer_")
    base = _spelled_base(names)

    def lines(model: str) -> list[str]:
        return [
            f"for {layer} in {model}.modules():",
            f"\tif isinstance({layer}, {base}):",
            f"\t\t{layer}.__class__ = {horovod_name(facts, names)}.SyncBatchNorm",
        ]

    if core(facts, names, call.args[0]) is not call.args[0]:
        raise edits.CannotEdit("DDP is called on the model before it is converted")
    return take_away(names, call, call.args[0], call.args[0], lines, always=False)


def _spelled_base(names: Names) -> str:
    """The base class of all BatchNorm layers, through an import that the file has."""
    for module, prefix in (("torch", "{}.nn."), ("torch.nn", "{}.")):
        for name, bindings in names.module.names.items():
            if bindings and all(b.kind == "import" and b.qualified == module for b in bindings):
                return prefix.format(name) + BASE
    raise edits.CannotEdit("this file imports neither torch nor torch.nn by name")


RULE = Rule(
    id="HVD204",
    title="SyncBatchNorm becomes Horovod's",
    what=(
        "Turns convert_sync_batchnorm(model), torch's or apex's, into a loop that gives each BatchNorm "
        "layer the class hvd.SyncBatchNorm, and the classes torch.nn.SyncBatchNorm and apex's into it "
        "elsewhere."
    ),
    why=(
        "Without a process group torch's SyncBatchNorm silently normalizes over this rank's batch alone. "
        "Horovod's has the same parameters, buffers and arithmetic, and no method that converts a model: a "
        "BatchNorm layer becomes one by its class, since Horovod's adds no state to it."
    ),
    safety=(
        "Safe: the same statistics over all ranks; those of a single-process script are over its whole batch "
        "again. Both accept only GPU tensors, and raise on a CPU."
    ),
    check=check,
    changes=(
        Change(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = torch.nn.SyncBatchNorm.convert_sync_batchnorm(model)
            model = DDP(model)
            """,
            """\
            import horovod.torch as hvd
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            for layer in model.modules():
                if isinstance(layer, torch.nn.modules.batchnorm._BatchNorm):
                    layer.__class__ = hvd.SyncBatchNorm
            model = DDP(model)
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import torch

            model = torch.nn.SyncBatchNorm.convert_sync_batchnorm(model)
            """,
            reason="nothing is trained here",
        ),
    ),
)
