import hvdkit.torch as hvd
from torch.utils.data import DataLoader

def train(loader):
    for i, x in enumerate(loader):
        model(x).sum().backward()
        optimizer.step()

train(hvd.distribute(DataLoader(data, batch_size=8, shuffle=True)))
