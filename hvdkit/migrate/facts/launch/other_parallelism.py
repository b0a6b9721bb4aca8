"""Where a program uses another parallelism than Horovod's: parts of the model or its state on each rank."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.dataclass import dataclass
from hvdkit.migrate.facts.code.library_uses import mentions
from hvdkit.migrate.facts.code.loops import training_loops
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.facts.programs.programs import kinds_of
from hvdkit.migrate.values.arguments import spawned
from hvdkit.source.index.names import Names

SHARDED = (
    "shards parameters, gradients or optimizer state over the ranks, and Horovod keeps all of them on each "
    "rank"
)
TENSOR = "places parts of tensors on different ranks, and Horovod keeps whole tensors on each rank"
STAGES = "runs parts of the model on different ranks, and Horovod runs the whole model on each rank"
REMOTE = "calls functions on other ranks, and Horovod has collectives only"
PERIODIC = "averages parameters periodically, and Horovod averages gradients in every step"
RESTARTS = (
    "restarts workers and keeps their state; Horovod's elastic mode needs a different program: "
    "hvd.elastic.run"
)

OWN = "trains in processes that the script starts itself, and those are not Horovod ranks"

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
    "apex.contrib.optimizers.distributed_": SHARDED,
    "apex.contrib.optimizers.Distributed": SHARDED,
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


@dataclass(frozen=True)
class Use:
    """A use of another parallelism: its expression, what it is, and what it does, to end a sentence."""

    names: Names
    node: ast.expr
    what: str
    does: str

    @property
    def short(self) -> str:
        """The library, or the class of PyTorch's."""
        first, _, rest = self.what.partition(".")
        return rest.rpartition(".")[2] if first == "torch" else first.partition(" ")[0]


@once
def other_parallelism(facts: Facts) -> list[Use]:
    """Every use, libraries that are imported by their names first."""
    return list(_other_parallelism(facts))


def _other_parallelism(facts: Facts) -> Iterator[Use]:
    if facts.calls("importlib.import_module"):
        for names in facts.files:
            for text in names.of_kind(ast.Constant):
                if text.value in LIBRARIES and _names_module(names, text):
                    what = f"{text.value} is imported by name in this program, and"
                    yield Use(names, text, what, SHARDED)
    for path in training_loops(facts).paths:
        for names, call in path.calls:
            if kinds_of(facts, names) == {"single"} and _starts_process(names, call):
                yield Use(names, call.func, ast.unparse(call.func), OWN)
    for names, node, qualified, match in mentions(facts, tuple(STRATEGIES)):
        if not qualified.startswith(HARMLESS):
            yield Use(names, node, qualified, STRATEGIES[match])


def _starts_process(names: Names, call: ast.Call) -> bool:
    """Whether a call makes another process, not only a function with its arguments."""
    return spawned(names, call) is not None and "functools.partial" not in names.qualified(call.func)


def _names_module(names: Names, text: ast.Constant) -> bool:
    """Whether a string is what is imported, or a setting of a class or module; not one of many choices."""
    parent = names.parents[text]
    setting = isinstance(parent, (ast.Assign, ast.AnnAssign)) and names.function(text) is None
    return setting or (
        isinstance(parent, ast.Call) and "importlib.import_module" in names.qualified(parent.func)
    )
