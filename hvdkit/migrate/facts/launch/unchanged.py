"""How a program that stays as it is is started on the hosts of a Horovod job."""

from __future__ import annotations

import os

from hvdkit.migrate.facts.code.library_uses import mentions
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.launch.launch import launch_of
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.facts.programs.programs import ProgramFacts
from hvdkit.shell import word
from hvdkit.source.index.names import Names

# What takes its place among the ranks from the variables that torchrun sets.
_BY_TORCHRUN = (
    *("accelerate.", "lightning.", "pytorch_lightning.", "lightning_fabric.", "deepspeed.", "composer."),
    *("transformers.Trainer", "transformers.Seq2SeqTrainer", "transformers.TrainingArguments", "trl."),
    *("transformers.Seq2SeqTrainingArguments", "mmengine.", "timm.task.", "ignite.distributed."),
    *("torch.distributed.fsdp.", "torch.distributed.pipelining.", "torch.distributed.rpc."),
    *("torch.distributed.device_mesh.", "torch.distributed.init_device_mesh", "torch.distributed.tensor."),
    *("fairscale.", "colossalai.", "torchrec."),
)
_BY_TF_CONFIG = ("tensorflow.distribute.MultiWorkerMirroredStrategy",)
# They start the processes themselves, or are started by a command of their own.
_OWN_LAUNCHERS = (
    *("ray.", "byteps.", "bagua.", "dgl.distributed.", "torch.distributed.elastic.agent."),
    *("torch.distributed.launcher.", "accelerate.notebook_launcher", "accelerate.debug_launcher"),
    *("fairseq_cli.", "detectron2.engine.launch"),
)


def command_unchanged(facts: Facts, program: ProgramFacts) -> str:
    """The command, "" where the program starts its own processes, or what starts it is not known."""
    if program.files & _uses(facts, _OWN_LAUNCHERS) or any(
        spawn.names in program.files for spawn in launch_of(facts).spawns
    ):
        return ""
    if program.files & _uses(facts, _BY_TF_CONFIG):
        option = "--tensorflow"
    elif program.kind == "ddp" or program.files & _uses(facts, _BY_TORCHRUN):
        option = "--torch"
    else:
        return ""
    file = program.entry.source.path
    python = "" if file.suffix == ".ipynb" else "python "
    return f"hvdkit run {option} -np N -H HOST:SLOTS,... {python}{word(os.path.relpath(file))}"


@once
def _uses(facts: Facts, wanted: tuple[str, ...]) -> frozenset[Names]:
    """The files that use something of these libraries."""
    return frozenset(names for names, *_ in mentions(facts, wanted))
