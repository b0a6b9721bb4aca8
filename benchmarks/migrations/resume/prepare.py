"""The checkpoint that the scripts go on from: three steps of training."""

import torch
from original import Network, make_optimizer, make_scheduler

torch.manual_seed(7)
model = Network()
optimizer = make_optimizer(model)
scheduler = make_scheduler(optimizer)
for _ in range(3):
    optimizer.zero_grad()
    model(torch.randn(16, 8)).square().mean().backward()
    optimizer.step()
    scheduler.step()
state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 4}
torch.save({**state, "scheduler": scheduler.state_dict()}, "start.pt")
