"""What `hvdkit bench` and `hvdkit tune` train where no script is named: each model is made with a batch."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn


class Block(nn.Module):
    """ResNet's basic block (He et al., https://arxiv.org/abs/1512.03385)."""

    def __init__(self, taken: int, given: int, stride: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(taken, given, 3, stride, 1, bias=False),
            nn.BatchNorm2d(given),
            nn.ReLU(),
            nn.Conv2d(given, given, 3, 1, 1, bias=False),
            nn.BatchNorm2d(given),
        )
        same = stride == 1 and taken == given
        self.beside = nn.Identity() if same else nn.Conv2d(taken, given, 1, stride, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(N, taken, H, W) to (N, given, H / stride, W / stride)."""
        return torch.relu(self.body(x) + self.beside(x))


def mlp() -> tuple[nn.Module, torch.Tensor]:
    """Three layers of 1024, and a batch of 64."""
    layers = [part for _ in range(3) for part in (nn.Linear(1024, 1024), nn.ReLU())]
    return nn.Sequential(*layers, nn.Linear(1024, 10)), torch.randn(64, 1024)


def resnet() -> tuple[nn.Module, torch.Tensor]:
    """ResNet-18 for small images, and a batch of 4."""
    widths = (64, 64, 128, 256, 512)
    blocks = [
        Block(taken if first else given, given, 1 if given == 64 or not first else 2)
        for taken, given in zip(widths, widths[1:])
        for first in (True, False)
    ]
    head = (nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10))
    stem = (nn.Conv2d(3, 64, 3, 1, 1, bias=False), nn.BatchNorm2d(64), nn.ReLU())
    return nn.Sequential(*stem, *blocks, *head), torch.randn(4, 3, 32, 32)


class Transformer(nn.Module):
    """Four encoder layers, and the mean over the positions."""

    def __init__(self) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(256, 4, 1024, dropout=0.0, batch_first=True)
        self.body, self.head = nn.TransformerEncoder(layer, 4, enable_nested_tensor=False), nn.Linear(256, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(N, positions, 256) to (N, 10)."""
        scores: torch.Tensor = self.head(self.body(x).mean(1))
        return scores


def transformer() -> tuple[nn.Module, torch.Tensor]:
    """A batch of 8 texts of 32 positions."""
    return Transformer(), torch.randn(8, 32, 256)


MODELS: dict[str, Callable[[], tuple[nn.Module, torch.Tensor]]] = {
    "mlp": mlp,
    "resnet18": resnet,
    "transformer": transformer,
}
