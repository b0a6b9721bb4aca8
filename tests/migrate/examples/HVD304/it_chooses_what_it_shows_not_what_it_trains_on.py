# Reported: it chooses what it shows, not what it trains on

import random
import torch

for step in range(100):
    loss(model(x), y).backward()
    optimizer.step()
    show(random.choice(pairs))
