"""Residual networks (He et al. 2015, arXiv:1512.03385) with SwAV's projection head and prototypes on top."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Basic(nn.Module):
    """Two 3x3 convolutions."""

    growth = 1

    def __init__(self, channels, width, stride):
        super().__init__()
        self.path = nn.Sequential(
            nn.Conv2d(channels, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(inplace=True),
            nn.Conv2d(width, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width),
        )  # fmt: skip
        self.shortcut = shortcut(channels, width, stride)

    def forward(self, x):
        return F.relu(self.path(x) + self.shortcut(x))


class Bottleneck(nn.Module):
    """A 3x3 convolution between two 1x1."""

    growth = 4

    def __init__(self, channels, width, stride):
        super().__init__()
        self.path = nn.Sequential(
            nn.Conv2d(channels, width, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(inplace=True),
            nn.Conv2d(width, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(inplace=True),
            nn.Conv2d(width, 4 * width, 1, bias=False), nn.BatchNorm2d(4 * width),
        )  # fmt: skip
        self.shortcut = shortcut(channels, 4 * width, stride)

    def forward(self, x):
        return F.relu(self.path(x) + self.shortcut(x))


def shortcut(channels, width, stride):
    if stride == 1 and channels == width:
        return nn.Identity()
    return nn.Sequential(nn.Conv2d(channels, width, 1, stride, bias=False), nn.BatchNorm2d(width))


def resnet(name, channels):
    """A network from images (N, channels, H, W) to features (N, dim), and dim. resnet50 is the paper's."""
    block, depths, width = {"small": (Basic, (1, 1, 1), 24), "resnet50": (Bottleneck, (3, 4, 6, 3), 64)}[name]
    if name == "small":
        layers = [
            nn.Conv2d(channels, width, 3, 1, 1, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(inplace=True),
        ]
    else:
        layers = [
            nn.Conv2d(channels, width, 7, 2, 3, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(inplace=True),
        ]
        layers.append(nn.MaxPool2d(3, 2, 1))
    now = width
    for stage, depth in enumerate(depths):
        for index in range(depth):
            stride = 2 if index == 0 and stage > 0 else 1
            layers.append(block(now, width * 2**stage, stride))
            now = width * 2**stage * block.growth
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten()), now


class SwAV(nn.Module):
    """Views to points on the unit sphere, and how near each is to every prototype."""

    def __init__(self, name, channels, hidden, dim, prototypes):
        super().__init__()
        self.backbone, features = resnet(name, channels)
        self.head = nn.Sequential(
            nn.Linear(features, hidden), nn.BatchNorm1d(hidden), nn.ReLU(inplace=True), nn.Linear(hidden, dim)
        )
        self.prototypes = nn.Linear(dim, prototypes, bias=False)

    def forward(self, views):
        """A list of (N, C, H, W); all of one size go through the network together. Points and scores, view by view."""
        features = []
        start = 0
        for end in range(1, len(views) + 1):
            if end == len(views) or views[end].shape != views[start].shape:
                features.append(self.backbone(torch.cat(views[start:end])))
                start = end
        points = F.normalize(self.head(torch.cat(features)), dim=1)
        return points, self.prototypes(points)
