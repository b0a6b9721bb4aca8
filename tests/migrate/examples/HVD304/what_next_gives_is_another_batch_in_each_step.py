# Changed: What next() gives is another batch in each step.

import torch
from library import pictures

batches = iter(pictures())
for step in range(100):
    model(next(batches)).sum().backward()
    optimizer.step()
