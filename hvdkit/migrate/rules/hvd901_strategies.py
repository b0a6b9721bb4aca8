"""HVD901: programs that split the model or its state over the ranks are left as they are."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.launch.stops import find_stops, outermost_stop, passed_by
from hvdkit.migrate.facts.launch.strategies import RESTARTS
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rule import Change, Keep, Rule

FITS = "if the model fits on one device, write it with DistributedDataParallel and run hvdkit migrate again"
ELASTIC = "move to hvd.elastic by hand"


def check(facts: Facts) -> Iterator[Finding]:
    for names in facts.files:
        for stopped in names.source.stopped:
            yield facts.suggested(
                "HVD901", names, stopped.node, stopped.message, lambda edit: edit, stopped.edit
            )
    stops = find_stops(facts)
    options = {stop.use: outermost_stop(stop, stops).option for stop in stops}
    for use in facts.strategies:
        if passed_by(facts, use):
            continue
        advice = ELASTIC if use.does == RESTARTS else FITS
        if use in options:
            advice += (
                f"; with --suggested the script stops where {options[use]} holds, and the rest is migrated"
            )
        yield facts.refused("HVD901", use.names, use.node, f"{use.what} {use.does}", advice)


RULE = Rule(
    id="HVD901",
    title="sharded, tensor, pipeline and remote parallelism is refused",
    what=(
        "Leaves every program alone that uses FSDP, ZeRO, DeepSpeed, DTensor and device meshes, pipelines, RPC, "
        "periodic model averaging or torch's elastic agents. Where all of that stands behind options, and the "
        "program has DDP or DataParallel without them, --suggested lets it stop with a message where the option "
        "is set, so that the rest can be migrated."
    ),
    why=(
        "Horovod is data parallelism: each rank holds the whole model and its optimizer. A rewrite would run, "
        "and train something else or run out of memory."
    ),
    safety=(
        "Nothing is edited in any file of the program without --suggested, which takes the option away: what "
        "stood in its branches goes. A test of ranks, of sizes or of what is installed counts as no option."
    ),
    check=check,
    changes=(
        Change(
            """\
            import torch
            from torch.distributed.optim import ZeroRedundancyOptimizer
            from torch.nn.parallel import DistributedDataParallel as DDP

            def main(args, model):
                model = DDP(model)
                if args.zero:
                    optimizer = ZeroRedundancyOptimizer(model.parameters(), optimizer_class=torch.optim.SGD, lr=0.1)
                else:
                    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            """,
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            def main(args, model):
                model = DDP(model)
                if args.zero:
                    raise SystemExit("args.zero: ZeroRedundancyOptimizer does not run under Horovod")
                else:
                    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            """,
            suggested=True,
        ),
        Change(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            def get_args(parser):
                args = parser.parse_args()
                if args.enable_deepspeed:
                    import deepspeed
                    parser = deepspeed.add_config_arguments(parser)
                    start = deepspeed.initialize
                else:
                    start = None
                return parser.parse_args(), start

            def main(args, start, model):
                if args.enable_deepspeed:
                    model, optimizer, _, _ = start(args=args, model=model)
                else:
                    model = DDP(model)
            """,
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            def get_args(parser):
                args = parser.parse_args()
                if args.enable_deepspeed:
                    raise SystemExit("args.enable_deepspeed: deepspeed does not run under Horovod")
                else:
                    start = None
                return parser.parse_args(), start

            def main(args, start, model):
                if args.enable_deepspeed:
                    raise SystemExit("args.enable_deepspeed: deepspeed does not run under Horovod")
                else:
                    model = DDP(model)
            """,
            note="Every branch of the flag stops: no half of DeepSpeed is left.",
            suggested=True,
        ),
        Change(
            """\
            from fairscale.nn import FullyShardedDataParallel as FSDP
            from torch.nn.parallel import DistributedDataParallel as DDP
            from config import cfg

            def sharded(model):
                return FSDP(model)

            def wrapped(model):
                if not cfg.SHARD:
                    return DDP(model)
                else:
                    return sharded(model)

            model = wrapped(build())
            """,
            """\
            from fairscale.nn import FullyShardedDataParallel as FSDP
            from torch.nn.parallel import DistributedDataParallel as DDP
            from config import cfg

            def sharded(model):
                return FSDP(model)

            def wrapped(model):
                if not cfg.SHARD:
                    return DDP(model)
                else:
                    raise SystemExit("cfg.SHARD: fairscale does not run under Horovod")

            model = wrapped(build())
            """,
            note="Nothing calls sharded() any more.",
            suggested=True,
            files=(("config.py", "class cfg:\n    SHARD = False\n"),),
        ),
    ),
    keeps=(
        Keep(
            """\
            import apex
            import torch

            model = torch.nn.Linear(2, 1)
            optimizer = apex.contrib.optimizers.FP16_Optimizer(torch.optim.SGD(model.parameters(), lr=0.1))
            """,
            reason="copies in float32, which HVD910 tells: of apex's optimizers the distributed ones shard",
        ),
        Keep(
            """\
            import torch
            from torch.distributed.fsdp import FullyShardedDataParallel as FSDP

            model = FSDP(torch.nn.Linear(2, 1))
            """,
            reason="no rank has the whole model",
            reported=True,
        ),
        Keep(
            """\
            import torch
            from torch.distributed.fsdp import fully_shard

            model = torch.nn.Linear(2, 1)
            for layer in model.children():
                fully_shard(layer)
            """,
            reason="no rank has the whole model",
            reported=True,
        ),
        Keep(
            """\
            import torch
            from torch.distributed.optim import ZeroRedundancyOptimizer

            optimizer = ZeroRedundancyOptimizer(model.parameters(), optimizer_class=torch.optim.Adam, lr=0.1)
            """,
            reason="each rank holds a part of the optimizer's state",
            reported=True,
        ),
        Keep(
            """\
            import deepspeed
            import torch

            engine, _, _, _ = deepspeed.initialize(model=model, model_parameters=model.parameters())
            """,
            reason="DeepSpeed owns the process group, the optimizer and the loop",
            reported=True,
        ),
        Keep(
            """\
            import torch.distributed.rpc as rpc

            rpc.init_rpc("worker0", rank=0, world_size=2)
            """,
            reason="Horovod has no remote calls",
            reported=True,
        ),
        Keep(
            """\
            from torch.distributed.device_mesh import init_device_mesh

            mesh = init_device_mesh("cuda", (2, 4))
            """,
            reason="a mesh splits tensors",
            reported=True,
        ),
        Keep(
            """\
            from functools import partial
            from torch.distributed.fsdp import FullyShardedDataParallel

            wrap = partial(FullyShardedDataParallel, device_id=0)
            """,
            reason="handing the class on is a use of it",
            reported=True,
        ),
        Keep(
            """\
            from importlib import import_module
            import torch

            class Backend:
                MODULE = "deepspeed"

                def start(self):
                    torch.cuda.init()
                    return import_module(self.MODULE).initialize()
            """,
            reason="the library is chosen when the program runs",
            reported=True,
        ),
        Keep(
            """\
            from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
            from torch.nn.parallel import DistributedDataParallel as DDP

            def wrapped(args, model):
                if args.fsdp:
                    return FSDP(model)
                return DDP(model)
            """,
            reason="it stands behind an option, and taking that away is the person's to ask for: --suggested",
            reported=True,
        ),
        Keep(
            """\
            import torch.distributed as dist
            from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
            from torch.nn.parallel import DistributedDataParallel as DDP

            def wrapped(model, old):
                if dist.get_world_size() > 8:
                    return FSDP(model)
                return DDP(model)
            """,
            reason="no option: a job of many ranks would stop",
            reported=True,
            suggested=True,
        ),
        Keep(
            """\
            import torch
            from torch.distributed.fsdp import FullyShardedDataParallel as FSDP

            def wrapped(args, model):
                if args.several:
                    model = FSDP(model)
                return model
            """,
            reason="without the option it is no data parallelism at all",
            reported=True,
            suggested=True,
        ),
        Keep(
            """\
            from torch.nn.parallel import DistributedDataParallel as DDP
            try:
                import deepspeed
                fast = True
            except ImportError:
                fast = False

            def wrapped(model):
                if fast:
                    return deepspeed.initialize(model=model)[0]
                return DDP(model)
            """,
            reason="no option: the script would stop wherever DeepSpeed is installed",
            reported=True,
            suggested=True,
        ),
        Keep(
            """\
            from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
            from torch.nn.parallel import DistributedDataParallel as DDP

            def wrapped(args, model):
                return sharded(model) if args.fsdp else DDP(model)

            def sharded(model):
                return FSDP(model)
            """,
            reason="the option's branch is no statement",
            reported=True,
            suggested=True,
        ),
        Keep(
            """\
            from torch.distributed.fsdp import FullyShardedDataParallel as FSDP

            def save(model: FSDP):
                return isinstance(model, FSDP)
            """,
            reason="asking for a class shards nothing",
        ),
        Keep(
            """\
            from torch.distributed.elastic.multiprocessing.errors import record

            @record
            def main():
                pass
            """,
            reason="record only writes an exception down, with or without torchrun",
        ),
        Keep(
            """\
            from deepspeed.ops.sparse_attention import SparseSelfAttention

            attention = SparseSelfAttention()
            """,
            reason="a kernel of one device: nothing is split over the ranks",
        ),
        Keep(
            """\
            import torch
            from fairscale.nn.checkpoint import checkpoint_wrapper
            from torch.distributed._composable import checkpoint
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(checkpoint_wrapper(torch.nn.Linear(2, 1)))
            checkpoint(model)
            """,
            reason="a checkpoint of activations stays on its rank",
        ),
    ),
)
