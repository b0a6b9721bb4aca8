"""HVD204: torch's SyncBatchNorm, which is silently an ordinary one without a process group, becomes Horovod's."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.facts import Facts, Site
from hvdkit.migrate.facts import vocabulary as words
from hvdkit.migrate.facts.code.mentions import mentions
from hvdkit.migrate.facts.collectives.collectives import is_world
from hvdkit.migrate.facts.models.wraps import core
from hvdkit.migrate.facts.values.arguments import collected, parameters
from hvdkit.migrate.names import Names
from hvdkit.migrate.plan import Edit, Finding
from hvdkit.migrate.rule import Change, Keep, Rule
from hvdkit.migrate.wrapping import take_away

# apex's takes the same arguments, and some of its own.
LAYERS = ("torch.nn.SyncBatchNorm", "apex.parallel.SyncBatchNorm")
PLAIN = {"num_features", "eps", "momentum", "affine", "track_running_stats"}
MAX_CALLERS = 4
BASE = "modules.batchnorm._BatchNorm"
TRAINING = {"ddp", "single", "horovod"}
HOROVODS = {f"{module}.SyncBatchNorm" for module in words.HOROVOD}
ASKED = "Horovod's SyncBatchNorm is asked for, too: torch's is another class"
GROUP = "this SyncBatchNorm works inside a process group of its own"
GROUP_ADVICE = "leave process_group out, or write a layer that reduces over hvd.add_process_set(ranks)"
MORE_ADVICE = "leave it out, and write what it does behind the layer"


def check(facts: Facts) -> Iterator[Finding]:
    for site in facts.calls(*words.SYNC_BATCH_NORM):
        if not facts.kinds(site.names) & TRAINING:
            continue
        if not _of_all_ranks(facts, site):
            yield facts.manual("HVD204", site.names, site.node, GROUP, GROUP_ADVICE)
            continue
        message = "every BatchNorm of the model becomes Horovod's SyncBatchNorm (GPU only, as torch's)"
        yield facts.safe("HVD204", site.names, site.node, message, _converted, facts, site)
    for names, node in _classes(facts):
        if not facts.kinds(names) & TRAINING:
            continue
        call = names.parents[node]
        if isinstance(call, ast.Call) and call.func is node:
            more = _keywords(facts, names, call) - PLAIN
            if len(call.args) > 5 or more & {"**", "process_group"}:
                yield facts.manual("HVD204", names, node, GROUP, GROUP_ADVICE)
                continue
            if more:
                message = f"Horovod's SyncBatchNorm has no {', '.join(sorted(more))}"
                yield facts.manual("HVD204", names, node, message, MORE_ADVICE)
                continue
        yield _own(facts, names, node)
    for names, node in _class_tests(facts):
        yield facts.safe("HVD204", names, node, ASKED, _asks_for_both, facts, names, node)


def _of_all_ranks(facts: Facts, site: Site) -> bool:
    """Whether layers are converted that reduce over all ranks: no group is given, or the world."""
    call = site.node
    given = [*call.args[1:], *(item.value for item in call.keywords if item.arg == "process_group")]
    plain = bool(call.args) and len(given) + 1 == len(call.args) + len(call.keywords)
    return plain and all(is_world(facts, site.names, group) for group in given)


def _keywords(facts: Facts, names: Names, call: ast.Call, depth: int = 0) -> set[str]:
    """The names of what a call is given, also by those who call its function: `SyncBatchNorm(**kwargs)`."""
    found: set[str] = set()
    for keyword in call.keywords:
        function = collected(names, keyword.value) if keyword.arg is None else None
        sites = facts.flow.call_sites(names, function) if function is not None else []
        if function is None or not sites or depth > MAX_CALLERS:
            found.add(keyword.arg or "**")
            continue
        own = parameters(function)
        for where, site in sites:
            found |= _keywords(facts, where, site, depth + 1) - own
    return found


def _classes(facts: Facts) -> Iterator[tuple[Names, ast.expr]]:
    """Where torch's class or apex's is used, or given to a name."""
    for names, node, qualified, _ in mentions(facts, LAYERS):
        if qualified in LAYERS:
            yield names, node
    for names in facts.files:
        for node in names.attributes.get("SyncBatchNorm", ()):
            parent = names.parents[node]
            if isinstance(parent, ast.Assign) and parent.value is node:
                if set(names.qualified(node)) & set(LAYERS):
                    yield names, node


def _class_tests(facts: Facts) -> Iterator[tuple[Names, ast.expr]]:
    """The classes in `isinstance(layer, SyncBatchNorm)`, in files that run where layers become Horovod's."""
    made = {site.names for site in facts.calls(*words.SYNC_BATCH_NORM)}
    made |= {names for names, _ in _classes(facts)}
    programs = [program for program in facts.programs if program.kind in TRAINING and program.files & made]
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
    both = f"{names.source.segment(node)}, {facts.hvd(names)}.SyncBatchNorm"
    alone = not isinstance(names.parents[node], ast.Tuple)
    return [edits.replace(names.source, node, f"({both})" if alone else both)]


