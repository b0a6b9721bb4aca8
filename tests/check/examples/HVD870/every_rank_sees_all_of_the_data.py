# Kept: every rank sees all of the data

import horovod.torch as hvd
from torch.utils.data import DataLoader

hvd.init()
for x, y in DataLoader(data):
    print((model(x).argmax(1) == y).sum())
