# Reported: the loop has no epoch number to pass

from torch.utils.data import DataLoader

while True:
    for x in DataLoader(data, shuffle=True):
        model(x).sum().backward()
        optimizer.step()
