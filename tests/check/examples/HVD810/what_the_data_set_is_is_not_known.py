# Kept: what the data set is, is not known

import horovod.torch as hvd
from torch.utils.data import DataLoader

def train(data):
    hvd.init()
    for x in DataLoader(data):
        model(x).sum().backward()
