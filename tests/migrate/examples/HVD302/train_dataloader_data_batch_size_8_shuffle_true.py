# Changed.
# Options: --target hvdkit

from torch.utils.data import DataLoader

def train(loader):
    for i, x in enumerate(loader):
        model(x).sum().backward()
        optimizer.step()

train(DataLoader(data, batch_size=8, shuffle=True))
