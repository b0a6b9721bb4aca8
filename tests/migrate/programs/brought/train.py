"""Accumulates and clips the gradients of a model, a loader and an optimizer that another file made."""

import contextlib
import json
import os
from pathlib import Path

import torch
import torch.distributed as dist
from parts import loader, model, optimizer, sampler


def train():
    for epoch in range(2):
        sampler.set_epoch(epoch)
        for number, (x, y) in enumerate(loader):
            last = number % 2 == 1
            with contextlib.nullcontext() if last else model.no_sync():
                torch.nn.functional.mse_loss(model(x), y).backward()
            if last:
                torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
                optimizer.step()
                optimizer.zero_grad()
    Path(f"{os.environ['RESULTS']}.{dist.get_rank()}").write_text(json.dumps(model.module.weight.tolist()))
    dist.destroy_process_group()


if __name__ == "__main__":
    train()
