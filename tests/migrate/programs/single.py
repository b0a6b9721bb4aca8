"""A script of one process: options by **, a generator, prints, a folder, a checkpoint that is read back."""

# Written as such scripts are:
# ruff: noqa: PTH103, PTH110, PTH118, UP028

import json
import os
from pathlib import Path

import torch
from torch.utils.data import DataLoader, TensorDataset

SAMPLES = 24


class Meter:
    def every(self, batches):
        for number, batch in enumerate(batches):
            yield number, batch


def train(model, optimizer, loader, epoch, seen):
    model.train()
    for number, (index, x) in Meter().every(loader):
        optimizer.zero_grad()
        loss = (model(x) ** 2).mean()
        loss.backward()
        optimizer.step()
        seen[epoch] += index.tolist()
        if number == 0:
            print("epoch", epoch)
            print("first loss is finite", bool(torch.isfinite(loss)))


def main():
    folder = os.environ["RESULTS"]
    if not os.path.exists(folder):
        os.makedirs(folder)
    options = {"batch_size": 4}
    options.update({"shuffle": True})
    torch.manual_seed(1)
    data = TensorDataset(torch.arange(SAMPLES), torch.randn(SAMPLES, 3))
    loader = DataLoader(data, **options)
    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=0)
    seen = {0: [], 1: []}
    for epoch in range(2):
        train(model, optimizer, loader, epoch, seen)
        schedule.step(sum(seen[epoch]) / 1)  # the same in every epoch, but for a rank's own share
    torch.save(model.state_dict(), os.path.join(folder, "model.pt"))
    weights = torch.load(os.path.join(folder, "model.pt"))
    rate = optimizer.param_groups[0]["lr"]
    results = {"seen": seen, "weights": weights["weight"].tolist(), "rate": rate}
    Path(folder, f"{os.getpid()}.json").write_text(json.dumps(results))


if __name__ == "__main__":
    main()
