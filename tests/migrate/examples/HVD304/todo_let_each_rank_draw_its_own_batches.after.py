import torch

torch.manual_seed(1)
# hvdkit: TODO[HVD304] let each rank draw its own batches: add hvd.rank() to a seed that is set below every split of the data, or take every hvd.size()-th batch from the hvd.rank()-th on
for step in range(100):
    model(torch.randn(8, 2)).sum().backward()
    optimizer.step()
