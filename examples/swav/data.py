"""Images to learn from without labels: scikit-learn's handwritten digits on a larger canvas, or an image folder.

Each item is several views of one image, as SwAV wants them: `views(image)` cuts large and small crops.
"""

from pathlib import Path

import torch
import torch.nn.functional as F
from torch.utils.data import Dataset

CANVAS = 32  # side of the digit images
HELD_OUT = 360  # digits for the evaluation only


class Folder:
    """ImageNet's layout, one folder for each class: (3, side, side) floats in [0, 1] and class indices."""

    def __init__(self, root, side):
        self.classes = sorted(path.name for path in Path(root).iterdir() if path.is_dir())
        self.items = [
            (path, label)
            for label, name in enumerate(self.classes)
            for path in sorted((Path(root) / name).iterdir())
        ]
        self.side = side

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        import numpy as np
        from PIL import Image

        path, label = self.items[index]
        with Image.open(path) as file:
            image = file.convert("RGB")
            scale = self.side / min(image.size)
            image = image.resize([max(self.side, round(scale * length)) for length in image.size])
            left, top = (image.width - self.side) // 2, (image.height - self.side) // 2
            image = image.crop((left, top, left + self.side, top + self.side))
        return torch.from_numpy(np.array(image)).permute(2, 0, 1) / 255, label


def digits():
    """Training and held-out images (N, 1, 32, 32) in [0, 1] with labels (N,).

    Every scan is put on the canvas at a size and a place of its own, drawn once: pixels no longer tell which digit
    it is, a network has to.
    """
    from sklearn.datasets import load_digits

    source = load_digits()
    generator = torch.Generator().manual_seed(0)
    scans = torch.as_tensor(source.images, dtype=torch.float32)[:, None] / 16
    images = torch.zeros(len(scans), 1, CANVAS, CANVAS)
    for image, scan in zip(images, scans):
        side = int(torch.randint(18, 29, (), generator=generator))
        top, left = torch.randint(0, CANVAS - side + 1, (2,), generator=generator).tolist()
        digit = F.interpolate(scan[None], size=side, mode="bilinear", align_corners=False)[0]
        image[:, top : top + side, left : left + side] = digit
    order = torch.randperm(len(images), generator=generator)
    images, labels = images[order], torch.as_tensor(source.target)[order]
    return (images[HELD_OUT:], labels[HELD_OUT:]), (images[:HELD_OUT], labels[:HELD_OUT])


class Views(Dataset):
    """Images as views: `large` crops of `large_size`, then `small` crops of `small_size`, each distorted."""

    def __init__(self, images, large, small, large_size, small_size, large_scale, small_scale):
        self.images = images
        self.crops = large * [(large_size, large_scale)] + small * [(small_size, small_scale)]

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        item = self.images[index]
        image = item[0] if isinstance(item, tuple) else item
        return [distort(random_crop(image, size, scale)) for size, scale in self.crops]


def uniform(low, high):
    return low + (high - low) * torch.rand(()).item()


def random_crop(image, size, scale):
    """A rectangle of a share `scale` of the area and an aspect ratio of 3/4 to 4/3, resized to a square."""
    height, width = image.shape[1:]
    area, aspect = height * width * uniform(*scale), uniform(3 / 4, 4 / 3)
    h, w = min(height, round((area / aspect) ** 0.5)), min(width, round((area * aspect) ** 0.5))
    top, left = int(torch.randint(height - h + 1, ())), int(torch.randint(width - w + 1, ()))
    cut = image[None, :, top : top + h, left : left + w]
    return F.interpolate(cut, size=(size, size), mode="bilinear", align_corners=False)[0]


def distort(image):
    """Brightness, contrast and, half of the time, blur."""
    image = (image - image.mean()) * uniform(0.6, 1.4) + image.mean() * uniform(0.6, 1.4)
    if torch.rand(()) < 0.5:
        image = F.avg_pool2d(image[None], 3, stride=1, padding=1)[0]
    return image
