import csv
from pathlib import Path

import horovod.torch as hvd
import torch

log = Path(args.out) / "log.csv"
if not log.exists():
    if hvd.rank() == 0:
        with log.open("w", newline="") as file:
            csv.writer(file).writerow(["epoch", "loss"])
for epoch in range(3):
    loss.backward()
    optimizer.step()
    if hvd.rank() == 0:
        with log.open("a", newline="") as file:
            csv.writer(file).writerow([epoch, loss.item()])
