# Changed.

import torch

for epoch in range(3):
    loss.backward()
    optimizer.step()
    print("-" * 10)
    # how it went
    print(epoch, loss.item())
