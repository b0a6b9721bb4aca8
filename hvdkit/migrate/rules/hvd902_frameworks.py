"""HVD902: programs whose framework starts the ranks and averages the gradients are left as they are."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate.catalog.finding import refused
from hvdkit.migrate.catalog.rule import Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.code.library_uses import mentions
from hvdkit.migrate.facts.programs.programs import ProgramFacts, programs_with
from hvdkit.migrate.facts.programs.training_paths import training_paths
from hvdkit.migrate.plan import Finding
from hvdkit.source.index.names import Names

LIGHTNINGS = ("pytorch_lightning", "lightning", "lightning.pytorch", "lightning.fabric", "lightning_fabric")
MODULES = tuple(f"{package}.LightningModule" for package in LIGHTNINGS)
LIGHTNING = (
    *MODULES,
    *(
        f"{package}.{name}"
        for package in LIGHTNINGS
        for name in ("Trainer", "LightningDataModule", "Fabric", "cli.", "strategies.")
    ),
)
TASKS = "timm.task."
FRAMEWORKS = {
    "Accelerate": ("accelerate.Accelerator", "accelerate.PartialState", "accelerate.notebook_launcher"),
    "Lightning": LIGHTNING,
    "the Trainer of transformers": (
        "transformers.Trainer",
        "transformers.Seq2SeqTrainer",
        "transformers.TrainingArguments",
        "transformers.Seq2SeqTrainingArguments",
        "transformers.HfArgumentParser.parse_args_into_dataclasses",
    ),
    "trl": ("trl.",),
    "Ignite's distributed module": ("ignite.distributed.",),
    "mmengine": ("mmengine.runner.", "mmengine.dist.", "mmengine.model.MMDistributedDataParallel"),
    "mmcv": ("mmcv.runner.", "mmcv.parallel."),
    "detectron2": ("detectron2.engine.",),
    "fairseq": (
        "fairseq.tasks.",
        "fairseq.trainer.",
        "fairseq.criterions.",
        "fairseq.models.register_model",
        "fairseq.distributed",
        "fairseq_cli.",
    ),
    "Composer": ("composer.Trainer",),
    "Ray Train": ("ray.train.",),
    "fastai's distributed module": ("fastai.distributed.",),
    "timm's task": (TASKS,),
    "BytePS": ("byteps.",),
    "DGL's launcher, with the servers that hold the graph,": ("dgl.distributed.initialize",),
    "Bagua": ("bagua.",),
}
BY_NAME = {name: framework for framework, found in FRAMEWORKS.items() for name in found}
# Below a framework's names, what only reads weights or is a module: models take it that train elsewhere.
APART = frozenset(
    (
        "detectron2.engine.DefaultPredictor",
        *(f"mmcv.runner.{name}" for name in ("BaseModule", "ModuleList", "Sequential")),
        *(
            f"{package}.runner.{module}{name}"
            for package in ("mmcv", "mmengine")
            for module in ("", "checkpoint.")
            for name in (
                "_load_checkpoint",
                "load_checkpoint",
                "load_state_dict",
                "CheckpointLoader.load_checkpoint",
            )
        ),
    )
)


def check(facts: Facts) -> Iterator[Finding]:
    told: set[tuple[Names, str]] = set()
    used = list(mentions(facts, tuple(BY_NAME)))
    owned = {names for names, _, _, match in used if match in LIGHTNING and match not in MODULES}
    for names, node, qualified, match in used:
        framework = BY_NAME[match]
        if qualified in APART or (names, framework) in told:
            continue
        if match in MODULES and isinstance(names.parents[node], ast.ClassDef):
            programs = programs_with(facts, names)
            owners = [program for program in programs if program.files & owned]
            if not owners and any(_trains_by_itself(facts, program) for program in programs):
                continue  # a module among others, as a tokenizer that was trained elsewhere is
        if match == TASKS and not facts.flow.qualified(names, node):
            continue  # timm's own checkout: what its task does is seen
        told.add((names, framework))
        message = f"{framework} starts the ranks and averages the gradients itself ({qualified})"
        advice = (
            f"stay with {framework}, or write the loop in plain PyTorch and run hvdkit migrate on that; "
            "with two owners of the ranks, gradients would be averaged twice or the job would hang"
        )
        yield refused("HVD902", names, node, message, advice)


def _trains_by_itself(facts: Facts, program: ProgramFacts) -> bool:
    """Whether a program makes backward passes that are in no module of Lightning's."""
    return any(
        not _in_module_of_lightning(facts, path.names, path.backward)
        for path in training_paths(facts, program)
    )


def _in_module_of_lightning(facts: Facts, names: Names, node: ast.AST) -> bool:
    return any(
        set(MODULES) & facts.flow.qualified(names, base)
        for parent in names.ancestors(node)
        if isinstance(parent, ast.ClassDef)
        for base in parent.bases
    )


RULE = Rule(
    id="HVD902",
    title="frameworks that own the ranks are refused",
    what="Leaves alone programs that train through Accelerate, Lightning, transformers' Trainer, mmengine and the like.",
    why=(
        "These start the process group, wrap the model and step the optimizer inside the library, where no "
        "edit of the script reaches. Lightning and Accelerate no longer have a Horovod backend."
    ),
    safety="Nothing is edited in any file of the program.",
    check=check,
    changes=(),
    keeps=(
        Keep(
            """\
            import torch
            from accelerate import Accelerator

            accelerator = Accelerator()
            model, optimizer = accelerator.prepare(model, optimizer)
            """,
            reason="Accelerate wraps the model in DDP by itself",
            reported=True,
        ),
        Keep(
            """\
            import torch
            from accelerate.utils import set_seed
            from transformers import AutoModel, get_linear_schedule_with_warmup

            set_seed(0)
            model = AutoModel.from_pretrained("bert-base-uncased")
            """,
            reason="models, schedules and seeds of these libraries start no ranks",
        ),
    ),
)
