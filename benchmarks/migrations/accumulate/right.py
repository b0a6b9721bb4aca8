"""Three batches a step with Horovod: bfloat16, a loss scaler that meets an overflow on one rank, clipping."""

import horovod.torch as hvd
import torch
import torch.nn.functional as F
from torch import nn

WINDOW = 3


def main():
    hvd.init()
    torch.manual_seed(3)
    generator = torch.Generator().manual_seed(hvd.rank())
    model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 2))
    hvd.broadcast_parameters(model.state_dict(), root_rank=0)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    optimizer = hvd.DistributedOptimizer(
        optimizer, named_parameters=model.named_parameters(), backward_passes_per_step=WINDOW
    )
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    for batch in range(21):
        inputs = torch.randn(8, 8, generator=generator)
        if hvd.rank() == 1 and batch == 4:
            inputs[0, 0] = float("inf")
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = F.cross_entropy(model(inputs), torch.arange(8) % 2)
        scaler.scale(loss / WINDOW).backward()
        if batch % WINDOW == WINDOW - 1:
            optimizer.synchronize()
            scaler.unscale_(optimizer)
            nn.utils.clip_grad_norm_(model.parameters(), 0.3)
            with optimizer.skip_synchronize():
                scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
    if hvd.rank() == 0:
        torch.save(model.state_dict(), "model.pt")
    hvd.shutdown()


if __name__ == "__main__":
    main()
