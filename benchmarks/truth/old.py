"""The checkpoint that an original wrote before it was migrated, which the migrated program finds."""

from __future__ import annotations

from pathlib import Path

import torch

from truth.choices import Choices

SHAPES = {
    "backbone.0.weight": (8, 4),
    "backbone.0.bias": (8,),
    "backbone.1.weight": (8,),
    "backbone.1.bias": (8,),
    "backbone.1.running_mean": (8,),
    "backbone.1.running_var": (8,),
    "backbone.1.num_batches_tracked": (),
    "head.weight": (1, 8),
    "head.bias": (1,),
}
BUFFERS = ("running_mean", "running_var", "num_batches_tracked")


def weights(choices: Choices) -> dict[str, torch.Tensor]:
    """The state of a Net."""
    generator = torch.Generator().manual_seed(5)
    state = {name: torch.rand(shape, generator=generator) for name, shape in SHAPES.items()}
    state["backbone.1.num_batches_tracked"] = torch.tensor(3)
    normed = choices["model"] == "batch-norm"
    return {name: value for name, value in state.items() if normed or not name.startswith("backbone.1")}


def trained(choices: Choices) -> list[torch.Tensor]:
    """The parameters of a Net."""
    return [value for name, value in weights(choices).items() if not name.endswith(BUFFERS)]


def old_checkpoint(choices: Choices, folder: Path) -> None:
    """Write last.pt where the program looks for it, as its original would have, before its first epoch."""
    prefix = "module." if choices.wrapped and choices["saved"] != "inner" else ""
    state: dict[str, object] = {f"{prefix}{name}": value for name, value in weights(choices).items()}
    if choices["saved"] == "dictionary":
        state = {"model": state, "optimizer": _optimizer(choices), "epoch": -1}
    path = folder / "runs" if choices["folder"] == "made" else folder
    path.mkdir(exist_ok=True)
    torch.save(state, path / "last.pt")


def _optimizer(choices: Choices) -> dict[str, object]:
    """The state of the optimizer that has just been made."""
    named = {name: value for name, value in weights(choices).items() if not name.endswith(BUFFERS)}
    head = [value for name, value in named.items() if name.startswith("head")]
    backbone = [value for name, value in named.items() if not name.startswith("head")]
    groups: list[dict[str, object]] = [{"params": [*backbone, *head]}]
    if choices["optimizer"] == "groups":
        groups = [{"params": backbone}, {"params": head, "lr": 0.02}]
    elif choices["model"] == "frozen-part":
        groups = [{"params": head}]
    if choices["optimizer"] == "adam":
        return torch.optim.Adam(groups, lr=0.05).state_dict()
    return torch.optim.SGD(groups, lr=0.05).state_dict()
