# Reported: how its own batch sampler is to be split only its author knows

from torch.utils.data import DataLoader

for x in DataLoader(data, batch_sampler=mine):
    model(x).backward()
    optimizer.step()
