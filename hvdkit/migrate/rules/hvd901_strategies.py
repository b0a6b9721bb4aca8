"""HVD901: programs that split the model or its state over the ranks are left as they are."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.mentions import mentions
from hvdkit.migrate.names import Names
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rule import Keep, Rule

FITS = "if the model fits on one device, write it with DistributedDataParallel and run hvdkit migrate again"
SHARDED = (
    "shards parameters, gradients or optimizer state over the ranks, and Horovod keeps all of them on each"
)
TENSOR = "places parts of tensors on different ranks, and Horovod keeps whole tensors on each"
STAGES = "runs parts of the model on different ranks, and Horovod runs the whole model on each"
REMOTE = "calls functions on other ranks, and Horovod has collectives only"
PERIODIC = "averages parameters now and then, and Horovod averages gradients at every step"
RESTARTS = (
    "restarts workers and keeps their state; Horovod's elastic mode is another program: hvd.elastic.run"
)

STRATEGIES = {
    "torch.distributed.fsdp.": SHARDED,
    "torch.distributed._composable.": SHARDED,
    "torch.distributed.optim.ZeroRedundancyOptimizer": SHARDED,
    "torch.distributed.optim.PostLocalSGDOptimizer": PERIODIC,
    "torch.distributed.optim.DistributedOptimizer": REMOTE,
    "torch.distributed.algorithms.model_averaging.": PERIODIC,
    "torch.distributed.tensor.": TENSOR,
    "torch.distributed._tensor.": TENSOR,
    "torch.distributed.device_mesh.": TENSOR,
    "torch.distributed.init_device_mesh": TENSOR,
    "torch.distributed.DeviceMesh": TENSOR,
    "torch.distributed.pipelining.": STAGES,
    "torch.distributed.pipeline.": STAGES,
    "torch.distributed.rpc.": REMOTE,
    "torch.distributed.autograd.": REMOTE,
    "torch.distributed.nn.RemoteModule": REMOTE,
    "torch.distributed.checkpoint.": SHARDED,
    "torch.distributed.elastic.": RESTARTS,
    "torchelastic.": RESTARTS,
    "deepspeed.": SHARDED,
    "fairscale.": SHARDED,
    "colossalai.": SHARDED,
    "megatron.": TENSOR,
    "torchrec.": TENSOR,
    "apex.transformer.": TENSOR,
    "apex.contrib.optimizers.": SHARDED,
}
HARMLESS = (
    # Only writes the exception of a failed worker down; does nothing more without torchrun's agent.
    "torch.distributed.elastic.multiprocessing.errors.record",
    # Kernels and optimizers of one device; what shards is deepspeed.initialize and deepspeed.zero.
    "deepspeed.ops.",
    "deepspeed.profiling.",
    # Activations computed again in the backward pass, on each rank for itself.
    "fairscale.nn.checkpoint",
    "torch.distributed._composable.checkpoint",
)


# Libraries that programs with several backends import by name, when they run.
LIBRARIES = {"deepspeed", "fairscale", "colossalai"}


def check(facts: Facts) -> Iterator[Finding]:
    if facts.calls("importlib.import_module"):
        for names in facts.files:
            for text in names.of_kind(ast.Constant):
                if text.value in LIBRARIES and _names_module(names, text):
                    message = f"{text.value} is imported by name in this program, and {SHARDED}"
                    yield facts.refused("HVD901", names, text, message, FITS)
    for names, node, qualified, match in mentions(facts, tuple(STRATEGIES)):
        if not qualified.startswith(HARMLESS):
            advice = "move to hvd.elastic by hand" if STRATEGIES[match] == RESTARTS else FITS
            yield facts.refused("HVD901", names, node, f"{qualified} {STRATEGIES[match]}", advice)


def _names_module(names: Names, text: ast.Constant) -> bool:
    """Whether a string is what is imported, or a setting of a class or module; not one of many choices."""
    parent = names.parents[text]
    setting = isinstance(parent, (ast.Assign, ast.AnnAssign)) and names.function(text) is None
    return setting or (
        isinstance(parent, ast.Call) and "importlib.import_module" in names.qualified(parent.func)
    )


RULE = Rule(
    id="HVD901",
    title="sharded, tensor, pipeline and remote parallelism is refused",
    what=(
        "Leaves every program alone that uses FSDP, ZeRO, DeepSpeed, DTensor and device meshes, pipelines, RPC, "
        "periodic model averaging or torch's elastic agents."
    ),
    why=(
        "Horovod is data parallelism: each rank holds the whole model and its optimizer. A rewrite would run, "
        "and train something else or run out of memory."
    ),
    safety="Nothing is edited in any file of the program.",
    check=check,
    changes=(),
    keeps=(
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
