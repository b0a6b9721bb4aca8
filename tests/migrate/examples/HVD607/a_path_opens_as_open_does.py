# Changed: A Path opens as open() does.
# Options: --suggested

import csv
from pathlib import Path

import torch

log = Path(args.out) / "log.csv"
if not log.exists():
    with log.open("w", newline="") as file:
        csv.writer(file).writerow(["epoch", "loss"])
for epoch in range(3):
    loss.backward()
    optimizer.step()
    with log.open("a", newline="") as file:
        csv.writer(file).writerow([epoch, loss.item()])
