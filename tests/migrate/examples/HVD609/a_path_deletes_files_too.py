# Changed: A Path deletes files, too.

from pathlib import Path
import torch

def clear(folder):
    for p in Path(folder).glob("*_interrupt.pth"):
        p.unlink()

for batch in batches:
    model(batch).sum().backward()
    optimizer.step()
clear("weights")
