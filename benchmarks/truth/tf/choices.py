"""What a generated TensorFlow program is made of: a choice for each thing that is written in several ways."""

from __future__ import annotations

import dataclasses
import random

# Each thing with the ways to write it, the plainest first. One that is there twice is drawn twice as often.
WAYS: dict[str, tuple[str, ...]] = {
    "train": ("fit", "fit", "train-step", "tape", "graph-tape", "fed", "helper-tape"),
    "strategy": ("none", "none", "none", "mirrored"),
    "style": ("script", "function", "class"),
    "data": (
        *("arrays", "pipeline", "mapped", "helper", "two-ways", "permuted", "seeded-order", "shuffled-first"),
        *("seeded-first", "generated", "sequence", "masked"),
    ),
    "model": ("sequential", "functional", "subclass", "two-parts"),
    "optimizer": ("object", "name", "adam", "schedule", "clipped"),
    "validation": ("none", "held", "split"),
    "steps": ("none", "none", "counted"),
    "save": ("none", "weights", "model", "callback", "checkpoint"),
    "resume": ("none", "none", "when-there"),
    "stop": ("none", "none", "early"),
    "log": ("none", "print", "csv", "json"),
    "seed": ("none", "none", "all-alike"),
    "again": ("none", "none", "defined-again"),
}
FITS = ("fit", "train-step")


@dataclasses.dataclass(frozen=True)
class Choices:
    """A way for each thing of WAYS."""

    of: tuple[tuple[str, str], ...]

    def __getitem__(self, thing: str) -> str:
        """The way of one thing."""
        return dict(self.of)[thing]

    @property
    def fits(self) -> bool:
        """Whether Keras runs the loop over batches."""
        return self["train"] in FITS

    @property
    def told(self) -> str:
        """What is not the plainest, as `thing=way`."""
        return " ".join(f"{thing}={way}" for thing, way in self.of if way != WAYS[thing][0]) or "all plain"

    def plainer(self, thing: str) -> Choices:
        """The same with the plainest way of one thing."""
        return fitting({**dict(self.of), thing: WAYS[thing][0]})


def fitting(ways: dict[str, str]) -> Choices:
    """Choices without those that cannot be written beside the others, or say nothing there."""
    fits = ways["train"] in FITS
    arrays = ways["data"] in ("arrays", "permuted", "seeded-order", "masked")
    if ways["strategy"] == "mirrored":
        ways["train"] = "fit"  # a loop under a strategy distributes its data itself
        ways["data"] = ways["data"] if ways["data"] in ("pipeline", "mapped", "helper") else "pipeline"
        fits, arrays = True, False
    if not fits:
        ways["validation"] = "none" if ways["validation"] == "split" else ways["validation"]
        ways["save"] = "weights" if ways["save"] == "callback" else ways["save"]
        ways["log"] = "print" if ways["log"] == "csv" else ways["log"]
        ways["steps"] = "none"
        ways["stop"] = "none"
        if ways["data"] == "sequence":
            ways["data"] = "pipeline"
    if ways["steps"] == "counted" and (arrays or ways["data"] == "sequence"):
        ways["data"], arrays = "pipeline", False
    if ways["validation"] == "split" and not arrays:
        ways["validation"] = "held"
    if ways["stop"] == "early":
        ways["validation"] = "held" if ways["validation"] == "none" else ways["validation"]
    if ways["model"] == "two-parts" and ways["train"] != "train-step":
        ways["model"] = "functional"
    if ways["train"] == "train-step" and ways["model"] in ("sequential", "functional"):
        ways["model"] = "subclass"
    if ways["save"] in ("model", "checkpoint") and ways["model"] in ("subclass", "two-parts"):
        ways["save"] = "weights"
    if ways["save"] == "checkpoint" and fits:
        ways["save"] = "callback"
    if ways["train"] == "fed":
        ways["save"] = "weights" if ways["save"] == "checkpoint" else ways["save"]
    if ways["save"] in ("none", "callback"):
        ways["resume"] = "none"
    if ways["again"] == "defined-again" and ways["train"] != "graph-tape":
        ways["again"] = "none"
    if ways["again"] == "defined-again":
        ways["style"] = "script"
    return Choices(tuple(ways.items()))


def drawn(seed: int) -> Choices:
    """The program of a seed."""
    numbers = random.Random(seed)
    return fitting({thing: numbers.choice(ways) for thing, ways in WAYS.items()})
