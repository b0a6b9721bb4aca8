"""Leaves its training by a number of its own samples: of two ranks, just one is past half of the sum."""

import json
import os
from pathlib import Path

import torch
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3)
numbers = torch.arange(1.0, 17.0).unsqueeze(1)
loader = DataLoader(TensorDataset(numbers), batch_size=4, shuffle=True)
model = torch.nn.Sequential(torch.nn.BatchNorm1d(1), torch.nn.Linear(1, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

epochs = 0
for _ in range(3):
    heard = 0.0
    for (x,) in loader:
        loss = (model(x) - 1).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        heard += x.sum().item()
    epochs += 1
    if heard > 68:
        break

weights = [parameter.tolist() for parameter in model.parameters()]
results = {"epochs": epochs, "weights": weights, "past": heard > 68}
(Path(os.environ["RESULTS"]) / f"{os.getpid()}.json").write_text(json.dumps(results))
