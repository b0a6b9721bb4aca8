"""One process: the rate warms up by steps and then falls; an early end; a summary is written at the end."""

import json
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

WARM = 4


def correct_of(model, loader):
    model.eval()
    correct = 0
    with torch.no_grad():
        for x, y in loader:
            correct += (model(x).argmax(1) == y).sum().item()
    model.train()
    return correct


def main():
    torch.manual_seed(8)
    inputs = torch.randn(72, 7, generator=torch.Generator().manual_seed(4))
    targets = inputs[:, :2].argmax(1)
    train_loader = DataLoader(
        TensorDataset(inputs[:48], targets[:48]), batch_size=4, shuffle=True, drop_last=True
    )
    test_loader = DataLoader(TensorDataset(inputs[48:], targets[48:]), batch_size=8)
    model = nn.Sequential(nn.Linear(7, 10), nn.GELU(), nn.Linear(10, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True)
    scheduler = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1.0, (step + 1) / WARM) * 0.5 ** (step // 12)
    )
    best, worse, history = 0, 0, []
    for epoch in range(5):
        for x, y in train_loader:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y, label_smoothing=0.1)
            loss.backward()
            optimizer.step()
            scheduler.step()
        correct = correct_of(model, test_loader)
        history.append(correct)
        worse = 0 if correct > best else worse + 1
        best = max(best, correct)
        total = len(test_loader.dataset)
        print(f"epoch {epoch}: {correct} of {total} ({100 * correct / total:.2f} %)")
        if worse >= 2:
            break
    with Path("summary.json").open("w") as file:
        json.dump({"best": best, "history": history, "epochs": epoch + 1}, file)


main()
