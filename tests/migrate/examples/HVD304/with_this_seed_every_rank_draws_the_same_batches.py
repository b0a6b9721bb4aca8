# Reported: with this seed every rank draws the same batches, or splits the data the same way

import random
import torch

random.seed(1)
for step in range(100):
    x, y = random.choice(pairs)
    loss(model(x), y).backward()
    optimizer.step()
