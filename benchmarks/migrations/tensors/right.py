"""On each rank without a DataLoader: the script shuffles its tensors alike and slices its share."""

import horovod.torch as hvd
import torch
import torch.nn.functional as F
from torch import nn

BATCH = 8


def main():
    hvd.init()
    torch.manual_seed(3)
    inputs = torch.randn(48, 6, generator=torch.Generator().manual_seed(1))
    targets = inputs.sum(1, keepdim=True).sin()
    model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
    hvd.broadcast_parameters(model.state_dict(), root_rank=0)
    for epoch in range(2):
        order = torch.randperm(48, generator=torch.Generator().manual_seed(epoch))
        for batch in order[hvd.rank() :: hvd.size()].split(BATCH):
            optimizer.zero_grad()
            loss = F.mse_loss(model(inputs[batch]), targets[batch])
            loss.backward()
            optimizer.synchronize()
            nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            with optimizer.skip_synchronize():
                optimizer.step()
        loss = hvd.allreduce(loss.detach(), op=hvd.Average)
        if hvd.rank() == 0:
            print(f"epoch {epoch}: loss {loss.item():.4f}")
            torch.save(model.state_dict(), "model.pt")


if __name__ == "__main__":
    main()
