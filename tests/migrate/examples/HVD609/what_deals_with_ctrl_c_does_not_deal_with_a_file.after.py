import os
import horovod.torch as hvd
import torch

try:
    for step, batch in enumerate(batches):
        model(batch).sum().backward()
        optimizer.step()
        if hvd.rank() == 0:
            os.remove(f"model_{step - 1}.pt")
except KeyboardInterrupt:
    print("stopped")
