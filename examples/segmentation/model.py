"""DeepLabV3 (Chen et al. 2017, arXiv:1706.05587) on a small residual network: dilation in place of stride."""

import torch
import torch.nn as nn
import torch.nn.functional as F


def conv(channels, width, size, stride=1, dilation=1):
    """A convolution that keeps the size, up to its stride, with BatchNorm and ReLU."""
    padding = dilation * (size // 2)
    return nn.Sequential(
        nn.Conv2d(channels, width, size, stride, padding, dilation, bias=False),
        nn.BatchNorm2d(width),
        nn.ReLU(),
    )


class Block(nn.Module):
    """Two 3x3 convolutions with a shortcut."""

    def __init__(self, channels, width, stride=1, dilation=1):
        super().__init__()
        self.path = nn.Sequential(
            conv(channels, width, 3, stride, dilation),
            nn.Conv2d(width, width, 3, padding=dilation, dilation=dilation, bias=False),
            nn.BatchNorm2d(width),
        )
        same = stride == 1 and channels == width
        self.shortcut = nn.Identity() if same else nn.Conv2d(channels, width, 1, stride, bias=False)

    def forward(self, x):
        return F.relu(self.path(x) + self.shortcut(x))


class Pyramid(nn.Module):
    """Atrous spatial pyramid pooling: each place seen through several dilations, and the whole image."""

    def __init__(self, channels, width, dilations):
        super().__init__()
        self.branches = nn.ModuleList([conv(channels, width, 1)])
        self.branches.extend(conv(channels, width, 3, dilation=dilation) for dilation in dilations)
        self.whole = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(channels, width, 1), nn.ReLU())
        self.project = nn.Sequential(conv(width * (len(dilations) + 2), width, 1), nn.Dropout(0.1))

    def forward(self, x):
        whole = self.whole(x).expand(-1, -1, *x.shape[2:])
        return self.project(torch.cat([*(branch(x) for branch in self.branches), whole], dim=1))


class DeepLab(nn.Module):
    """Images (N, 1, H, W) to logits (N, classes, H, W), from the pyramid and, for an auxiliary loss, from before it."""

    def __init__(self, classes, width):
        super().__init__()
        self.early = nn.Sequential(conv(1, width, 3), Block(width, 2 * width, stride=2))
        self.late = nn.Sequential(
            Block(2 * width, 4 * width, dilation=2), Block(4 * width, 4 * width, dilation=4)
        )
        self.head = nn.Sequential(Pyramid(4 * width, 2 * width, (2, 4, 6)), nn.Conv2d(2 * width, classes, 1))
        self.auxiliary = nn.Conv2d(2 * width, classes, 1)

    def forward(self, images):
        early = self.early(images)
        outputs = [self.head(self.late(early)), self.auxiliary(early)]
        return [
            F.interpolate(output, images.shape[2:], mode="bilinear", align_corners=False)
            for output in outputs
        ]
