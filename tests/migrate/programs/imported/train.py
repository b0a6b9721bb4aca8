"""A script of one process whose loader and optimizer are there before its main guard."""

import json
import os
from pathlib import Path

import torch
from parts import loader, model, optimizer

results = Path(os.environ["RESULTS"])


def train():
    seen = []
    for epoch in range(2):
        for (x,) in loader:
            seen.append(x.flatten().tolist())
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(x), x).backward()
            optimizer.step()
        print(f"epoch {epoch}")
    (results / f"{os.getpid()}.json").write_text(json.dumps([seen, model.weight.tolist()]))


if __name__ == "__main__":
    train()
