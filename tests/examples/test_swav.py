"""The SwAV example's own parts: image folders, views, and codes that use all prototypes alike."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

SWAV = Path(__file__).parents[2] / "examples" / "swav"


def run(code: str, *arguments: str) -> list[str]:
    """Run code in the example's folder, as its scripts run, and return the lines that it prints."""
    done = subprocess.run(
        [sys.executable, "-B", "-c", code, *arguments], cwd=SWAV, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """Two classes with two PNG files each, of different shapes."""
    for name, value in (("birds", 40), ("cats", 200)):
        (tmp_path / name).mkdir()
        for index, size in enumerate([(60, 40), (30, 50)]):
            pixels = np.full((size[1], size[0], 3), value, np.uint8)
            Image.fromarray(pixels).save(tmp_path / name / f"{index}.png")
    return tmp_path


def test_an_image_folder_goes_through_the_papers_network(photos: Path) -> None:
    code = """if True:
        import sys, torch
        from data import Folder, Views
        from model import SwAV
        folder = Folder(sys.argv[1], 32)
        image, label = folder[3]
        print(len(folder), folder.classes, tuple(image.shape), label, round(image.mean().item() * 255))
        dataset = Views(folder, 2, 3, 32, 16, (0.3, 1), (0.1, 0.4))
        views = [torch.stack(view) for view in zip(dataset[0], dataset[2])]
        print([tuple(view.shape) for view in views])
        points, scores = SwAV("resnet50", 3, 64, 16, 30)(views)
        print(tuple(points.shape), tuple(scores.shape), round(points.norm(dim=1).sum().item(), 3))
        print(SwAV("resnet50", 3, 64, 16, 30).head[0].in_features)
    """
    assert run(code, str(photos)) == [
        "4 ['birds', 'cats'] (3, 32, 32) 1 200",
        f"{[(2, 3, 32, 32)] * 2 + [(2, 3, 16, 16)] * 3}",
        "(10, 16) (10, 30) 10.0",
        "2048",
    ]


def test_codes_use_all_prototypes_alike() -> None:
    code = """if True:
        import torch
        import torch.distributed as dist
        from train_ddp import sinkhorn
        dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
        torch.manual_seed(0)
        codes = sinkhorn(torch.randn(64, 8).double() / 5, 50, 0.5)
        one = torch.ones((), dtype=torch.float64)
        print(codes.sum(1).allclose(one), codes.sum(0).allclose(8 * one))
        dist.destroy_process_group()
    """
    assert run(code) == ["True True"]


def test_large_and_small_views_go_through_the_network_as_if_alone() -> None:
    code = """if True:
        import torch
        from model import SwAV
        torch.manual_seed(0)
        model = SwAV("small", 1, 32, 8, 12).eval()
        views = [torch.rand(3, 1, 24, 24), torch.rand(3, 1, 24, 24), torch.rand(3, 1, 16, 16)]
        together = model(views)[1].split(3)
        print(all(torch.allclose(model([view])[1], part, atol=1e-5) for view, part in zip(views, together)))
    """
    assert run(code) == ["True"]
