import horovod.torch as hvd
import torch

for epoch in range(3):
    loss.backward()
    optimizer.step()
    if hvd.rank() == 0:
        print("-" * 10)
        # how it went
        print(epoch, loss.item())
