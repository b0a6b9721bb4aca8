"""A script of Accelerate, as it stands after `accelerate launch` or torchrun."""

import os

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch.utils.data import DataLoader, TensorDataset

set_seed(0)
accelerator = Accelerator(cpu=True)
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
inputs = torch.arange(256.0).view(64, 4) / 256
data = TensorDataset(inputs, inputs.sum(1, keepdim=True))
model, optimizer, loader = accelerator.prepare(model, optimizer, DataLoader(data, batch_size=4, shuffle=True))
for epoch in range(3):
    for batch, targets in loader:
        loss = (model(batch) - targets).square().mean()
        optimizer.zero_grad()
        accelerator.backward(loss)
        optimizer.step()
    mean = accelerator.reduce(loss.detach(), "mean").item()
    accelerator.print(f"epoch {epoch} of {accelerator.num_processes} ranks: loss {mean:.8f}", flush=True)
accelerator.wait_for_everyone()
os._exit(0)  # as in fsdp.py
