import torch
from library import pictures

batches = iter(pictures())
# hvdkit: TODO[HVD304] let each rank draw its own batches: add hvd.rank() to a seed that is set below every split of the data, or take every hvd.size()-th batch from the hvd.rank()-th on
for step in range(100):
    model(next(batches)).sum().backward()
    optimizer.step()
