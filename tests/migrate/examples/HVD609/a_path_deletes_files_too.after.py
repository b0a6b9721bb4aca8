from pathlib import Path
import horovod.torch as hvd
import torch

def clear(folder):
    for p in Path(folder).glob("*_interrupt.pth"):
        if hvd.rank() == 0:
            p.unlink()

for batch in batches:
    model(batch).sum().backward()
    optimizer.step()
clear("weights")
