"""What a generated program is made of: one choice for each thing that real scripts write in several ways."""

from __future__ import annotations

import dataclasses
import random

# Each thing with the ways to write it. The first is the plainest: what a reduced program falls back to. A way
# that stands there twice is drawn twice as often.
WAYS: dict[str, tuple[str, ...]] = {
    "launch": (
        *("plain", "plain", "plain", "data-parallel", "torchrun", "torchrun", "spawn"),
        *("environment", "no-ddp", "local-rank", "gpu-list", "card-gate"),
    ),
    "style": ("script", "function", "class", "methods", "base-class"),
    "config": ("options", "options", "groups", "subparsers", "dataclass", "namespace", "yaml", "dictionary"),
    "device": ("available", "cpu", "option", "text", "visible", "method"),
    "data": (
        *("two-sets", "split", "seeded-split", "permuted", "shuffled", "picked", "subset-samplers"),
        "hash-order",
    ),
    "loaders": ("written", "function", "dictionary"),
    "order": ("shuffled", "shuffled", "in-order", "weighted", "random-sampler"),
    "model": ("plain", "frozen-part", "teacher", "average", "batch-norm"),
    "optimizer": ("sgd", "adam", "groups", "filtered"),
    "schedule": ("none", "none", "step", "plateau"),
    "steps": ("plain", "plain", "accumulate", "clip", "accumulate-and-clip"),
    "precision": ("full", "full", "scaler", "cuda-scaler"),
    "measure": ("mean", "meter", "counted"),
    "reduce": ("none", "none", "sum", "average", "helper", "gathered"),
    "stop": ("none", "none", "list", "class", "meter", "best"),
    "stop_by": ("validation", "training"),
    "save": ("none", "last", "best", "every"),
    "saved": ("weights", "inner", "dictionary"),
    "resume": ("none", "none", "when-there", "option"),
    "old": ("none", "there"),
    "folder": ("none", "none", "made", "free-number", "listed-number"),
    "log": ("none", "print", "csv", "json"),
    "epochs": ("for", "while"),
    "seed": ("none", "all-alike", "function"),
    "inference": ("none", "none", "script"),
}
ALWAYS_DISTRIBUTED = ("torchrun", "spawn")
# As several processes, or as one, by what is found when it starts.
SOMETIMES_DISTRIBUTED = ("environment", "no-ddp", "local-rank", "gpu-list", "card-gate")


@dataclasses.dataclass(frozen=True)
class Choices:
    """A way for each thing of WAYS."""

    of: tuple[tuple[str, str], ...]

    def __getitem__(self, thing: str) -> str:
        """The way of one thing."""
        return dict(self.of)[thing]

    @property
    def distributed(self) -> bool:
        """Whether the original runs as several processes."""
        return self["launch"] in ALWAYS_DISTRIBUTED or self.sometimes

    @property
    def sometimes(self) -> bool:
        """Whether it runs as one process, too."""
        return self["launch"] in SOMETIMES_DISTRIBUTED

    @property
    def needs_cards(self) -> bool:
        """Whether the original cannot run without a GPU, or computes something else there."""
        return self.distributed and self["launch"] != "card-gate"

    @property
    def wrapped(self) -> bool:
        """Whether the original's model has a wrapper, with the model itself in `.module`."""
        return self.distributed or self["launch"] == "data-parallel"

    @property
    def told(self) -> str:
        """What is not the plainest, as `thing=way`."""
        return " ".join(f"{thing}={way}" for thing, way in self.of if way != WAYS[thing][0]) or "all plain"

    def plainer(self, thing: str) -> Choices:
        """The same with the plainest way of one thing."""
        return fitting({**dict(self.of), thing: WAYS[thing][0]})


def fitting(ways: dict[str, str]) -> Choices:
    """Choices without those that say nothing beside the others, which would blur what a fault comes from."""
    distributed = ways["launch"] in (*ALWAYS_DISTRIBUTED, *SOMETIMES_DISTRIBUTED)
    if distributed:
        # A DistributedSampler divides the data there, and a seeded split; others would be a fault of
        # the original.
        ways["order"] = "shuffled"
        if ways["data"] not in ("two-sets", "seeded-split"):
            ways["data"] = "seeded-split"
        ways["device"] = "available"
    if not distributed or ways["model"] == "teacher":
        ways["reduce"] = "none"  # the probe knows the loss of one criterion
    if ways["reduce"] != "none":
        ways["log"] = "json"  # where the number is read
        ways["folder"] = "none" if ways["folder"] == "none" else "made"
    if ways["data"] == "subset-samplers":
        ways["order"] = "shuffled"
    if ways["stop"] == "none":
        ways["stop_by"] = "validation"
    if ways["save"] == "none":
        ways["saved"], ways["resume"] = "weights", "none"
    if ways["save"] == "best":
        ways["resume"] = "none"
    if ways["folder"] in ("free-number", "listed-number"):
        ways["resume"] = "none"  # each run has a folder of its own
    if ways["resume"] == "option":
        ways["folder"] = "none"  # what it saves is what it resumes
    if ways["resume"] == "none":
        ways["old"] = "none"
    if ways["launch"] == "plain" and ways["saved"] == "inner":
        ways["saved"] = "weights"
    return Choices(tuple(ways.items()))


def drawn(seed: int) -> Choices:
    """The choices of the program of one seed."""
    rng = random.Random(seed)
    return fitting({thing: rng.choice(ways) for thing, ways in WAYS.items()})