def _own(facts: Facts, names: Names, node: ast.expr) -> Finding:
    message = "SyncBatchNorm becomes Horovod's (GPU only, as it was)"
    text = f"{facts.hvd(names)}.SyncBatchNorm"
    return facts.safe("HVD204", names, node, message, edits.replace, names.source, node, text)


def _converted(facts: Facts, site: Site) -> list[Edit]:
    names, call = site.names, site.node
    layer = next((name for name in ("layer", "sublayer", "part") if name not in names.uses), "layer_")
    base = _spelled_base(names)

    def lines(model: str) -> list[str]:
        return [
            f"for {layer} in {model}.modules():",
            f"\tif isinstance({layer}, {base}):",
            f"\t\t{layer}.__class__ = {facts.hvd(names)}.SyncBatchNorm",
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
        "Turns convert_sync_batchnorm(model), torch's or apex's, into a loop that gives each BatchNorm layer the "
        "class hvd.SyncBatchNorm, and the classes torch.nn.SyncBatchNorm and apex's into it elsewhere."
    ),
    why=(
        "Without a process group torch's SyncBatchNorm normalises with this rank's batch alone and says nothing. "
        "Horovod's has the same parameters, buffers and arithmetic, and no method that converts a model: a "
        "BatchNorm layer becomes one by its class, since Horovod's adds no state to it."
    ),
    safety=(
        "Safe: the same statistics over all ranks; those of a script that was single-process are over its whole batch "
        "again. Both take GPU tensors only, and say so on a CPU."
    ),
    check=check,
    changes=(
        Change(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            def norm(*args, **kwargs):
                return torch.nn.SyncBatchNorm(*args, **kwargs)

            model = DDP(torch.nn.Sequential(torch.nn.Linear(4, 8), norm(8, eps=1e-3)))
            """,
            """\
            import horovod.torch as hvd
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            def norm(*args, **kwargs):
                return hvd.SyncBatchNorm(*args, **kwargs)

            model = DDP(torch.nn.Sequential(torch.nn.Linear(4, 8), norm(8, eps=1e-3)))
            """,
            note="No call of the function gives it a process group.",
        ),
        Change(
            """\
            import torch
            import torch.distributed as dist
            from torch.nn.parallel import DistributedDataParallel as DDP

            everybody = dist.new_group([i for i in range(dist.get_world_size())])
            model = torch.nn.SyncBatchNorm.convert_sync_batchnorm(model, process_group=everybody)
            model = DDP(model)
            """,
            """\
            import horovod.torch as hvd
            import torch
            import torch.distributed as dist
            from torch.nn.parallel import DistributedDataParallel as DDP

            everybody = dist.new_group([i for i in range(dist.get_world_size())])
            for layer in model.modules():
                if isinstance(layer, torch.nn.modules.batchnorm._BatchNorm):
                    layer.__class__ = hvd.SyncBatchNorm
            model = DDP(model)
            """,
            note="A group of all ranks.",
        ),
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
        Change(
            """\
            import torch
            import torch.nn as nn
            import torch.distributed as dist

            dist.init_process_group("nccl")
            net = nn.SyncBatchNorm.convert_sync_batchnorm(build()).cuda()
            """,
            """\
            import horovod.torch as hvd
            import torch
            import torch.distributed as dist

            dist.init_process_group("nccl")
            net = build().cuda()
            for layer in net.modules():
                if isinstance(layer, torch.nn.modules.batchnorm._BatchNorm):
                    layer.__class__ = hvd.SyncBatchNorm
            """,
        ),
        Change(
            """\
            import torch
            from torch import nn
            from torch.nn.parallel import DistributedDataParallel as DDP

            def build(arch, sync, freeze):
                model = nn.SyncBatchNorm.convert_sync_batchnorm(arch()) if sync else arch()
                head = arch() if freeze else nn.SyncBatchNorm.convert_sync_batchnorm(arch())
                model = nn.SyncBatchNorm.convert_sync_batchnorm(model) if torch.cuda.is_available() else model
                model = model if freeze else nn.SyncBatchNorm.convert_sync_batchnorm(model)
                return DDP(model), head
            """,
            """\
            import horovod.torch as hvd
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            def build(arch, sync, freeze):
                model = arch() if sync else arch()
                if sync:
                    for layer in model.modules():
                        if isinstance(layer, torch.nn.modules.batchnorm._BatchNorm):
                            layer.__class__ = hvd.SyncBatchNorm
                head = arch() if freeze else arch()
                if not freeze:
                    for layer in head.modules():
                        if isinstance(layer, torch.nn.modules.batchnorm._BatchNorm):
                            layer.__class__ = hvd.SyncBatchNorm
                if torch.cuda.is_available():
                    for layer in model.modules():
                        if isinstance(layer, torch.nn.modules.batchnorm._BatchNorm):
                            layer.__class__ = hvd.SyncBatchNorm
                if not freeze:
                    for layer in model.modules():
                        if isinstance(layer, torch.nn.modules.batchnorm._BatchNorm):
                            layer.__class__ = hvd.SyncBatchNorm
                return DDP(model), head
            """,
            note="Where the conversion is asked for: a model that was not converted keeps its layers.",
        ),
        Change(
            """\
            from torch import nn
            from torch.nn.parallel import DistributedDataParallel as DDP

            def build(arch):
                return DDP(nn.SyncBatchNorm.convert_sync_batchnorm(arch()))
            """,
            """\
            import horovod.torch as hvd
            from torch import nn
            from torch.nn.parallel import DistributedDataParallel as DDP

            def build(arch):
                model = DDP(arch())
                for layer in model.modules():
                    if isinstance(layer, nn.modules.batchnorm._BatchNorm):
                        layer.__class__ = hvd.SyncBatchNorm
                return model
            """,
            note="With HVD201 the DDP call goes as well.",
        ),
        Change(
            """\
            import apex
            import torch

            model = apex.parallel.convert_syncbn_model(model)
            model(x).sum().backward()
            optimizer.step()
            """,
            """\
            import horovod.torch as hvd
            import torch

            for layer in model.modules():
                if isinstance(layer, torch.nn.modules.batchnorm._BatchNorm):
                    layer.__class__ = hvd.SyncBatchNorm
            model(x).sum().backward()
            optimizer.step()
            """,
            note="A single-process script, too: its ranks would each normalise with a batch of their own.",
        ),
        Change(
            """\
            import torch
            import apex
            from apex.parallel import DistributedDataParallel

            model = apex.parallel.convert_syncbn_model(model)
            model = DistributedDataParallel(model)
            """,
            """\
            import horovod.torch as hvd
            import torch
            from apex.parallel import DistributedDataParallel

            for layer in model.modules():
                if isinstance(layer, torch.nn.modules.batchnorm._BatchNorm):
                    layer.__class__ = hvd.SyncBatchNorm
            model = DistributedDataParallel(model)
            """,
        ),
        Change(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            def block(width, norm=torch.nn.SyncBatchNorm):
                return torch.nn.Sequential(torch.nn.Conv2d(width, width, 3), norm(width), torch.nn.SyncBatchNorm(width))

            model = DDP(block(8))
            """,
            """\
            import horovod.torch as hvd
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            def block(width, norm=hvd.SyncBatchNorm):
                return torch.nn.Sequential(torch.nn.Conv2d(width, width, 3), norm(width), hvd.SyncBatchNorm(width))

            model = DDP(block(8))
            """,
        ),
        Change(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            Norm = torch.nn.SyncBatchNorm
            model = DDP(build(Norm))
            """,
            """\
            import horovod.torch as hvd
            from torch.nn.parallel import DistributedDataParallel as DDP

            Norm = hvd.SyncBatchNorm
            model = DDP(build(Norm))
            """,
            note="Other files may import the name that it is given.",
        ),
        Change(
            """\
            import torch
            from apex.parallel import SyncBatchNorm
            from torch.nn.parallel import DistributedDataParallel as DDP

            def start(model):
                for layer in model.modules():
                    if isinstance(layer, (torch.nn.BatchNorm2d, SyncBatchNorm)):
                        torch.nn.init.ones_(layer.weight)
                    if isinstance(layer, torch.nn.SyncBatchNorm):
                        torch.nn.init.zeros_(layer.bias)

            model = torch.nn.Sequential(SyncBatchNorm(8), torch.nn.SyncBatchNorm(8))
            start(model)
            model = DDP(model)
            """,
            """\
            import horovod.torch as hvd
            import torch
            from apex.parallel import SyncBatchNorm
            from torch.nn.parallel import DistributedDataParallel as DDP

            def start(model):
                for layer in model.modules():
                    if isinstance(layer, (torch.nn.BatchNorm2d, SyncBatchNorm, hvd.SyncBatchNorm)):
                        torch.nn.init.ones_(layer.weight)
                    if isinstance(layer, (torch.nn.SyncBatchNorm, hvd.SyncBatchNorm)):
                        torch.nn.init.zeros_(layer.bias)

            model = torch.nn.Sequential(hvd.SyncBatchNorm(8), hvd.SyncBatchNorm(8))
            start(model)
            model = DDP(model)
            """,
            note="apex's, and the tests for it.",
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
        Keep(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = torch.nn.SyncBatchNorm.convert_sync_batchnorm(build()) if wanted() else build()
            model = DDP(model)
            """,
            reason="whether it is converted is asked by a call, which is not to be asked twice",
            reported=True,
        ),
        Keep(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(torch.nn.SyncBatchNorm.convert_sync_batchnorm(model, process_group=node))
            """,
            reason="the statistics are those of some ranks only",
            reported=True,
        ),
        Keep(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(torch.nn.SyncBatchNorm(8, process_group=node))
            """,
            reason="the statistics are those of some ranks only",
            reported=True,
        ),
        Keep(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            def norm(*args, **kwargs):
                return torch.nn.SyncBatchNorm(*args, **kwargs)

            model = DDP(torch.nn.Sequential(norm(8, eps=1e-3), norm(8, process_group=node)))
            """,
            reason="... of one of the layers",
            reported=True,
        ),
        Keep(
            """\
            from apex.parallel import SyncBatchNorm
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(SyncBatchNorm(8, fuse_relu=True))
            """,
            reason="Horovod's does not do apex's ReLU",
            reported=True,
        ),
        Keep(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(torch.nn.BatchNorm2d(8))
            """,
            reason="an ordinary BatchNorm is not synchronised by DDP either",
        ),
    ),
)
