"""A network on the GPU in float16: python mixed.py {compression,scaler,bfloat16}, under Horovod's launchers.

compression: gradients are sent as float16. scaler: automatic mixed precision with a GradScaler, and gradients
that are clipped between their average and the step. bfloat16: autocast alone. Prints the first and the last
loss, and fails where it did not fall or ranks hold different weights.
"""

import sys

import horovod.torch as hvd
import torch
from torch import nn

STEPS = 60


def main(way):
    hvd.init()
    device = torch.device("cuda", hvd.local_rank() % torch.cuda.device_count())
    torch.cuda.set_device(device)
    torch.manual_seed(hvd.rank())
    samples = torch.randn(256, 32, device=device)
    model = nn.Sequential(nn.Linear(32, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 1)).to(device)
    hvd.broadcast_parameters(model.state_dict(), root_rank=0)
    compression = hvd.Compression.fp16 if way == "compression" else hvd.Compression.none
    optimizer = hvd.DistributedOptimizer(
        torch.optim.SGD(model.parameters(), lr=0.05), model.named_parameters(), compression
    )
    scaler = torch.amp.GradScaler("cuda", enabled=way == "scaler")
    kind = torch.bfloat16 if way == "bfloat16" else torch.float16
    losses = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=kind, enabled=way != "compression"):
            loss = (model(samples).squeeze(1) - samples.sum(1)).pow(2).mean()
        scaler.scale(loss).backward()
        optimizer.synchronize()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        with optimizer.skip_synchronize():
            scaler.step(optimizer)
        scaler.update()
        losses.append(hvd.allreduce(loss.detach().float()).item())
    weights = torch.cat([each.detach().flatten() for each in model.parameters()])
    apart = (hvd.allgather(weights[None]) != weights).sum().item()
    if hvd.rank() == 0:
        print(f"{way}: loss {losses[0]:.3f} at first, {losses[-1]:.3f} after {STEPS} steps", flush=True)
    assert losses[-1] < losses[0] / 2, losses
    assert not apart, f"{apart} weights differ between ranks"


main(sys.argv[1])
